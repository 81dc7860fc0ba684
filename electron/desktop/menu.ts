import type { MenuItemConstructorOptions } from "electron";

/** As small as the platforms expect. Reloading and developer tools only where the source is being worked on. */
export function menuTemplate(platform: NodeJS.Platform, packaged: boolean): MenuItemConstructorOptions[] {
  const view: MenuItemConstructorOptions[] = [
    { role: "resetZoom" },
    { role: "zoomIn" },
    { role: "zoomOut" },
    { type: "separator" },
    { role: "togglefullscreen" },
  ];
  const developing: MenuItemConstructorOptions[] = packaged
    ? []
    : [{ type: "separator" }, { role: "reload" }, { role: "toggleDevTools" }];
  return [
    ...(platform === "darwin" ? [{ role: "appMenu" } as const] : [{ role: "fileMenu" } as const]),
    { role: "editMenu" },
    { role: "viewMenu", submenu: [...view, ...developing] },
    { role: "windowMenu" },
  ];
}
