/** The form of a cluster as text, and the draft that it means. */
import type { ClusterDraft, RackRule } from "../../shared/api/contract.ts";
import { type HostListProblem, parseHosts, writeHosts } from "./hosts.ts";
import { previewRacks } from "./racks.ts";

export interface ClusterForm {
  readonly name: string;
  readonly hosts: string;
  readonly racks: RackRule;
  readonly refreshSeconds: string;
  readonly keepaliveSeconds: string;
  /** The host with the ledger, which counts while it is one of the hosts; empty where the console shall find it. */
  readonly controlHost: string;
}

export const emptyForm: ClusterForm = {
  name: "",
  hosts: "",
  racks: { kind: "none" },
  refreshSeconds: "",
  keepaliveSeconds: "",
  controlHost: "",
};

export function formOf(draft: ClusterDraft): ClusterForm {
  return {
    name: draft.name,
    hosts: writeHosts(draft.hosts),
    racks: draft.racks,
    refreshSeconds: draft.refreshSeconds === undefined ? "" : String(draft.refreshSeconds),
    keepaliveSeconds: draft.keepaliveSeconds === undefined ? "" : String(draft.keepaliveSeconds),
    controlHost: draft.controlHost ?? "",
  };
}

export type FormProblem =
  | { readonly field: "name" | "no-hosts" | "pattern" | "refresh" | "keepalive" }
  | { readonly field: "name-taken"; readonly name: string }
  | { readonly field: "hosts"; readonly problem: HostListProblem; readonly part: string };

export type FormResult =
  | { readonly ok: true; readonly draft: ClusterDraft }
  | { readonly ok: false; readonly problem: FormProblem };

function wholeNumber(text: string, least: number, most: number): number | null | undefined {
  if (text.trim() === "") return undefined;
  const number = Number(text);
  return Number.isInteger(number) && number >= least && number <= most ? number : null;
}

/** As long as the services take a pattern. */
const longestPattern = 200;

/** `taken`: names of the other clusters. */
export function readForm(form: ClusterForm, taken: readonly string[] = []): FormResult {
  const name = form.name.trim();
  if (name === "" || name.length > 80) return { ok: false, problem: { field: "name" } };
  if (taken.includes(name)) return { ok: false, problem: { field: "name-taken", name } };
  const list = parseHosts(form.hosts);
  if (!list.ok) return { ok: false, problem: { field: "hosts", problem: list.problem, part: list.part } };
  if (list.hosts.length === 0) return { ok: false, problem: { field: "no-hosts" } };
  const { racks, controlHost } = form;
  if (racks.kind === "pattern" && (racks.pattern.length > longestPattern || !previewRacks(racks, []).ok)) {
    return { ok: false, problem: { field: "pattern" } };
  }
  const refreshSeconds = wholeNumber(form.refreshSeconds, 1, 600);
  if (refreshSeconds === null) return { ok: false, problem: { field: "refresh" } };
  const keepaliveSeconds = wholeNumber(form.keepaliveSeconds, 0, 3_600);
  if (keepaliveSeconds === null) return { ok: false, problem: { field: "keepalive" } };
  return {
    ok: true,
    draft: {
      name,
      hosts: [...list.hosts],
      racks,
      ...(refreshSeconds === undefined ? {} : { refreshSeconds }),
      ...(keepaliveSeconds === undefined ? {} : { keepaliveSeconds }),
      ...(list.hosts.includes(controlHost) ? { controlHost } : {}),
    },
  };
}
