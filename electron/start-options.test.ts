import { describe, expect, test } from "vitest";
import { ownStartArguments, parseStartOptions } from "./start-options.ts";

const defaults = { demo: true, demoAs: null, cluster: null, port: 0, dataDirectory: null, help: false };

test.each([
  [[], {}],
  [["--web"], {}],
  [["--port", "4600"], { port: 4600 }],
  [["--port=0"], { port: 0 }],
  [["--no-demo", "--cluster", "lab"], { demo: false, cluster: "lab" }],
  [["--data-directory", "/data"], { dataDirectory: "/data" }],
  [["-h"], { help: true }],
])("%j", (argv, options) => {
  expect(parseStartOptions(argv)).toEqual({ ...defaults, ...options });
});

describe("wrong usage says what is wrong", () => {
  test.each([
    [["--port", "x"], "'x' is not a port number."],
    [["--port", "65536"], "'65536' is not a port number."],
    [["--port", "-1"], "--port"],
    [["--port"], "--port"],
    [["--host", "0.0.0.0"], "--host"],
    [["lab"], "lab"],
  ])("%j", (argv, words) => {
    expect(() => parseStartOptions(argv)).toThrow(words);
    expect(() => parseStartOptions(argv)).toThrow(expect.objectContaining({ code: "bad-request" }));
  });
});

test("a desktop program finds its own options among those of others", () => {
  const argv = [
    "--inspect=0",
    "--remote-debugging-port=0",
    "/app",
    "--no-demo",
    "--cluster",
    "--lab",
    "-psn_0_1",
    "--port=1",
  ];
  expect(ownStartArguments(argv)).toEqual(["--no-demo", "--cluster", "--lab", "--port=1"]);
  expect(ownStartArguments(["--cluster"])).toEqual(["--cluster"]);
});
