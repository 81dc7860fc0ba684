import { beforeAll, describe, expect, test, vi } from "vitest";

type Listener = (...parameters: never[]) => unknown;

const fake = vi.hoisted(() => {
  const calls: string[] = [];
  const appListeners = new Map<string, Listener>();
  const ipcListeners = new Map<string, Listener>();
  const schemes: unknown[] = [];
  const handlers = new Map<string, (request: { url: string; method: string }) => Promise<Response>>();
  const windows: { options: unknown; url: string | null }[] = [];
  const services = {
    posted: [] as { message: unknown; ports: number }[],
    listeners: new Map<string, Listener>(),
    forks: 0,
  };
  return { calls, appListeners, ipcListeners, schemes, handlers, windows, services };
});

vi.mock("electron", () => {
  class BrowserWindow {
    static getAllWindows = () => [];
    readonly #entry: { options: unknown; url: string | null };
    constructor(options: unknown) {
      this.#entry = { options, url: null };
      fake.windows.push(this.#entry);
    }
    readonly webContents = { on: () => undefined };
    once() {}
    show() {}
    loadURL(url: string) {
      this.#entry.url = url;
      return Promise.resolve();
    }
  }
  return {
    BrowserWindow,
    app: {
      isPackaged: true,
      enableSandbox: () => fake.calls.push("enableSandbox"),
      requestSingleInstanceLock: () => {
        fake.calls.push("requestSingleInstanceLock");
        return true;
      },
      whenReady: () => {
        fake.calls.push("whenReady");
        return Promise.resolve();
      },
      on: (event: string, listener: Listener) => fake.appListeners.set(event, listener),
      quit: () => fake.calls.push("quit"),
      exit: () => fake.calls.push("exit"),
    },
    ipcMain: { on: (channel: string, listener: Listener) => fake.ipcListeners.set(channel, listener) },
    Menu: { setApplicationMenu: () => undefined, buildFromTemplate: () => undefined },
    MessageChannelMain: class {
      port1 = "services' port";
      port2 = "page's port";
    },
    protocol: {
      registerSchemesAsPrivileged: (schemes: unknown[]) => {
        fake.calls.push("registerSchemes");
        fake.schemes.push(...schemes);
      },
      handle: (scheme: string, handler: (request: { url: string; method: string }) => Promise<Response>) =>
        fake.handlers.set(scheme, handler),
    },
    safeStorage: {
      isAsyncEncryptionAvailable: () => Promise.resolve(true),
      getSelectedStorageBackend: () => "basic_text",
      encryptStringAsync: (text: string) => Promise.resolve(Buffer.from(`sealed ${text}`)),
    },
    session: {
      defaultSession: {
        setPermissionRequestHandler: () => fake.calls.push("fenceSession"),
        setPermissionCheckHandler: () => undefined,
        setDevicePermissionHandler: () => undefined,
        setDisplayMediaRequestHandler: () => undefined,
        webRequest: { onBeforeRequest: () => undefined },
      },
    },
    utilityProcess: {
      fork: () => {
        fake.services.forks += 1;
        return {
          on: (event: string, listener: Listener) => fake.services.listeners.set(event, listener),
          once: (event: string, listener: Listener) => fake.services.listeners.set(event, listener),
          postMessage: (message: unknown, ports: unknown[] = []) =>
            fake.services.posted.push({ message, ports: ports.length }),
          kill: () => undefined,
        };
      },
    },
  };
});

beforeAll(async () => {
  process.argv = ["/app/tessera", "--no-demo"];
  await import("./main.ts");
  await vi.waitFor(() => expect(fake.windows).toHaveLength(1));
});

test("the sandbox and the scheme come before anything is ready, the fences before the window", () => {
  expect(fake.calls).toEqual([
    "enableSandbox",
    "registerSchemes",
    "requestSingleInstanceLock",
    "whenReady",
    "fenceSession",
  ]);
  expect(fake.appListeners.has("web-contents-created")).toBe(true);
  expect(fake.windows[0]?.url).toBe("app://tessera/");
});

test("the services are told what they were started with, and which keyring there is", () => {
  expect(fake.services.posted[0]?.message).toMatchObject({
    kind: "start",
    start: { demo: false, dataDirectory: null, cluster: null, seal: { available: true } },
  });
});

describe("app://", () => {
  const get = async (url: string, method = "GET") => {
    const answer = await fake.handlers.get("app")?.({ url, method });
    return { status: answer?.status, policy: answer?.headers.get("content-security-policy") ?? "" };
  };

  test("answers under our own host only, with the policy on every answer, and lets the page reach no network", async () => {
    expect((await get("app://other/")).status).toBe(404);
    expect((await get("app://tessera/", "POST")).status).toBe(404);
    const missing = await get("app://tessera/no-such-file.js");
    expect(missing.status).toBe(404);
    expect(missing.policy).toContain("default-src 'none'");
    expect(missing.policy).toContain("connect-src 'none'");
    expect(missing.policy).not.toContain("unsafe");
  });
});

describe("the hand-over of the port", () => {
  const frame = (url: string, parent: unknown = null) => ({
    url,
    parent,
    detached: false,
    isDestroyed: () => false,
    postMessage: vi.fn(),
  });
  const ask = (senderFrame: unknown) =>
    (fake.ipcListeners.get("tessera:connect") as (event: unknown) => void)({ senderFrame });
  const pages = () => fake.services.posted.filter(({ message }) => (message as { kind: string }).kind === "page");

  test("is for our own top frame and nobody else", () => {
    const evil = [frame("https://evil.example/"), frame("app://tessera/", {}), frame("app://evil/"), null];
    for (const one of evil) ask(one);
    expect(pages()).toEqual([]);
    const own = frame("app://tessera/");
    ask(own);
    expect(pages()).toEqual([{ message: { kind: "page" }, ports: 1 }]);
    expect(own.postMessage).toHaveBeenCalledWith("tessera:port", null, ["page's port"]);
  });

  test("is made again when the services' process fell, and the window stays", async () => {
    vi.useFakeTimers();
    const before = pages().length;
    (fake.services.listeners.get("exit") as () => void)();
    await vi.advanceTimersByTimeAsync(2_000);
    vi.useRealTimers();
    expect([fake.services.forks, pages().length - before, fake.windows.length]).toEqual([2, 1, 1]);
  });
});

test("secrets are sealed by the system's keyring on behalf of the services", async () => {
  const message = fake.services.listeners.get("message") as (message: unknown) => void;
  message({ kind: "seal", id: 4, way: "seal", text: "hunter2" });
  await vi.waitFor(() =>
    expect(fake.services.posted.at(-1)?.message).toEqual({
      kind: "seal-answer",
      id: 4,
      value: Buffer.from("sealed hunter2").toString("base64"),
    }),
  );
});
