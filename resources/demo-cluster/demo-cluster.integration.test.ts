import { once } from "node:events";
import ssh2, { type Client, type ClientChannel } from "ssh2";
import { afterEach, describe, expect, it } from "vitest";
import {
  createMessageConnection,
  type MessageConnection,
  ProgressType,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";
import { type MigStatus, protocolVersion } from "../../shared/protocol/contract.ts";
import { newKeyPair } from "./cluster/keys.ts";
import { type DemoCluster, type DemoHost, startDemoCluster } from "./index.ts";

let cluster: DemoCluster | null = null;
const clients = new Set<Client>();

afterEach(async () => {
  for (const client of clients) client.destroy();
  clients.clear();
  await cluster?.close();
  cluster = null;
});

async function start(hostCount: number, durationScale = 0): Promise<DemoCluster> {
  cluster = await startDemoCluster({ hostCount, live: false, durationScale });
  return cluster;
}

function first(demo: DemoCluster): DemoHost {
  const [host] = demo.hosts;
  if (host === undefined) throw new Error("a cluster without hosts");
  return host;
}

function connect(demo: DemoCluster, host: DemoHost, privateKey = demo.privateKey): Promise<Client> {
  const client = new ssh2.Client();
  clients.add(client);
  return new Promise((resolve, reject) => {
    client.on("ready", () => resolve(client));
    client.on("error", reject);
    client.on("close", () => reject(new Error("closed")));
    client.connect({
      host: host.address,
      port: host.port,
      username: host.user,
      privateKey,
      readyTimeout: 5_000,
      hostVerifier: (key: Buffer) => host.hostKey.split(" ")[1] === key.toString("base64"),
    });
  });
}

function exec(client: Client, command: string): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => (error === undefined ? resolve(channel) : reject(error)));
  });
}

async function output(client: Client, command: string): Promise<{ stdout: string; exitStatus: number }> {
  const channel = await exec(client, command);
  let stdout = "";
  channel.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  channel.stderr.resume();
  const [exitStatus] = await once(channel, "close");
  return { stdout, exitStatus };
}

async function serve(client: Client): Promise<MessageConnection> {
  const channel = await exec(client, "/opt/tessera/current/tessera-host serve");
  const connection = createMessageConnection(new StreamMessageReader(channel), new StreamMessageWriter(channel));
  connection.onError(() => undefined);
  connection.listen();
  return connection;
}

async function hello(client: Client): Promise<unknown> {
  const connection = await serve(client);
  const answer = await connection.sendRequest("hello", { input: { protocolVersion, client: "test" } });
  connection.dispose();
  return answer;
}

describe("the demo cluster", () => {
  it("answers on every host with the host's own key and name", async () => {
    const demo = await start(24);
    const names = await Promise.all(
      demo.hosts.map(async (host) => (await output(await connect(demo, host), "hostname")).stdout.trim()),
    );
    expect(names).toEqual(demo.hosts.map((host) => host.name));
    expect(new Set(demo.hosts.map((host) => host.hostKey)).size).toBe(24);
  });

  it("lets in the key of its own start and no other", async () => {
    const demo = await start(1);
    const other = newKeyPair();
    await expect(connect(demo, first(demo), other.privateKey)).rejects.toThrow(/authentication/i);
  });

  it("has no shell", async () => {
    const demo = await start(1);
    const client = await connect(demo, first(demo));
    expect(await output(client, "cat /etc/passwd")).toEqual({ stdout: "", exitStatus: 127 });
    expect((await output(client, "uname -m")).stdout).toBe("x86_64\n");
  });

  it("serves the host module", async () => {
    const demo = await start(1);
    const client = await connect(demo, first(demo));
    expect(await hello(client)).toMatchObject({ hostName: "gpu-01", root: true, caller: { user: "ops" } });
  });

  it("can be cut, refused and reached again", async () => {
    const demo = await start(1);
    const host = first(demo);
    const client = await connect(demo, host);
    const control = demo.control(host.name);
    const closed = once(client, "close");
    control.reachable(false);
    await closed;
    await expect(connect(demo, host)).rejects.toThrow();
    control.reachable(true);
    expect(await hello(await connect(demo, host))).toMatchObject({ hostName: "gpu-01" });
  });

  it("goes silent while it hangs, and comes back", async () => {
    const demo = await start(1);
    const host = first(demo);
    const client = await connect(demo, host);
    const control = demo.control(host.name);
    control.hang(true);
    const answer = output(client, "hostname");
    const silence = new Promise((resolve) => setTimeout(() => resolve("silence"), 150));
    expect(await Promise.race([answer, silence])).toBe("silence");
    control.hang(false);
    expect((await answer).stdout).toBe("gpu-01\n");
  });

  it("loses its layouts at a reboot and gets a new boot id", async () => {
    const demo = await start(1);
    const host = first(demo);
    const { machine, reboot } = demo.control(host.name);
    const before = machine.state.bootId;
    expect(machine.state.gpus.some((gpu) => gpu.instances.length > 0)).toBe(true);
    await reboot(0);
    expect(machine.state.bootId).not.toBe(before);
    expect(machine.state.gpus.every((gpu) => gpu.instances.length === 0)).toBe(true);
  });

  it("keeps the journal of a tessera-host that was killed in mid-change, for the next one to finish", async () => {
    const demo = await start(7, 1);
    const host = demo.hosts[6];
    if (host === undefined) throw new Error("no gpu-07");
    const control = demo.control(host.name);
    const gpu = control.machine.gpu(3);
    const input = {
      gpus: [
        {
          gpuUuid: gpu.uuid,
          layout: {
            migEnabled: true,
            instances: [
              { profileId: 19, start: 0 },
              { profileId: 14, start: 2 },
              { profileId: 9, start: 4 },
            ],
          },
        },
      ],
    };
    const first = await serve(await connect(demo, host));
    const begun = new Promise((resolve) => first.onProgress(new ProgressType(), 1, resolve));
    first.sendRequest("mig.apply", { input, progressToken: 1 }).catch(() => undefined);
    await begun;
    control.kill();

    const second = await serve(await connect(demo, host));
    const status = await second.sendRequest<MigStatus>("mig.status", { input: {} });
    expect(status.open).toMatchObject({ state: "open", kind: "apply" });
    const operationId = status.open?.id;
    const result = await second.sendRequest("mig.recover", { input: { operationId, way: "finish" } });
    expect(result).toMatchObject({ outcome: "applied" });
    expect(gpu.instances.map(({ profileId, start }) => [profileId, start])).toEqual([
      [19, 0],
      [14, 2],
      [9, 4],
    ]);
    second.dispose();
  });
});
