/** Words for what a row names by the ledger's own codes; a code that no words are known for stays as it is. */
import { type AuditCommand, auditCommands } from "../i18n/en/audit-commands.ts";
import type { Translate } from "../i18n/index.ts";

const roles = ["administrator", "lead", "member", "host", "none"] as const;
const kinds = [
  "person",
  "administrator",
  "tenant",
  "lead",
  "project",
  "member",
  "limits",
  "reset",
  "request",
  "grant",
  "lease",
  "setting",
  "engine",
] as const;

/** Commands that only read: neither done nor refused ones are kept by the ledger. */
const readings: ReadonlySet<string> = new Set<AuditCommand>([
  ...(["hello", "inventory", "watch", "watch.complete", "doctor", "mig.plan", "mig.status"] as const),
  ...(["identity.me", "people.search", "organisation.get", "removal.consequences", "quota.get"] as const),
  ...(["quota.explain", "engine.status", "engine.drift", "requests.list", "leases.list", "control.watch"] as const),
]);

const prefix = "audit.command-";

function isCommand(command: string): command is AuditCommand {
  return Object.hasOwn(auditCommands, `${prefix}${command}`);
}

export function commandInWords(t: Translate, command: string): string {
  return isCommand(command) ? t(`audit.command-${command}`) : command;
}

export function roleInWords(t: Translate, role: string): string {
  const known = roles.find((one) => one === role);
  return known === undefined ? role : t(`audit.role-${known}`);
}

/** What kind of object: the first word of `tenant/t3f2k`. */
export function kindInWords(t: Translate, kind: string): string {
  const known = kinds.find((one) => one === kind);
  return known === undefined ? kind : t(`audit.kind-${known}`);
}

/** The commands that rows can name, in the order of their words. */
export function commandChoices(t: Translate): readonly (readonly [command: string, words: string])[] {
  return Object.keys(auditCommands)
    .map((key) => key.slice(prefix.length))
    .filter((command) => !readings.has(command))
    .map((command) => [command, commandInWords(t, command)] as const)
    .sort(([, one], [, other]) => one.localeCompare(other));
}
