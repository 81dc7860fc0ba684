import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AppError } from "../../../shared/errors.ts";
import { expandHostList, hostNameOf } from "./destination.ts";
import { parseClusterFile } from "./parse-file.ts";

describe("hosts one a line", () => {
  test("with comments, host lists, racks and every line ending", () => {
    const content = "\uFEFF# lab\r\ngpu[08-10] rack1 # three\nroot@x:2222,rack 2\r\n\n[fe80::1]:22\nplain\nplain\n";
    expect(() => parseClusterFile("lab.txt", content)).toThrow(expect.objectContaining({ code: "bad-request" }));
    expect(parseClusterFile("/tmp/lab.txt", content.replace("rack 2", "rack2"))).toEqual({
      name: "lab",
      hosts: ["gpu08", "gpu09", "gpu10", "root@x:2222", "[fe80::1]:22", "plain"],
      racks: { kind: "map", racks: { gpu08: "rack1", gpu09: "rack1", gpu10: "rack1", "root@x:2222": "rack2" } },
    });
  });

  test.each([
    ["", "names no host"],
    ["# only\n\n", "names no host"],
    ["ok\n-oProxyCommand=evil", "line 2"],
    ["a b c", "line 1"],
  ])("%j says what is wrong", (content, words) => {
    expect(() => parseClusterFile("f", content)).toThrow(words);
  });
});

describe("a JSON cluster file", () => {
  const draft = { name: "lab", hosts: ["a"], racks: { kind: "none" }, refreshSeconds: 10 };
  test("is what clusters.get answers", () => {
    expect(parseClusterFile("lab.json", JSON.stringify(draft))).toEqual(draft);
  });
  test.each([
    ["{", "is not valid JSON"],
    ['{"name":"x"}', "hosts"],
    [JSON.stringify({ ...draft, hosts: ["a", 5] }), "hosts.1"],
  ])("%j says the field", (content, words) => {
    expect(() => parseClusterFile("lab.json", content)).toThrow(words);
  });
});

test("whatever a file holds, the answer is a cluster or a sentence", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.json(),
        fc.string().map((s) => `{${s}`),
      ),
      (content) => {
        try {
          expect(parseClusterFile("f", content).hosts.length).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
          expect(error).toHaveProperty("code", "bad-request");
        }
      },
    ),
  );
});

test.each([
  ["gpu[1-3]", ["gpu1", "gpu2", "gpu3"]],
  ["gpu[01,03-04]-ib", ["gpu01-ib", "gpu03-ib", "gpu04-ib"]],
  ["root@gpu[1-2]:22", ["root@gpu1:22", "root@gpu2:22"]],
  ["[fe80::1]:22", ["[fe80::1]:22"]],
  ["[::1]", ["[::1]"]],
  ["gpu[3-1]", ["gpu[3-1]"]],
  ["gpu[1-999999]", ["gpu[1-999999]"]],
])("%s expands", (word, hosts) => {
  expect(expandHostList(word)).toEqual(hosts);
});

test.each([
  ["gpu01", "gpu01"],
  ["root@gpu01:2222", "gpu01"],
  ["a@b@gpu01", "gpu01"],
  ["[fe80::1]:22", "fe80::1"],
  ["fe80::1", "fe80::1"],
])("%s is known as %s", (written, name) => {
  expect(hostNameOf(written)).toBe(name);
});
