import { PassThrough } from "node:stream";
import { describe, expect, test, vi } from "vitest";
import {
  CancellationTokenSource,
  createMessageConnection,
  ProgressType,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";
import packageJson from "../../../../package.json" with { type: "json" };
import { protocolVersion } from "../../../../shared/protocol/contract.ts";
import { failureCode } from "../../../../shared/protocol/wire.ts";
import { capturedSystem } from "../inventory/captured-system.ts";
import type { System } from "../system.ts";
import { version } from "../version.ts";
import { serveHost } from "./index.ts";

/** The server, with the library's own client on the other end: what is ours must speak as it does. */
function served(system: System = capturedSystem({ hostName: "gpu1" })) {
  const up = new PassThrough();
  const down = new PassThrough();
  const ended = serveHost(system, up, down);
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
    expect(answer).toMatchObject({ protocolVersion, version, hostName: "gpu1" });
    up.end();
    await ended;
    client.dispose();
  });

  test("refuses another protocol, an unknown request and a wrong input with AppErrorData", async () => {
    const { client, up, ended } = served();
    const failures = await Promise.all([
      failureOf(client.sendRequest("hello", { input: { protocolVersion: 99, client: "test" } })),
      failureOf(client.sendRequest("hello", { input: { protocolVersion: "1" } })),
      failureOf(client.sendRequest("constructor", { input: {} })),
      failureOf(client.sendRequest("mig.apply", { input: { gpus: [] } })),
      failureOf(client.sendRequest("mig.plan", [1])),
    ]);
    expect(failures).toEqual([
      { code: failureCode, data: expect.objectContaining({ code: "version-mismatch" }) },
      { code: failureCode, data: expect.objectContaining({ code: "bad-request" }) },
      { code: failureCode, data: expect.objectContaining({ code: "bad-request" }) },
      { code: failureCode, data: expect.objectContaining({ code: "bad-request" }) },
      { code: failureCode, data: expect.objectContaining({ code: "bad-request" }) },
    ]);
    up.end();
    await ended;
    client.dispose();
  });

  test("carries a driver that is missing to the caller as it is", async () => {
    const { client, up, ended } = served();
    expect(await failureOf(client.sendRequest("inventory", { input: {} }))).toEqual({
      code: failureCode,
      data: expect.objectContaining({ code: "driver-missing" }),
    });
    up.end();
    await ended;
    client.dispose();
  });

  test("pushes progress under the caller's token, and ends the task when it is cancelled", async () => {
    const { client, up, ended } = served(
      capturedSystem({ runs: { "nvidia-smi -q -x": { stdout: oneGpu, exitStatus: 0 } } }),
    );
    const pushed = new Promise((resolve) => client.onProgress(new ProgressType<unknown>(), 7, resolve));
    const source = new CancellationTokenSource();
    const call = { input: { intervalMs: 600_000 }, progressToken: 7 };
    const answer = client.sendRequest("watch", call, source.token);
    expect(await pushed).toMatchObject({ revision: 0, changes: [{ path: [] }] });
    source.cancel();
    expect(await answer).toBeNull();
    up.end();
    await ended;
    client.dispose();
  });

  test("answers what is no JSON with an error, and ends at what is no message", async () => {
    const up = new PassThrough();
    const down = new PassThrough();
    const text: string[] = [];
    down.on("data", (chunk: Buffer) => text.push(chunk.toString()));
    const ended = serveHost(capturedSystem(), up, down);
    up.write("Content-Length: 3\r\n\r\n{[}");
    await vi.waitFor(() => expect(text.join("")).toContain("-32700"));
    up.write("GET / HTTP/1.1\r\n\r\n");
    await ended;
  });

  test("is the version that package.json names", () => {
    expect(version).toBe(packageJson.version);
  });
});

const oneGpu = `<?xml version="1.0" ?>
<nvidia_smi_log>
<driver_version>550.163.01</driver_version>
<attached_gpus>1</attached_gpus>
<gpu id="00000000:1A:00.0">
<product_name>NVIDIA T4</product_name>
<uuid>GPU-00000000-0000-0000-0000-000000000001</uuid>
<minor_number>0</minor_number>
<processes></processes>
</gpu>
</nvidia_smi_log>
`;
