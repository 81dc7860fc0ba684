import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { createMessageConnection, ResponseError, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";
import packageJson from "../../../../package.json" with { type: "json" };
import { protocolVersion } from "../../../../shared/protocol/contract.ts";
import { failureCode } from "../../../../shared/protocol/wire.ts";
import { realSystem } from "../operating-system/index.ts";
import { version } from "../version.ts";
import { serveHost } from "./index.ts";

function served() {
  const up = new PassThrough();
  const down = new PassThrough();
  const ended = serveHost(realSystem(), up, down);
  const client = createMessageConnection(new StreamMessageReader(down), new StreamMessageWriter(up));
  client.listen();
  return { up, ended, client };
}

async function failureOf(answer: Promise<unknown>): Promise<unknown> {
  try {
    return { answered: await answer };
  } catch (error) {
    return error instanceof ResponseError ? { code: error.code, data: error.data } : error;
  }
}

describe("serve", () => {
  test("says hello", async () => {
    const { client, up, ended } = served();
    const answer = await client.sendRequest("hello", { input: { protocolVersion, client: "test" } });
    expect(answer).toMatchObject({ protocolVersion, version, caller: { uid: process.getuid?.() } });
    up.end();
    await ended;
    client.dispose();
  });

  test("refuses another protocol, an unknown request and a wrong input with AppErrorData", async () => {
    const { client, up, ended } = served();
    const failures = await Promise.all([
      failureOf(client.sendRequest("hello", { input: { protocolVersion: 99, client: "test" } })),
      failureOf(client.sendRequest("constructor", { input: {} })),
      failureOf(client.sendRequest("mig.apply", { input: { gpus: [] } })),
      failureOf(client.sendRequest("mig.plan", [1])),
    ]);
    expect(failures).toEqual([
      { code: failureCode, data: expect.objectContaining({ code: "version-mismatch" }) },
      { code: failureCode, data: expect.objectContaining({ code: "bad-request" }) },
      { code: failureCode, data: expect.objectContaining({ code: "bad-request" }) },
      { code: failureCode, data: expect.objectContaining({ code: "bad-request" }) },
    ]);
    up.end();
    await ended;
    client.dispose();
  });

  test("is the version that package.json names", () => {
    expect(version).toBe(packageJson.version);
  });
});
