/** Reading the record of every change, and walking its chain. */
import type { HostInput } from "../../../../shared/protocol/contract.ts";
import type {
  AuditPageView,
  AuditRowView,
  AuditVerdictView,
  SlurmTransactionView,
} from "../../../../shared/protocol/control.ts";
import type { Access } from "../access/access.ts";
import { type AuditFilter, type AuditReader, readAudit } from "../audit/read.ts";
import type { AuditRow } from "../audit/row.ts";
import { verifyAudit } from "../ledger/check.ts";
import { leads, members } from "../ledger/organisation.ts";
import type { Reader } from "../ledger/reader.ts";
import type { System } from "../system.ts";
import { engineOf, ledgerOf } from "./context.ts";
import { tenantOf } from "./quota.ts";

/** One page, newest first: all rows, or those of one tenant. */
export function listAudit(system: System, access: Access, input: HostInput<"audit.list">): AuditPageView {
  const ledger = ledgerOf(system);
  const { subject, from, to, before, limit, actor, object, command, outcome, text } = input;
  const tenantId = tenantOf(subject);
  const reader: AuditReader = tenantId === null ? { kind: "administrator" } : { kind: "tenants", ids: [tenantId] };
  const filter: AuditFilter = {
    ...(actor === undefined ? {} : { actor: /^\d+$/.test(actor) ? Number(actor) : actor }),
    ...(object === undefined ? {} : { object }),
    ...(command === undefined ? {} : { command }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(text === undefined ? {} : { text }),
    ...(from === undefined ? {} : { from: new Date(from) }),
    ...(to === undefined ? {} : { to: new Date(to) }),
  };
  const page = readAudit(ledger.database, reader, filter, {
    ...(before === undefined ? {} : { before }),
    ...(limit === undefined ? {} : { limit }),
  });
  const own = access.administrator || tenantId === null ? null : uidsOfTenant(ledger, tenantId);
  return { rows: page.rows.map((row) => rowView(row, own)), next: page.next };
}

function uidsOfTenant(reader: Reader, tenantId: string): ReadonlySet<number> {
  return new Set([
    ...reader.list(leads, { tenantId }).map(({ uid }) => uid),
    ...reader
      .list(members)
      .filter(({ projectId }) => projectId.startsWith(`${tenantId}_`))
      .map(({ uid }) => uid),
  ]);
}

/** From where and with which key somebody logs in who is not of the tenant is no business of its leads. */
function rowView({ previousHash: _, ...row }: AuditRow, own: ReadonlySet<number> | null): AuditRowView {
  if (own === null || own.has(row.uid)) return row;
  return { ...row, keyFingerprint: null, address: null, loginUid: null };
}

export function verify(system: System): AuditVerdictView {
  return verifyAudit(ledgerOf(system));
}

export async function slurmTransactions(
  system: System,
  days: HostInput<"audit.slurm">,
): Promise<readonly SlurmTransactionView[]> {
  return (await engineOf(system)).transactions(days);
}
