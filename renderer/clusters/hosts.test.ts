import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseHosts, writeHosts } from "./hosts.ts";
import { bareHost, parseRackFile, previewRacks } from "./racks.ts";

function hostsOf(text: string): readonly string[] | string {
  const list = parseHosts(text);
  return list.ok ? list.hosts : list.problem;
}

describe("typed hosts", () => {
  test.each([
    ["gpu[01-03]", ["gpu01", "gpu02", "gpu03"]],
    ["gpu[8-10,12].lab:2222", ["gpu8.lab:2222", "gpu9.lab:2222", "gpu10.lab:2222", "gpu12.lab:2222"]],
    ["r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]],
    ["a, b\nc;d # the rest is words", ["a", "b", "c", "d"]],
    ["ops@[2001:db8::7]:2222", ["ops@[2001:db8::7]:2222"]],
    ["a a gpu[1-2] gpu2", ["a", "gpu1", "gpu2"]],
    ["", []],
    ["gpu[01-", "unclosed"],
    ["gpu[9-1]", "range"],
    ["gpu[x]", "range"],
    ["gpu[1-99999]", "too-many"],
    ["-oProxyCommand=x", "characters"],
    ["gpu|rm", "characters"],
    ["2001:db8::7", ["2001:db8::7"]],
    ["gpu1:0", "port"],
    ["gpu1:99999", "port"],
    ["ops@[2001:db8::7]:ssh", "port"],
    ["gpu1:", "port"],
    ["ops:secret@gpu1", "password"],
    ["ops@", "nameless"],
    ["g".repeat(10_000), "too-long"],
  ])("%j", (text, expected) => {
    expect(hostsOf(text)).toEqual(expected);
  });

  test("read the same after being written the short way", () => {
    const host = fc.oneof(
      fc
        .tuple(fc.constantFrom("gpu", "node-", "r1n"), fc.nat(30), fc.constantFrom("", ".lab"))
        .map((parts) => parts.join("")),
      fc.tuple(fc.constantFrom("gpu"), fc.nat(20)).map(([head, n]) => `${head}${String(n).padStart(2, "0")}`),
      fc.constantFrom("ops@bastion:2222", "[2001:db8::7]:22", "login"),
    );
    fc.assert(
      fc.property(fc.uniqueArray(host), (hosts) => {
        expect(hostsOf(writeHosts(hosts))).toEqual(hosts);
      }),
    );
  });

  test("are written as ranges", () => {
    expect(writeHosts(["gpu01", "gpu02", "gpu03", "login", "gpu09", "gpu10"])).toBe("gpu[01-03]\nlogin\ngpu[09-10]");
  });
});

describe("racks", () => {
  test("come from the first group of the pattern, over the bare name", () => {
    expect(previewRacks({ kind: "pattern", pattern: "^(r\\d+)" }, ["ops@r1n1:22", "r1n2", "r2n1", "login"])).toEqual({
      ok: true,
      racks: [
        { name: "r1", hosts: ["ops@r1n1:22", "r1n2"] },
        { name: "r2", hosts: ["r2n1"] },
      ],
      withoutRack: ["login"],
    });
  });

  test("say what is wrong with a pattern", () => {
    expect(previewRacks({ kind: "pattern", pattern: "(" }, ["a"])).toMatchObject({ ok: false });
  });

  test("are read from a file", () => {
    const expand = (text: string) => {
      const list = parseHosts(text);
      return list.ok ? list.hosts : null;
    };
    expect(parseRackFile("gpu[01-02] A1\n\n# spare\ngpu03,A2\n", expand)).toEqual({
      ok: true,
      racks: { gpu01: "A1", gpu02: "A1", gpu03: "A2" },
    });
    expect(parseRackFile("gpu01 A1\ngpu02\n", expand)).toEqual({ ok: false, line: 2 });
  });

  test.each([
    ["ops@gpu1:22", "gpu1"],
    ["[2001:db8::7]:22", "2001:db8::7"],
    ["gpu1", "gpu1"],
  ])("use the bare name of %s", (host, bare) => {
    expect(bareHost(host)).toBe(bare);
  });
});
