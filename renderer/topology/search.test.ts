import { describe, expect, it } from "vitest";
import { syntheticCluster } from "../../e2e/support/synthetic-cluster.ts";
import { parseQuery, type Query } from "./query.ts";
import { rowsOf, sorted } from "./rows.ts";
import { find, matchesOf } from "./search.ts";

const { hosts } = syntheticCluster({ hosts: 24 });

function query(text: string): Query {
  const parsed = parseQuery(text);
  if (parsed === null) throw new Error("no query");
  return parsed;
}

describe("parseQuery", () => {
  it("reads words, fields and quotes; a foreign colon belongs to the word", () => {
    expect(parseQuery('NLP job:48211 tenant:"chip design" 00000000:18')).toEqual([
      { field: null, word: "nlp" },
      { field: "job", word: "48211" },
      { field: "tenant", word: "chip design" },
      { field: null, word: "00000000:18" },
    ]);
    expect(parseQuery("   ")).toBeNull();
  });
});

describe("matchesOf", () => {
  it("takes a host by its name as a whole", () => {
    const found = hosts.filter((host) => matchesOf(host, query("host:gpu-07")).any);
    expect(found.map(({ id }) => id)).toEqual(["gpu-07"]);
  });

  it("takes of a host what the words mean: every instance of the tenant, and no other", () => {
    for (const host of hosts) {
      const matches = matchesOf(host, query(`${host.name} tenant:nlp`));
      expect(matches.gpus.map((gpu) => gpu.instances)).toEqual(
        (host.inventory?.gpus ?? []).map((gpu) =>
          gpu.instances.map((instance) => instance.holder?.tenant === "nlp" || gpu.holder?.tenant === "nlp"),
        ),
      );
    }
  });
});

describe("find", () => {
  it("counts what a tenant holds, the closest name first", () => {
    const [first] = find(hosts, "nlp", 5);
    const held = hosts.flatMap((host) => host.inventory?.gpus ?? []).flatMap((gpu) => [gpu, ...gpu.instances]);
    expect(first).toMatchObject({
      kind: "tenant",
      text: "nlp",
      count: held.filter(({ holder }) => holder?.tenant === "nlp").length,
    });
  });

  it("finds a GPU by its UUID and nothing by nothing", () => {
    const uuid = hosts[3]?.inventory?.gpus[2]?.uuid ?? "";
    expect(find(hosts, uuid, 5)).toEqual([
      { kind: "gpu", text: uuid, hostId: "gpu-04", gpuUuid: uuid, gpuInstanceId: null, count: 1 },
    ]);
    expect(find(hosts, " ", 5)).toEqual([]);
  });
});

describe("rowsOf", () => {
  it("has a row for each instance and each undivided GPU", () => {
    const gpus = hosts.flatMap((host) => host.inventory?.gpus ?? []);
    const expected = gpus.reduce((sum, gpu) => sum + Math.max(1, gpu.instances.length), 0);
    expect(rowsOf(hosts, null)).toHaveLength(expected);
    const nlp = rowsOf(hosts, query("tenant:nlp"));
    expect(new Set(nlp.map(({ values }) => values.tenant))).toEqual(new Set(["nlp"]));
  });

  it("sorts as people count, with the unknown last both ways", () => {
    const rows = rowsOf(hosts, null);
    for (const ascending of [true, false]) {
      const uses = sorted(rows, { column: "use", ascending }).map(({ values }) => values.use);
      const known = uses.filter((use) => use !== null);
      expect(uses.slice(0, known.length)).toEqual(
        [...known].sort((a, b) => (ascending ? 1 : -1) * (Number(a) - Number(b))),
      );
    }
  });
});
