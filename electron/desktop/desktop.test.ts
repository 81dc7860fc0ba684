import { beforeEach, describe, expect, test, vi } from "vitest";
import { fenceContents, fenceSession } from "./fences.ts";
import { askBeforeLeaving } from "./leaving.ts";
import { menuTemplate } from "./menu.ts";
import { isTrustedFrame } from "./page-origin.ts";
import { windowOptions } from "./window-options.ts";

test("the window is what Electron's security checklist asks for", () => {
  expect(windowOptions("/app/preload.cjs", null).webPreferences).toEqual({
    preload: "/app/preload.cjs",
    contextIsolation: true,
    sandbox: true,
    nodeIntegration: false,
    nodeIntegrationInWorker: false,
    nodeIntegrationInSubFrames: false,
    webSecurity: true,
    allowRunningInsecureContent: false,
    experimentalFeatures: false,
    webviewTag: false,
    navigateOnDragDrop: false,
    safeDialogs: true,
    spellcheck: false,
  });
});

test("a page that asks before it is left is left only when the operator says so", () => {
  let asked: (event: { preventDefault: () => void }) => void = () => undefined;
  const webContents = { on: (_name: string, listener: typeof asked) => (asked = listener) };
  const answers = [0, 1];
  askBeforeLeaving({ webContents } as never, () => answers.shift() ?? -1);
  const left = [0, 1].map(() => {
    const preventDefault = vi.fn();
    asked({ preventDefault });
    return preventDefault.mock.calls.length;
  });
  expect(left).toEqual([0, 1]);
});

describe("a sender", () => {
  test.each([
    ["app://tessera/", null, true],
    ["app://tessera/index.html?x#y", null, true],
    ["app://tessera/", {}, false],
    ["app://other/", null, false],
    ["app://tessera.evil.example/", null, false],
    ["https://tessera/", null, false],
    ["file:///app/index.html", null, false],
    ["about:blank", null, false],
    ["", null, false],
  ])("%s with parent %j: trusted is %s", (url, parent, trusted) => {
    expect(isTrustedFrame({ url, parent })).toBe(trusted);
  });

  test("that is gone, or was taken out of its window, is not trusted", () => {
    expect(isTrustedFrame(null)).toBe(false);
    expect(isTrustedFrame({ url: "app://tessera/", parent: null, detached: true })).toBe(false);
  });
});

/** Keeps what was registered, by event. */
class Listeners {
  readonly handlers = new Map<string, (...parameters: unknown[]) => unknown>();
  readonly on = (event: string, handler: (...parameters: unknown[]) => unknown) => {
    this.handlers.set(event, handler);
    return this;
  };
}

test("a page can go nowhere, open nothing and attach nothing", () => {
  const app = new Listeners();
  fenceContents(app as never);
  const contents = Object.assign(new Listeners(), { setWindowOpenHandler: vi.fn() });
  app.handlers.get("web-contents-created")?.({}, contents);
  expect(contents.setWindowOpenHandler.mock.calls[0]?.[0]({ url: "https://example.org" })).toEqual({ action: "deny" });
  for (const event of ["will-navigate", "will-frame-navigate", "will-redirect", "will-attach-webview"]) {
    const preventDefault = vi.fn();
    contents.handlers.get(event)?.({ preventDefault });
    expect([event, preventDefault.mock.calls.length]).toEqual([event, 1]);
  }
});

describe("the session", () => {
  const session = {
    setPermissionRequestHandler: vi.fn(),
    setPermissionCheckHandler: vi.fn(),
    setDevicePermissionHandler: vi.fn(),
    setDisplayMediaRequestHandler: vi.fn(),
    webRequest: { onBeforeRequest: vi.fn() },
  };
  beforeEach(() => fenceSession(session as never));

  test.each([
    ["clipboard-sanitized-write", true],
    ["clipboard-read", false],
    ["media", false],
    ["geolocation", false],
    ["notifications", false],
    ["openExternal", false],
    ["fullscreen", false],
  ])("permission %s: %s", (permission, granted) => {
    const answer = vi.fn();
    session.setPermissionRequestHandler.mock.calls.at(-1)?.[0](null, permission, answer);
    expect(answer).toHaveBeenCalledWith(granted);
    expect(session.setPermissionCheckHandler.mock.calls.at(-1)?.[0](null, permission)).toBe(granted);
    expect(session.setDevicePermissionHandler.mock.calls.at(-1)?.[0]({})).toBe(false);
  });

  test.each([
    ["app://tessera/assets/a.js", false],
    ["data:image/png;base64,AA==", false],
    ["blob:app://tessera/1", false],
    ["https://redirector.gvt1.com/edgedl/chrome/dict/en-us.bdic", true],
    ["http://127.0.0.1:8080/", true],
    ["ws://127.0.0.1:8080/", true],
    ["file:///etc/passwd", true],
    ["nonsense", true],
  ])("request to %s: cancelled is %s", (url, cancel) => {
    const answer = vi.fn();
    session.webRequest.onBeforeRequest.mock.calls.at(-1)?.[0]({ url }, answer);
    expect(answer).toHaveBeenCalledWith({ cancel });
  });
});

test("developer tools are in the menu only while developing", () => {
  const text = (packaged: boolean) => JSON.stringify(menuTemplate("linux", packaged));
  expect([text(true).includes("toggleDevTools"), text(false).includes("toggleDevTools")]).toEqual([false, true]);
});
