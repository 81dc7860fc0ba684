/** What an object of the audit is called, for people: `member/t3f2k_p01/12001` is "member NLP / chat / li.wei". */
import type { TenantView } from "../../shared/protocol/control.ts";
import type { Translate } from "../i18n/index.ts";
import { kindInWords } from "./words.ts";

/** Names by id of tenants (`t3f2k`) and projects (`t3f2k_p01`, with the tenant before it), and by uid in a project. */
export function objectNames(tenants: readonly TenantView[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const tenant of tenants) {
    names.set(tenant.id, tenant.displayName);
    for (const { uid, user } of tenant.leads) setPerson(names, tenant.id, uid, user);
    for (const project of tenant.projects) {
      names.set(project.id, `${tenant.displayName} / ${project.displayName}`);
      for (const { uid, user } of project.members) setPerson(names, project.id, uid, user);
    }
  }
  return names;
}

function setPerson(names: Map<string, string>, of: string, uid: number, user: string | null): void {
  names.set(`${of}/${uid}`, user ?? String(uid));
  if (user !== null) names.set(String(uid), user);
}

/** The kind in words, the parts that have a name by it, the others as they are; empty for a row about nothing. */
export function objectInWords(t: Translate, object: string | null, names: ReadonlyMap<string, string>): string {
  if (object === null) return "";
  const [code = "", id, uid] = object.split("/");
  const kind = kindInWords(t, code);
  if (id === undefined) return kind;
  const of = id === "cluster" ? t("audit.theCluster") : (names.get(id) ?? id);
  return uid === undefined ? `${kind} ${of}` : `${kind} ${of} / ${names.get(`${id}/${uid}`) ?? uid}`;
}

/** JSON of a value as people read it: fractions as one number. */
export function valueInWords(json: string | null): string {
  if (json === null) return "–";
  return json
    .replaceAll(/\{"numerator":(-?\d+),"denominator":(\d+)\}/g, (_, numerator: string, denominator: string) =>
      denominator === "1" ? numerator : `${numerator}/${denominator}`,
    )
    .replaceAll(/^"(.*)"$/g, "$1");
}
