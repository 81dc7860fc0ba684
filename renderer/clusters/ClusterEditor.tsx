/** Adds or edits a cluster: hosts from ssh config, typed, or from a file; racks by pattern or file, seen at once. */
import { useEffect, useState } from "react";
import type { ClusterInfo, RackRule, SshAlias } from "../../shared/api/contract.ts";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import { openCluster, refreshClusters } from "../app/session.ts";
import { client } from "../client/index.ts";
import { Segments } from "../design/controls.tsx";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useText } from "../i18n/index.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { ControlHost } from "./ControlHost.tsx";
import { type ClusterForm, emptyForm, type FormProblem, formOf, readForm } from "./form.ts";
import { parseHosts } from "./hosts.ts";
import styles from "./page.module.css";
import { parseRackFile, previewRacks } from "./racks.ts";

function useAliases(): readonly SshAlias[] | null {
  const [aliases, setAliases] = useState<readonly SshAlias[] | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    client()
      .request("clusters.sshAliases", {}, controller.signal)
      .then(setAliases, () => setAliases([]));
    return () => controller.abort();
  }, []);
  return aliases;
}

function hostsIn(text: string): readonly string[] {
  const list = parseHosts(text);
  return list.ok ? list.hosts : [];
}

function Aliases({ hosts, onChange }: { readonly hosts: string; readonly onChange: (hosts: string) => void }) {
  const t = useText();
  const aliases = useAliases();
  const present = new Set(hostsIn(hosts));
  if (aliases === null) return null;
  return (
    <div className={styles.field}>
      <span>{t("clusters.aliases")}</span>
      {aliases.length === 0 ? (
        <p className={styles.small}>{t("clusters.noAliases")}</p>
      ) : (
        <ul className={styles.aliases}>
          {aliases.map(({ alias, hostName, file }) => (
            <li key={alias}>
              <button
                type="button"
                className={styles.alias}
                aria-pressed={present.has(alias)}
                title={file}
                onClick={() => {
                  const kept = hosts.split("\n").filter((line) => line.trim() !== alias);
                  onChange(present.has(alias) ? kept.join("\n") : [hosts.trimEnd(), alias].filter(Boolean).join("\n"));
                }}
              >
                <span>
                  {present.has(alias) ? "✓ " : "+ "}
                  {alias}
                </span>
                <span className={styles.small}>{hostName}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function FileButton({
  label,
  onText,
}: {
  readonly label: string;
  readonly onText: (name: string, text: string) => void;
}) {
  return (
    <label className="button">
      {label}
      <input
        className="visually-hidden"
        type="file"
        onChange={async (event) => {
          const input = event.currentTarget;
          const file = input.files?.[0];
          if (file === undefined) return;
          const text = await file.text();
          input.value = "";
          onText(file.name, text);
        }}
      />
    </label>
  );
}

function Racks({
  rule,
  hosts,
  onChange,
}: {
  readonly rule: RackRule;
  readonly hosts: readonly string[];
  readonly onChange: (rule: RackRule) => void;
}) {
  const t = useText();
  const [badLine, setBadLine] = useState<number | null>(null);
  const preview = previewRacks(rule, hosts);
  return (
    <div className={styles.field}>
      <span>{t("clusters.racks")}</span>
      <div className={styles.row}>
        <Segments
          label={t("clusters.racks")}
          value={rule.kind}
          segments={[
            { value: "none", label: t("clusters.racks-none") },
            { value: "pattern", label: t("clusters.racks-pattern") },
            { value: "map", label: t("clusters.racks-map") },
          ]}
          onChange={(kind) => {
            if (kind === rule.kind) return;
            onChange(
              kind === "none" ? { kind } : kind === "pattern" ? { kind, pattern: "^(r\\d+)" } : { kind, racks: {} },
            );
          }}
        />
        {rule.kind === "pattern" ? (
          <input
            className="field mono"
            aria-label={t("clusters.pattern")}
            spellCheck={false}
            value={rule.pattern}
            onChange={(event) => onChange({ kind: "pattern", pattern: event.target.value })}
          />
        ) : null}
        {rule.kind === "map" ? (
          <FileButton
            label={t("clusters.rackFile")}
            onText={(_name, text) => {
              const file = parseRackFile(text, (word) => {
                const list = parseHosts(word);
                return list.ok ? list.hosts : null;
              });
              setBadLine(file.ok ? null : file.line);
              if (file.ok) onChange({ kind: "map", racks: { ...file.racks } });
            }}
          />
        ) : null}
      </div>
      {rule.kind === "pattern" ? <p className={styles.small}>{t("clusters.patternHint")}</p> : null}
      {rule.kind === "map" ? <p className={styles.small}>{t("clusters.rackFileHint")}</p> : null}
      {badLine === null ? null : <p className={styles.bad}>{t("clusters.rackFileBad", { line: badLine })}</p>}
      {rule.kind === "none" || hosts.length === 0 ? null : preview.ok ? (
        <ul className={styles.racks} aria-label={t("clusters.racksPreview")}>
          {preview.racks.map((rack) => (
            <li key={rack.name} title={rack.hosts.join(", ")}>
              <strong>{rack.name}</strong>{" "}
              <span className="muted">{t("common.hosts", { count: rack.hosts.length })}</span>
            </li>
          ))}
          {preview.withoutRack.length === 0 ? null : (
            <li className="muted" title={preview.withoutRack.join(", ")}>
              {t("clusters.withoutRack", { count: preview.withoutRack.length })}
            </li>
          )}
        </ul>
      ) : (
        <p className={styles.bad}>{preview.reason}</p>
      )}
    </div>
  );
}

/** Enough to find it again in the field. */
function shortened(part: string): string {
  return part.length > 60 ? `${part.slice(0, 60)}…` : part;
}

function useProblem(problem: FormProblem | null): string | null {
  const t = useText();
  if (problem === null) return null;
  if (problem.field === "hosts") return t(`clusters.hosts-${problem.problem}`, { part: shortened(problem.part) });
  if (problem.field === "name-taken") return t("clusters.problem-name-taken", { name: problem.name });
  return t(`clusters.problem-${problem.field}`);
}

export function ClusterEditor({
  cluster,
  onDone,
}: {
  /** Null for a new one. */
  readonly cluster: ClusterInfo | null;
  readonly onDone: () => void;
}) {
  const t = useText();
  const [form, setForm] = useState<ClusterForm>(emptyForm);
  const [tried, setTried] = useState(false);
  const [error, setError] = useState<AppErrorData | null>(null);
  const clusterId = cluster?.id ?? null;
  useEffect(() => {
    if (clusterId === null) return;
    const controller = new AbortController();
    client()
      .request("clusters.get", { clusterId }, controller.signal)
      .then(
        (draft) => setForm(formOf(draft)),
        (thrown: unknown) => {
          if (!controller.signal.aborted) setError(toErrorData(thrown));
        },
      );
    return () => controller.abort();
  }, [clusterId]);

  const change = (part: Partial<ClusterForm>) => {
    // What the services said was about the text before.
    setError(null);
    setForm((before) => ({ ...before, ...part }));
  };
  const clusters = useSnapshot((state) => state.clusters);
  const taken = (clusters ?? []).filter(({ id }) => id !== clusterId).map(({ name }) => name);
  const result = readForm(form, taken);
  const list = parseHosts(form.hosts);
  const problem = useProblem(!result.ok && (tried || result.problem.field === "hosts") ? result.problem : null);

  const save = async () => {
    setTried(true);
    if (!result.ok) return;
    setError(null);
    try {
      const saved =
        clusterId === null
          ? await client().request("clusters.add", result.draft)
          : await client().request("clusters.update", { clusterId, draft: result.draft });
      await refreshClusters();
      openCluster(saved.id);
      onDone();
    } catch (thrown) {
      setError(toErrorData(thrown));
    }
  };
  const readFile = async (name: string, content: string) => {
    setError(null);
    try {
      const draft = await client().request("clusters.parseFile", { name, content });
      setForm((before) => ({ ...formOf(draft), name: before.name === "" ? draft.name : before.name }));
    } catch (thrown) {
      setError(toErrorData(thrown));
    }
  };

  return (
    <form
      className={styles.form}
      aria-label={cluster === null ? t("clusters.add") : t("clusters.editTitle", { name: cluster.name })}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <h3>{cluster === null ? t("clusters.add") : t("clusters.editTitle", { name: cluster.name })}</h3>
      <div className={styles.field}>
        <label htmlFor="cluster-name">{t("clusters.name")}</label>
        <input
          id="cluster-name"
          className="field"
          value={form.name}
          onChange={(event) => change({ name: event.target.value })}
        />
      </div>
      <div className={styles.beside}>
        <div className={styles.field}>
          <label htmlFor="cluster-hosts">{t("clusters.hosts")}</label>
          <textarea
            id="cluster-hosts"
            className={`field ${styles.hosts}`}
            spellCheck={false}
            placeholder={"gpu[01-24]\nops@10.0.3.7:2222"}
            aria-describedby="cluster-hosts-hint"
            value={form.hosts}
            onChange={(event) => change({ hosts: event.target.value })}
          />
          <p id="cluster-hosts-hint" className={styles.small}>
            {list.ok && list.hosts.length > 0
              ? [
                  t("common.hosts", { count: list.hosts.length }),
                  list.repeated > 0 ? t("clusters.repeated", { count: list.repeated }) : null,
                ]
                  .filter((part) => part !== null)
                  .join(t("common.separator"))
              : t("clusters.hostsHint")}
          </p>
        </div>
        <Aliases hosts={form.hosts} onChange={(hosts) => change({ hosts })} />
      </div>
      <div className={styles.row}>
        <FileButton label={t("clusters.fromFile")} onText={(name, text) => void readFile(name, text)} />
        <span className={styles.small}>{t("clusters.fromFileHint")}</span>
      </div>
      <Racks rule={form.racks} hosts={list.ok ? list.hosts : []} onChange={(racks) => change({ racks })} />
      <ControlHost
        hosts={list.ok ? list.hosts : []}
        chosen={form.controlHost}
        onChange={(controlHost) => change({ controlHost })}
      />
      <details>
        <summary>{t("clusters.more")}</summary>
        <div className={styles.row}>
          <label htmlFor="cluster-refresh">{t("clusters.refresh")}</label>
          <input
            id="cluster-refresh"
            className={`field ${styles.number}`}
            inputMode="numeric"
            placeholder="5"
            value={form.refreshSeconds}
            onChange={(event) => change({ refreshSeconds: event.target.value })}
          />
          <label htmlFor="cluster-keepalive">{t("clusters.keepalive")}</label>
          <input
            id="cluster-keepalive"
            className={`field ${styles.number}`}
            inputMode="numeric"
            placeholder="15"
            value={form.keepaliveSeconds}
            onChange={(event) => change({ keepaliveSeconds: event.target.value })}
          />
        </div>
      </details>
      {problem === null ? null : (
        <p className={styles.bad} role="alert">
          {problem}
        </p>
      )}
      {error === null ? null : <ErrorText error={error} />}
      <div className={styles.row}>
        <button type="submit" className="button primary">
          {t(cluster === null ? "clusters.addNow" : "common.save")}
        </button>
        <button type="button" className="button" onClick={onDone}>
          {t("common.cancel")}
        </button>
        <span className={styles.small}>{t("clusters.nothingContacted")}</span>
      </div>
    </form>
  );
}
