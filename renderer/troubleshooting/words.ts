import type { MessageKey, Translate } from "../i18n/index.ts";

/** What the services call their own doings, in the reader's language; anything else stands as it came. */
const known: Readonly<Record<string, MessageKey>> = {
  Connecting: "trouble.what-connecting",
  "Saving layouts": "trouble.what-saving",
  "Starting the demo cluster": "trouble.what-demo",
  "Installing tessera-host": "trouble.what-installing",
  "Local store": "trouble.what-store",
  "Reading the state of operations": "trouble.what-status",
  "Applying a layout": "trouble.what-applying",
  "Undoing an operation": "trouble.what-undoing",
  "Recovering an operation": "trouble.what-recovering",
  "Restoring saved layouts": "trouble.what-restoring",
};

export function eventWords(t: Translate, what: string): string {
  const key = Object.hasOwn(known, what) ? known[what] : undefined;
  return key === undefined ? what : t(key);
}
