import type { BrowserWindowConstructorOptions } from "electron";

/** The window as data, so that a test can hold it to Electron's security checklist. Defaults that matter are written out. */
export function windowOptions(preload: string, icon: string | null): BrowserWindowConstructorOptions {
  return {
    title: "Tessera",
    width: 1440,
    height: 900,
    minWidth: 880,
    minHeight: 560,
    // Shown when it has painted: no white flash.
    show: false,
    backgroundColor: "#14171c",
    autoHideMenuBar: true,
    ...(icon === null ? {} : { icon }),
    webPreferences: {
      preload,
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
      // Chromium would fetch dictionaries from the internet.
      spellcheck: false,
    },
  };
}
