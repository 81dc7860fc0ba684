/** Over the table: search, filters, how much of the tree is open, and limits as a file. */
import { useRef } from "react";
import { useStore } from "zustand";
import { Segments } from "../design/controls.tsx";
import { DownloadIcon } from "../design/icons.tsx";
import { useText } from "../i18n/index.ts";
import { saveCsv } from "../topology/csv.ts";
import { setExpanded } from "./desk.ts";
import { mayEditAny } from "./draft.ts";
import { toCsv } from "./edits.ts";
import { useLook } from "./look.ts";
import { type QuotaFilter, subjectsInOrder } from "./model.ts";
import styles from "./quota.module.css";

const filters: readonly QuotaFilter[] = ["all", "over-committed", "near-limit", "drafts"];

export function QuotaBar({ count }: { readonly count: number }) {
  const t = useText();
  const { desk, model, draft, clusterName, me } = useLook();
  const isEditor = mayEditAny(me);
  const search = useStore(desk, (state) => state.search);
  const filter = useStore(desk, (state) => state.filter);
  const chooser = useRef<HTMLInputElement>(null);
  const parents = (): readonly string[] =>
    [...model.nodes.values()].filter(({ level }) => level === "tenant" || level === "project").map(({ id }) => id);
  const save = (): void => {
    saveCsv(`${clusterName}-quotas.csv`, toCsv(model, draft, subjectsInOrder(model)));
  };
  const read = async (files: FileList | null): Promise<void> => {
    const file = files?.[0];
    if (file !== undefined) desk.setState({ file: { name: file.name, content: await file.text() } });
  };
  return (
    <div className={styles.tools}>
      <input
        type="search"
        className={`field ${styles.search}`}
        aria-label={t("quota.search")}
        placeholder={t("quota.search")}
        value={search}
        onChange={(event) => desk.setState({ search: event.target.value })}
      />
      <Segments
        label={t("quota.filter")}
        segments={filters
          .filter((value) => isEditor || value !== "drafts")
          .map((value) => ({ value, label: t(`quota.filter-${value}`) }))}
        value={filter}
        onChange={(value) => desk.setState({ filter: value })}
      />
      <span className="muted">{t("topology.rows", { count })}</span>
      <div className={styles.treeTools}>
        <button type="button" className="button quiet" onClick={() => setExpanded(desk, parents(), true)}>
          {t("quota.expandAll")}
        </button>
        <button type="button" className="button quiet" onClick={() => setExpanded(desk, parents(), false)}>
          {t("quota.collapseAll")}
        </button>
        {isEditor ? (
          <>
            <button type="button" className="button" onClick={() => chooser.current?.click()}>
              {t("quota.import")}
            </button>
            <input
              ref={chooser}
              type="file"
              accept=".csv,text/csv"
              className="visually-hidden"
              tabIndex={-1}
              aria-label={t("quota.import")}
              onChange={(event) => {
                void read(event.target.files);
                event.target.value = "";
              }}
            />
          </>
        ) : null}
        <button type="button" className="button" onClick={save}>
          <DownloadIcon />
          {t("topology.export")}
        </button>
      </div>
    </div>
  );
}
