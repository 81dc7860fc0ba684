/** The services in a process of their own (Electron's utility process). */
import type { MessagePortMain } from "electron";
import { toErrorData } from "../shared/errors.ts";
import type { ServicesStart, ToMain, ToServices } from "./desktop/messages.ts";
import { type ServerPort, serveApi } from "./services/api/serve.ts";
import { type Services, startServices } from "./services/main.ts";
import type { SecretSeal } from "./services/secrets/secrets.ts";

let services: Services | null = null;
let nextSealId = 0;
const sealing = new Map<number, (value: string | null) => void>();

process.parentPort.on("message", ({ data, ports }: { data: ToServices; ports: MessagePortMain[] }) => {
  switch (data.kind) {
    case "start":
      services ??= start(data.start);
      break;
    case "page": {
      const [port] = ports;
      if (services !== null && port !== undefined) serveApi(services.handlers, serverPort(port));
      break;
    }
    case "seal-answer":
      sealing.get(data.id)?.(data.value);
      sealing.delete(data.id);
      break;
    case "stop":
      void stop();
  }
});

function start(given: ServicesStart): Services {
  const started = startServices({
    version: given.version,
    desktop: true,
    demo: given.demo,
    ...(given.demoAs === null ? {} : { demoOptions: { caller: given.demoAs } }),
    seal: given.seal === null ? null : sealThroughMain(given.seal),
    ...(given.dataDirectory === null ? {} : { dataDirectory: given.dataDirectory }),
    ...(given.resourcesDirectory === null ? {} : { resourcesDirectory: given.resourcesDirectory }),
  });
  const wanted = given.cluster ?? (given.demo ? "demo" : null);
  try {
    if (wanted !== null) started.clusters.named(wanted).connect();
  } catch (error) {
    started.trouble.add({ level: "error", what: `Opening the cluster ${wanted}`, error: toErrorData(error) });
  }
  return started;
}

async function stop(): Promise<void> {
  await services?.close().catch(() => undefined);
  process.exit(0);
}

/** safeStorage lives in main only. */
function sealThroughMain(known: { readonly backend: string; readonly available: boolean }): SecretSeal {
  const ask = (way: "seal" | "unseal", text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const id = nextSealId++;
      sealing.set(id, (value) => (value === null ? reject(new Error("the keyring refused")) : resolve(value)));
      process.parentPort.postMessage({ kind: "seal", id, way, text } satisfies ToMain);
    });
  return { ...known, seal: (text) => ask("seal", text), unseal: (text) => ask("unseal", text) };
}

/** Messages are cloned, never transferred: MessagePortMain drops one that carries a transferred ArrayBuffer. */
function serverPort(port: MessagePortMain): ServerPort {
  let open = true;
  port.on("close", () => {
    open = false;
  });
  return {
    post: (message) => {
      if (open) port.postMessage(message);
    },
    onMessage: (listener) => {
      port.on("message", (event) => listener(event.data));
      port.start();
    },
    onClose: (listener) => port.on("close", listener),
  };
}
