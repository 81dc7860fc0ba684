/** The keyboard map: views register what their keys do, and the help sheet lists what is registered. */
import type { MessageKey } from "../i18n/index.ts";

export interface KeyCommand {
  /** `ctrl+shift+z`, `/`, `?`, `m`. `ctrl` is also Command on a Mac. */
  readonly keys: string;
  readonly title: MessageKey;
  /** Answers false where it does not apply now, and the key goes on to the browser. */
  run(): boolean | undefined;
  /** Also while a text field has the focus. */
  readonly inFields?: boolean;
}

const commands = new Map<string, KeyCommand>();

/** Answers the function that takes the command away again. The newest for the same keys wins. */
export function registerKey(command: KeyCommand): () => void {
  const before = commands.get(command.keys);
  commands.set(command.keys, command);
  return () => {
    if (commands.get(command.keys) !== command) return;
    if (before === undefined) commands.delete(command.keys);
    else commands.set(command.keys, before);
  };
}

export function registeredKeys(): readonly KeyCommand[] {
  return [...commands.values()];
}

/** The name of a pressed key in the map's words. Shift is named only where it does not change the character. */
export function keysOf(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">): string {
  const key = event.key.toLowerCase();
  const parts: string[] = [];
  if (event.ctrlKey || event.metaKey) parts.push("ctrl");
  if (event.altKey) parts.push("alt");
  if (event.shiftKey && (key.length > 1 || /[a-z]/.test(key))) parts.push("shift");
  parts.push(key === " " ? "space" : key);
  return parts.join("+");
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target instanceof HTMLTextAreaElement ||
      target instanceof HTMLSelectElement ||
      (target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type)))
  );
}

export function listenForKeys(): void {
  window.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const command = commands.get(keysOf(event));
    if (command === undefined) return;
    if (isField(event.target) && command.inFields !== true) return;
    if (command.run() !== false) event.preventDefault();
  });
}
