/** What a page of ours may never do, whatever runs in it. */
import type { App, Session, WebContents } from "electron";
import { pageScheme } from "./page-origin.ts";

/** For every WebContents there is or will be. */
export function fenceContents(app: App): void {
  app.on("web-contents-created", (_event, contents) => fenceOne(contents));
}

function fenceOne(contents: WebContents): void {
  contents.setWindowOpenHandler(() => ({ action: "deny" }));
  contents.on("will-navigate", (event) => event.preventDefault());
  contents.on("will-frame-navigate", (event) => event.preventDefault());
  contents.on("will-redirect", (event) => event.preventDefault());
  contents.on("will-attach-webview", (event) => event.preventDefault());
}

/** The page may write to the clipboard; nothing else is granted. */
const grantedPermissions: ReadonlySet<string> = new Set(["clipboard-sanitized-write"]);

export function fenceSession(session: Session): void {
  session.setPermissionRequestHandler((_contents, permission, answer) => answer(grantedPermissions.has(permission)));
  session.setPermissionCheckHandler((_contents, permission) => grantedPermissions.has(permission));
  session.setDevicePermissionHandler(() => false);
  session.setDisplayMediaRequestHandler((_request, answer) => answer({}));
  // The page needs no network at all: hosts are reached by the services.
  session.webRequest.onBeforeRequest((details, answer) => {
    const protocol = URL.parse(details.url)?.protocol ?? "";
    answer({ cancel: ![`${pageScheme}:`, "data:", "blob:", "devtools:"].includes(protocol) });
  });
}
