/**
 * How quickly tessera-host answers: from its start, against a Node that starts and ends (`node -e 0`), and over the
 * open channel, against a process that sends every byte back. Both pairs run alternately, so that what else the
 * machine does falls on both alike.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { protocolVersion } from "../../shared/protocol/contract.ts";
import type { Metric } from "./metric.ts";

const bundle = join(import.meta.dirname, "..", "..", "dist", "host-module", "tessera-host.cjs");
const startRounds = 41;
const requestRounds = 4_000;
const echo = "process.stdin.on('data', (chunk) => process.stdout.write(chunk))";

export async function run(): Promise<readonly Metric[]> {
  if (!existsSync(bundle)) throw new Error("dist/host-module is missing: run npm run build");
  return [...(await starts()), ...(await requests())];
}

function hello(id: number): string {
  const input = { protocolVersion, client: "bench" };
  const body = JSON.stringify({ jsonrpc: "2.0", id, method: "hello", params: { input } });
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

async function starts(): Promise<readonly Metric[]> {
  const bare: number[] = [];
  const answered: number[] = [];
  for (let round = 0; round < startRounds; round += 1) {
    bare.push(await untilExit(spawn(process.execPath, ["-e", "0"])));
    answered.push(await untilHello(spawn(process.execPath, [bundle, "serve"])));
  }
  const ratio = median(answered) / median(bare);
  return [
    { metric: "node -e 0, start to end, median", value: median(bare), unit: "ms", target: "", ok: true },
    { metric: "serve, start to first answer, median", value: median(answered), unit: "ms", target: "", ok: true },
    { metric: "start to first answer", value: ratio, unit: "x node -e 0", target: "at most 1.5 x", ok: ratio <= 1.5 },
  ];
}

function untilExit(child: ChildProcessWithoutNullStreams): Promise<number> {
  const begun = performance.now();
  return new Promise((resolve) => child.on("exit", () => resolve(performance.now() - begun)));
}

async function untilHello(child: ChildProcessWithoutNullStreams): Promise<number> {
  const begun = performance.now();
  child.stdin.write(hello(1));
  const elapsed = await new Promise<number>((resolve) => {
    child.stdout.once("data", () => resolve(performance.now() - begun));
  });
  child.stdin.end();
  await new Promise((resolve) => child.on("exit", resolve));
  return elapsed;
}

async function requests(): Promise<readonly Metric[]> {
  const server = spawn(process.execPath, [bundle, "serve"]);
  const mirror = spawn(process.execPath, ["-e", echo]);
  const served = answersOf(server);
  const echoed = answersOf(mirror);
  const serverMs: number[] = [];
  const mirrorMs: number[] = [];
  const warmUp = 500;
  for (let round = 0; round < warmUp + requestRounds; round += 1) {
    const there = await roundTrip(mirror, hello(round), echoed);
    const answer = await roundTrip(server, hello(round), served);
    if (round < warmUp) continue;
    mirrorMs.push(there);
    serverMs.push(answer);
  }
  server.stdin.end();
  mirror.stdin.end();
  const ratio = median(serverMs) / median(mirrorMs);
  return [
    { metric: "bare echo, p50", value: median(mirrorMs) * 1_000, unit: "us", target: "", ok: true },
    { metric: "request over the warm channel, p50", value: median(serverMs) * 1_000, unit: "us", target: "", ok: true },
    { metric: "request over the warm channel", value: ratio, unit: "x echo", target: "at most 2 x", ok: ratio <= 2 },
  ];
}

/** Resolves at each whole message that comes back. */
function answersOf(child: ChildProcessWithoutNullStreams): () => Promise<void> {
  let received: Buffer = Buffer.alloc(0);
  let waiting: (() => void) | null = null;
  child.stdout.on("data", (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const head = received.indexOf("\r\n\r\n");
    if (head < 0) return;
    const length = Number(/Content-Length: (\d+)/i.exec(received.subarray(0, head).toString("latin1"))?.[1]);
    if (received.length < head + 4 + length) return;
    received = received.subarray(head + 4 + length);
    waiting?.();
  });
  return () =>
    new Promise((resolve) => {
      waiting = resolve;
    });
}

async function roundTrip(
  child: ChildProcessWithoutNullStreams,
  message: string,
  answer: () => Promise<void>,
): Promise<number> {
  const begun = performance.now();
  const came = answer();
  child.stdin.write(message);
  await came;
  return performance.now() - begun;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
