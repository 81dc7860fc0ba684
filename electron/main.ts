/** The desktop window: wiring only. What the console knows and does is in the services' process. */
import { join } from "node:path";
import { app, BrowserWindow, dialog, ipcMain, Menu, protocol, safeStorage, session } from "electron";
import { toErrorData } from "../shared/errors.ts";
import { connectChannel } from "./desktop/channels.ts";
import { fenceContents, fenceSession } from "./desktop/fences.ts";
import { askBeforeLeaving } from "./desktop/leaving.ts";
import { menuTemplate } from "./desktop/menu.ts";
import type { ServicesStart } from "./desktop/messages.ts";
import { isTrustedFrame, pageScheme, pageUrl } from "./desktop/page-origin.ts";
import { ServicesHost } from "./desktop/services-host.ts";
import { windowOptions } from "./desktop/window-options.ts";
import { pageAnswer } from "./page.ts";
import { ownStartArguments, parseStartOptions, type StartOptions } from "./start-options.ts";
import { version } from "./version.ts";

const bundle = import.meta.dirname;
const pageDirectory = join(bundle, "..", "renderer");

app.enableSandbox();
protocol.registerSchemesAsPrivileged([
  { scheme: pageScheme, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
]);
fenceContents(app);

const options = readOptions();
if (options === null) app.exit(2);
else if (!app.requestSingleInstanceLock()) app.quit();
else void run(options);

async function run(start: StartOptions): Promise<void> {
  await app.whenReady();
  fenceSession(session.defaultSession);
  protocol.handle(pageScheme, async (request) => {
    const { host, pathname } = new URL(request.url);
    if (host !== "tessera" || request.method !== "GET") return new Response(null, { status: 404 });
    const { status, headers, body } = await pageAnswer(pageDirectory, pathname, []);
    return new Response(body, { status, headers });
  });
  Menu.setApplicationMenu(Menu.buildFromTemplate(menuTemplate(process.platform, app.isPackaged)));

  const services = new ServicesHost(join(bundle, "services-process.mjs"), await servicesStart(start), safeStorage);
  onTrusted(connectChannel, (frame) => services.connectPage(frame));
  services.run();

  openWindow();
  app.on("activate", () => {
    if (BrowserWindow.getAllWindows().length === 0) openWindow();
  });
  app.on("second-instance", () => {
    const window = BrowserWindow.getAllWindows()[0];
    if (window === undefined) return openWindow();
    if (window.isMinimized()) window.restore();
    window.focus();
  });
  app.on("window-all-closed", () => {
    if (process.platform !== "darwin") app.quit();
  });
  let stopped = false;
  app.on("will-quit", (event) => {
    if (stopped) return;
    event.preventDefault();
    void services.stop().finally(() => {
      stopped = true;
      app.quit();
    });
  });
}

function openWindow(): void {
  const window = new BrowserWindow(windowOptions(join(bundle, "preload.cjs"), null));
  window.once("ready-to-show", () => window.show());
  askBeforeLeaving(window, (question) => dialog.showMessageBoxSync(window, question));
  void window.loadURL(pageUrl);
}

/** The one way in from a page: who is not our own top frame is not heard. */
function onTrusted(channel: string, handler: (frame: Electron.WebFrameMain) => void): void {
  ipcMain.on(channel, (event) => {
    const frame = event.senderFrame;
    if (frame !== null && isTrustedFrame(frame)) handler(frame);
  });
}

async function servicesStart(start: StartOptions): Promise<ServicesStart> {
  const available = await safeStorage.isAsyncEncryptionAvailable().catch(() => false);
  const backend = process.platform === "linux" ? safeStorage.getSelectedStorageBackend() : process.platform;
  return {
    version,
    demo: start.demo,
    demoAs: start.demoAs,
    dataDirectory: start.dataDirectory,
    cluster: start.cluster,
    resourcesDirectory: app.isPackaged ? process.resourcesPath : null,
    seal: { backend, available },
  };
}

function readOptions(): StartOptions | null {
  try {
    return parseStartOptions(ownStartArguments(process.argv.slice(1)));
  } catch (error) {
    const { message, remedy } = toErrorData(error);
    process.stderr.write(`${message}\n${remedy}\n`);
    return null;
  }
}
