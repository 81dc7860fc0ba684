/** A page that asks before it is left. Without an answer of ours Electron keeps its window open and says nothing. */
import type { BrowserWindow, MessageBoxSyncOptions } from "electron";

const stay = 0;
const leave = 1;

const question: MessageBoxSyncOptions = {
  type: "question",
  buttons: ["Stay", "Leave"],
  ...{ defaultId: stay, cancelId: stay },
  message: "Something in this window is still under way.",
  detail: "A change that runs on a host goes on without the window. A draft that could not be kept is lost.",
};

/** `ask` shows a question above the window and returns the place of the button that was chosen. */
export function askBeforeLeaving(
  window: Pick<BrowserWindow, "webContents">,
  ask: (question: MessageBoxSyncOptions) => number,
): void {
  window.webContents.on("will-prevent-unload", (event) => {
    // Prevented is that the page prevents it.
    if (ask(question) === leave) event.preventDefault();
  });
}
