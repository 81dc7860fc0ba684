/** Tenants, the audit and the ledger from a shell; `call` reaches every command of the contract. */
import { resolve } from "node:path";
import { AppError } from "../../../../shared/errors.ts";
import type { Me, Organisation } from "../../../../shared/protocol/control.ts";
import { hasLedger } from "../access/here.ts";
import { call, callMethod, isHostMethod } from "../serve/call.ts";
import { parseInput } from "../serve/validation.ts";
import type { System } from "../system.ts";
import { parseCommand, UsageError } from "./arguments.ts";
import { printable } from "./drawing.ts";
import type { Terminal } from "./terminal.ts";

const json = { json: { type: "boolean" } } as const;

export async function runControl(
  command: "call" | "me" | "tenants" | "audit" | "ledger" | "timer",
  args: readonly string[],
  system: System,
  terminal: Terminal,
): Promise<number> {
  switch (command) {
    case "call":
      return callByName(args, system, terminal);
    case "me": {
      const { values } = parseCommand(args, json);
      const me = await call(system, "identity.me", {}, silent(terminal));
      terminal.out(values.json ? JSON.stringify(me) : meText(me));
      return 0;
    }
    case "tenants": {
      const { values } = parseCommand(args, json);
      const organisation = await call(system, "organisation.get", {}, silent(terminal));
      terminal.out(values.json ? JSON.stringify(organisation) : tenantsText(organisation));
      return 0;
    }
    case "audit":
      return audit(args, system, terminal);
    case "ledger":
      return ledger(args, system, terminal);
    case "timer":
      return timer(args, system, terminal);
  }
}

function silent(terminal: Terminal) {
  return { signal: terminal.signal, progress: () => undefined };
}

/** `call quota.get`, `call tenant.create --input '{"displayName":"NLP"}'`; `-` reads standard input. Answers are JSON. */
async function callByName(args: readonly string[], system: System, terminal: Terminal): Promise<number> {
  const { values, positionals } = parseCommand(
    args,
    { ...json, input: { type: "string" } },
    { least: 1, most: 1, what: "The command of the contract" },
  );
  const [method = ""] = positionals;
  if (!isHostMethod(method)) throw new UsageError(`There is no command ${JSON.stringify(method)} in the contract.`);
  const text = values.input === "-" ? await terminal.readInput() : (values.input ?? "{}");
  const answer = await callMethod(system, method, parseInput(method, parseJson(text)), {
    signal: terminal.signal,
    progress: (value) => terminal.error(JSON.stringify(value)),
  });
  terminal.out(JSON.stringify(answer));
  return 0;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError("--input takes JSON.");
  }
}

function meText({ uid, user, role, leads, projects, open, ledger: here }: Me): string {
  const name = user === null ? `uid ${uid}` : `${printable(user)} (uid ${uid})`;
  const lines = [`${name}: ${role === "none" ? "no role here" : role}`];
  if (leads.length > 0) lines.push(`leads ${leads.join(", ")}`);
  if (projects.length > 0) lines.push(`in ${projects.join(", ")}`);
  if (open) {
    lines.push("Nobody has been named administrator yet: whoever is let in administers. Name the first one with");
    lines.push(`  tessera-host call administrator.add --input '{"uid": UID}'`);
  }
  if (!here) lines.push("This host keeps no ledger.");
  return lines.join("\n");
}

function tenantsText({ tenants }: Organisation): string {
  if (tenants.length === 0) return "No tenants.";
  return tenants
    .flatMap((tenant) => [
      `${tenant.id}  ${printable(tenant.displayName)}${leadsText(tenant.leads)}`,
      ...tenant.projects.map(
        (project) =>
          `  ${project.id}  ${printable(project.displayName)}: ${
            project.members.map(({ uid, user }) => printable(user ?? String(uid))).join(", ") || "nobody"
          }`,
      ),
    ])
    .join("\n");
}

function leadsText(leads: Organisation["tenants"][number]["leads"]): string {
  if (leads.length === 0) return "";
  return `, led by ${leads.map(({ uid, user }) => printable(user ?? String(uid))).join(", ")}`;
}

function findingsText(count: number): string {
  return count === 1 ? "1 finding" : `${count} findings`;
}

async function audit([verb, ...args]: readonly string[], system: System, terminal: Terminal): Promise<number> {
  switch (verb) {
    case "verify": {
      const { values } = parseCommand(args, json);
      const verdict = await call(system, "audit.verify", {}, silent(terminal));
      const lines = [
        verdict.intact
          ? `Intact: ${verdict.rows} rows, the last is ${verdict.head.seq} with hash ${verdict.head.hash}.`
          : `NOT intact: ${findingsText(verdict.findings.length + verdict.more)} in ${verdict.rows} rows.`,
        ...verdict.findings.map(({ seq, message }) => `${seq === null ? "" : `row ${seq}: `}${printable(message)}`),
        ...verdict.notes,
      ];
      terminal.out(values.json ? JSON.stringify(verdict) : lines.join("\n"));
      return verdict.intact ? 0 : 1;
    }
    case "list": {
      const { values } = parseCommand(args, { ...json, tenant: { type: "string" }, limit: { type: "string" } });
      const input = { subject: values.tenant ?? "cluster", limit: Number(values.limit ?? 50) };
      const page = await call(system, "audit.list", parseInput("audit.list", input), silent(terminal));
      const lines = page.rows.map(
        ({ seq, at, user, uid, role, command, object, outcome }) =>
          `${seq}  ${at}  ${printable(user ?? String(uid))} (${role})  ${command}  ${printable(object ?? "")}  ${outcome}`,
      );
      terminal.out(values.json ? JSON.stringify(page) : lines.join("\n"));
      return 0;
    }
    case "export":
      return exportAudit(args, system, terminal);
    default:
      throw new UsageError("Say audit list, audit verify or audit export.");
  }
}

/** CSV, or JSON Lines from which the chain can be verified, on standard output, oldest first. */
async function exportAudit(args: readonly string[], system: System, terminal: Terminal): Promise<number> {
  const { values } = parseCommand(args, { ...json, tenant: { type: "string" } });
  const subject = values.tenant ?? "cluster";
  // The same right as reading it page by page.
  await call(system, "audit.list", parseInput("audit.list", { subject, limit: 1 }), silent(terminal));
  const [{ auditAsCsv, auditAsJsonLines }, { auditRows }, { ledgerOf }] = await Promise.all([
    import("../audit/export.ts"),
    import("../audit/read.ts"),
    import("../control/context.ts"),
  ]);
  const reader =
    subject === "cluster" ? ({ kind: "administrator" } as const) : ({ kind: "tenants", ids: [subject] } as const);
  const rows = auditRows(ledgerOf(system).database, reader);
  for (const line of values.json ? auditAsJsonLines(rows) : auditAsCsv(rows)) terminal.out(line);
  return 0;
}

async function ledger([verb, ...args]: readonly string[], system: System, terminal: Terminal): Promise<number> {
  switch (verb) {
    case "create": {
      const { values } = parseCommand(args, { ...json, engine: { type: "string" } });
      const input = parseInput("ledger.create", { engine: values.engine ?? "auto" });
      const me = await call(system, "ledger.create", input, silent(terminal));
      const made = `Made the ledger of ${system.hostName}, with the engine ${me.engine}.\n${meText(me)}`;
      terminal.out(values.json ? JSON.stringify(me) : made);
      return 0;
    }
    case "check": {
      const { values } = parseCommand(args, json);
      await asAdministrator(system);
      const [{ checkLedger }, { ledgerOf }] = await Promise.all([
        import("../ledger/check.ts"),
        import("../control/context.ts"),
      ]);
      const { sound, problems } = checkLedger(ledgerOf(system));
      terminal.out(values.json ? JSON.stringify({ sound, problems }) : sound ? "Sound." : problems.join("\n"));
      return sound ? 0 : 1;
    }
    case "backup": {
      const { values, positionals } = parseCommand(args, json, { least: 1, most: 1, what: "The file" });
      await asAdministrator(system);
      const [{ backupLedger }, { ledgerOf }] = await Promise.all([
        import("../ledger/backup.ts"),
        import("../control/context.ts"),
      ]);
      const backup = backupLedger(ledgerOf(system), resolve(positionals[0] ?? ""));
      terminal.out(values.json ? JSON.stringify(backup) : `Written to ${resolve(positionals[0] ?? "")}.`);
      return 0;
    }
    default:
      throw new UsageError("Say ledger create, ledger check or ledger backup FILE.");
  }
}

/** Commands that are no part of the contract: the sudo rule does not offer them, and they are for administrators. */
async function asAdministrator(system: System): Promise<void> {
  const [{ accessHere }, { forbidden }] = await Promise.all([
    import("../access/here.ts"),
    import("../access/access.ts"),
  ]);
  const access = await accessHere(system);
  if (!access.administrator) throw forbidden("This command", access, "administrator");
}

async function timer(args: readonly string[], system: System, terminal: Terminal): Promise<number> {
  const { values } = parseCommand(args, json);
  await asAdministrator(system);
  if (!hasLedger(system)) {
    throw new AppError({
      code: "not-found",
      message: `${system.hostName} keeps no ledger: there is nothing to do for a timer.`,
      remedy: "Run it on the control host.",
    });
  }
  const { runTimer } = await import("../control/timer.ts");
  const result = await runTimer(system);
  const lines = [`${result.grants} grants set or ended, ${result.resets} periods begun.`, ...result.trouble];
  terminal.out(values.json ? JSON.stringify(result) : lines.join("\n"));
  return result.trouble.length === 0 ? 0 : 1;
}
