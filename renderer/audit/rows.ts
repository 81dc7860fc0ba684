/** The rows that are shown: asked for by what is looked for, joined by new ones and by older pages. */
import { useEffect, useRef, useState } from "react";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import type { AuditPageView, AuditRowView } from "../../shared/protocol/control.ts";
import { client } from "../client/index.ts";
import { beginningOf } from "./days.ts";
import { allRows, withPage } from "./entries.ts";

export const outcomes = ["begun", "done", "failed", "refused"] as const;

export interface Looked {
  readonly subject: string;
  readonly text: string;
  readonly actor: string;
  /** By the contract's name; empty for any. */
  readonly command: string;
  readonly outcome: (typeof outcomes)[number] | "";
  /** The first and the last day, `2026-05-06`; empty where it is open. */
  readonly firstDay: string;
  readonly lastDay: string;
}

/** Somebody who types is not asked after every key. */
const typingMs = 250;
const pageRows = 200;

export function fetchPage(
  clusterId: string,
  { subject, text, actor, command, outcome, firstDay, lastDay }: Looked,
  before: number | null,
  signal?: AbortSignal,
): Promise<AuditPageView> {
  const from = beginningOf(firstDay);
  const to = beginningOf(lastDay, 1);
  const input = {
    subject,
    limit: pageRows,
    ...(text === "" ? {} : { text }),
    ...(actor === "" ? {} : { actor }),
    ...(command === "" ? {} : { command }),
    ...(outcome === "" ? {} : { outcome }),
    ...(from === null ? {} : { from }),
    ...(to === null ? {} : { to }),
    ...(before === null ? {} : { before }),
  };
  return client().request("audit.list", { clusterId, input }, signal);
}

/** What is newer than what is held, page after page until it joins. */
async function newRows(
  clusterId: string,
  looked: Looked,
  held: readonly AuditRowView[],
  signal: AbortSignal,
): Promise<AuditPageView> {
  const newest = held[0]?.seq ?? 0;
  let rows: readonly AuditRowView[] = [];
  let before: number | null = null;
  for (;;) {
    const page: AuditPageView = await fetchPage(clusterId, looked, before, signal);
    rows = withPage(rows, page.rows);
    const joins = page.rows.some(({ seq }) => seq <= newest);
    if (held.length === 0 || joins || page.next === null) return { rows, next: page.next };
    before = page.next;
  }
}

export function useAuditRows(clusterId: string, looked: Looked, revision: number) {
  const [state, setState] = useState<AuditPageView>({ rows: [], next: null });
  const [error, setError] = useState<AppErrorData | null>(null);
  const asked = JSON.stringify([clusterId, looked]);
  const shown = useRef({ asked: "", rows: state.rows });
  // biome-ignore lint/correctness/useExhaustiveDependencies: `asked` is what is looked for, and `revision` says that rows came
  useEffect(() => {
    const end = new AbortController();
    const again = shown.current.asked === asked;
    const start = setTimeout(
      () => {
        newRows(clusterId, looked, again ? shown.current.rows : [], end.signal).then(
          (answer) => {
            if (end.signal.aborted) return;
            setState((held) => {
              const next = again ? { rows: withPage(held.rows, answer.rows), next: held.next } : answer;
              shown.current = { asked, rows: next.rows };
              return next;
            });
            setError(null);
          },
          (thrown: unknown) => end.signal.aborted || setError(toErrorData(thrown)),
        );
      },
      again || shown.current.asked === "" ? 0 : typingMs,
    );
    return () => {
      clearTimeout(start);
      end.abort();
    };
  }, [asked, revision]);

  const older = async (): Promise<void> => {
    const page = await fetchPage(clusterId, looked, state.next);
    if (shown.current.asked !== asked) return;
    setState((held) => {
      const rows = withPage(held.rows, page.rows);
      shown.current = { asked, rows };
      return { rows, next: page.next };
    });
  };
  const everything = () => allRows((before) => fetchPage(clusterId, looked, before));
  return { ...state, error, setError, older, everything };
}
