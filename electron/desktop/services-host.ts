/**
 * The services' process, seen from main: started, given pages, started again when it falls. A fault in SSH or in a
 * parser ends that process, never the window.
 */
import { MessageChannelMain, type SafeStorage, type UtilityProcess, utilityProcess, type WebFrameMain } from "electron";
import { portChannel } from "./channels.ts";
import type { ServicesStart, ToMain, ToServices } from "./messages.ts";

const restartDelayMs = 1_000;
const stopWithinMs = 5_000;

export class ServicesHost {
  readonly #file: string;
  readonly #start: ServicesStart;
  readonly #safeStorage: SafeStorage;
  readonly #pages = new Set<WebFrameMain>();
  #process: UtilityProcess | null = null;
  #stopping = false;

  constructor(file: string, start: ServicesStart, safeStorage: SafeStorage) {
    this.#file = file;
    this.#start = start;
    this.#safeStorage = safeStorage;
  }

  run(): void {
    const services = utilityProcess.fork(this.#file, [], { serviceName: "Tessera services", stdio: "inherit" });
    this.#process = services;
    services.on("message", (message: ToMain) => void this.#answer(services, message));
    services.once("exit", () => {
      if (this.#process === services) this.#process = null;
      if (!this.#stopping) setTimeout(() => this.run(), restartDelayMs);
    });
    services.postMessage({ kind: "start", start: this.#start } satisfies ToServices);
    for (const page of this.#pages) this.#handOver(page);
  }

  /** Gives the page a port to the services, now and after each of their restarts. */
  connectPage(frame: WebFrameMain): void {
    // A frame that was reloaded or closed is a dead object; it would throw at the next restart.
    for (const page of this.#pages) if (page.isDestroyed()) this.#pages.delete(page);
    this.#pages.add(frame);
    this.#handOver(frame);
  }

  /** Lets the services end connections and keep what is to be kept. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const services = this.#process;
    if (services === null) return;
    const exited = new Promise<void>((resolve) => services.once("exit", () => resolve()));
    services.postMessage({ kind: "stop" } satisfies ToServices);
    const late = setTimeout(() => services.kill(), stopWithinMs);
    await exited;
    clearTimeout(late);
  }

  #handOver(frame: WebFrameMain): void {
    if (this.#process === null || frame.isDestroyed()) return;
    const { port1, port2 } = new MessageChannelMain();
    this.#process.postMessage({ kind: "page" } satisfies ToServices, [port1]);
    frame.postMessage(portChannel, null, [port2]);
  }

  async #answer(services: UtilityProcess, message: ToMain): Promise<void> {
    if (message.kind !== "seal") return;
    const value = await this.#seal(message.way, message.text).catch(() => null);
    services.postMessage({ kind: "seal-answer", id: message.id, value } satisfies ToServices);
  }

  async #seal(way: "seal" | "unseal", text: string): Promise<string> {
    if (way === "seal") return (await this.#safeStorage.encryptStringAsync(text)).toString("base64");
    return (await this.#safeStorage.decryptStringAsync(Buffer.from(text, "base64"))).result;
  }
}
