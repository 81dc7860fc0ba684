import { createRoot } from "react-dom/client";
import "./design/tokens.css";
import "./design/base.css";
import "./app/shell.css";
import { listenForKeys } from "./app/keys.ts";
import { Shell } from "./app/Shell.tsx";
import { startSession } from "./app/session.ts";
import { applyTheme, followSystemTheme } from "./app/theme.ts";
import { followAddress } from "./app/views.ts";
import { setLanguage, useLanguage } from "./i18n/index.ts";

applyTheme("system");
setLanguage("system");
followSystemTheme();
followAddress();
listenForKeys();

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");

/** Another language draws everything anew: texts are also read outside of components' own state. */
function Console() {
  return <Shell key={useLanguage()} />;
}
createRoot(root).render(<Console />);

// After the first paint: the window shows itself before anything is asked of the services.
requestAnimationFrame(() => setTimeout(startSession, 0));
