/** The last things that happened and how long each took: what to read when something is slow or broken. */
import { useEffect, useState } from "react";
import type { TroubleEvent } from "../../shared/api/contract.ts";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import { client } from "../client/index.ts";
import styles from "../clusters/page.module.css";
import { Segments } from "../design/controls.tsx";
import { DownloadIcon } from "../design/icons.tsx";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { exportName, keep, matching, type Shown, slowestFirst } from "./events.ts";
import { eventWords } from "./words.ts";

function download(name: string, content: string): void {
  const address = URL.createObjectURL(new Blob([content], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

async function exportEvents(events: readonly TroubleEvent[]): Promise<void> {
  const info = await client().request("app.info", {});
  const report = { console: info, exportedAt: new Date().toISOString(), events };
  download(exportName(new Date()), `${JSON.stringify(report, null, 2)}\n`);
}

const tones = { info: "", warning: "warning", error: "bad" } as const;

function Row({ event }: { readonly event: TroubleEvent }) {
  const t = useText();
  const format = useFormat();
  return (
    <tr>
      <td title={format.exact(event.at)} className={styles.measure}>
        {format.time(event.at)}
      </td>
      <td>
        <span className={`tag ${tones[event.level]}`}>{t(`trouble.level-${event.level}`)}</span>
      </td>
      <td className={styles.short}>{event.host}</td>
      <td>
        {eventWords(t, event.what)}
        {event.error === null ? null : <ErrorText error={event.error} />}
      </td>
      <td className={styles.measure}>{event.durationMs === null ? "" : format.measured(event.durationMs)}</td>
    </tr>
  );
}

export function TroubleshootingView() {
  const t = useText();
  const [events, setEvents] = useState<readonly TroubleEvent[] | null>(null);
  const [shown, setShown] = useState<Shown>("all");
  const [filter, setFilter] = useState("");
  const [error, setError] = useState<AppErrorData | null>(null);
  useEffect(
    () =>
      client().subscribe(
        "troubleshooting.events",
        {},
        (fresh) => setEvents((before) => keep(before ?? [], fresh)),
        setError,
      ),
    [],
  );
  const found = matching(events ?? [], shown, filter);
  const rows = shown === "slow" ? slowestFirst(found) : found.toReversed();
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <h2>{t("app.troubleshooting")}</h2>
        <Segments
          label={t("trouble.show")}
          value={shown}
          segments={[
            { value: "all", label: t("trouble.all") },
            { value: "problems", label: t("trouble.problems") },
            { value: "slow", label: t("trouble.slow") },
          ]}
          onChange={setShown}
        />
        <input
          className="field"
          type="search"
          aria-label={t("trouble.filter")}
          placeholder={t("trouble.filter")}
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
        <span className={styles.spacer} />
        <button
          type="button"
          className="button"
          disabled={rows.length === 0}
          title={t("trouble.exportTitle")}
          onClick={() => void exportEvents(rows).catch((thrown: unknown) => setError(toErrorData(thrown)))}
        >
          <DownloadIcon /> {t("trouble.export")}
        </button>
      </div>
      {error === null ? null : <ErrorText error={error} />}
      {events !== null && rows.length === 0 ? <p className="muted">{t("trouble.none")}</p> : null}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className={styles.scroll} tabIndex={0} aria-label={t("app.troubleshooting")}>
        {rows.length === 0 ? null : (
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col">{t("trouble.time")}</th>
                <th scope="col">{t("trouble.level")}</th>
                <th scope="col">{t("trouble.host")}</th>
                <th scope="col">{t("trouble.what")}</th>
                <th scope="col" className={styles.measure}>
                  {t("trouble.took")}
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, 300).map((event, index) => (
                // Events have no identity of their own, and several may share a time.
                // biome-ignore lint/suspicious/noArrayIndexKey: rows are only ever drawn anew
                <Row key={`${event.at} ${index}`} event={event} />
              ))}
            </tbody>
          </table>
        )}
      </section>
    </div>
  );
}
