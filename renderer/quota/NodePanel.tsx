/** The selected row: what limits it up to the cluster and who can change that, and what runs and waits below it. */
import { memo, useDeferredValue, useEffect, useMemo, useState } from "react";
import { useStore } from "zustand";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import { parseSubject } from "../../shared/organisation/subject.ts";
import type { AllocationView, WaitReason } from "../../shared/protocol/control.ts";
import { type Fraction, type QuotaLevel, type Resource, toWords, usageOf } from "../../shared/quota/index.ts";
import { go } from "../app/views.ts";
import { TenantSwatch } from "../board/Swatch.tsx";
import { client } from "../client/index.ts";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useFormat } from "../i18n/format.ts";
import { type Translate, useText } from "../i18n/index.ts";
import { askArgument } from "../requests/form.ts";
import { tenantMark } from "../stores/colouring.ts";
import { CopyTenant } from "./CopyTenant.tsx";
import { maySeeFigures } from "./draft.ts";
import { GpuTypes } from "./GpuTypes.tsx";
import { LookContext, useLook } from "./look.ts";
import { type QuotaModel, resourceOf } from "./model.ts";
import styles from "./quota.module.css";
import type { QuotaSelection } from "./selection.ts";
import { Unseen } from "./TableCell.tsx";
import { amountWords, exactWords, levelWords, nodeName, resourceWords, unitWords } from "./words.ts";

const listed = 50;

/** A frame later than the table and the draft, which must not wait for it. */
export function NodePanel() {
  const look = useDeferredValue(useLook());
  const cursor = useDeferredValue(useStore(look.desk, (state) => state.selection.cursor));
  return (
    <LookContext value={look}>
      <NodeOf cursor={cursor} />
    </LookContext>
  );
}

const NodeOf = memo(function NodeOf({ cursor }: { readonly cursor: QuotaSelection["cursor"] }) {
  const t = useText();
  const { model, me } = useLook();
  const node = cursor === null ? undefined : model.nodes.get(cursor.subject);
  if (cursor === null || node === undefined) {
    return <p className={`muted ${styles.hint}`}>{t("quota.chooseRow")}</p>;
  }
  const subject = parseSubject(node.id);
  const tenantId = subject === null || subject.level === "cluster" ? null : subject.tenantId;
  const isOwn = me.role === "member" || (me.role === "lead" && (tenantId === null || !me.leads.includes(tenantId)));
  const asksForMore = node.level !== "cluster" && (isOwn || (me.role === "lead" && node.level === "tenant"));
  const asked = resourceOf(model.tree, node.id, cursor.column) ?? "cards";
  return (
    <div className={styles.node}>
      <div>
        <p className="muted">{levelWords(t, node.level)}</p>
        <h2 className={styles.nodeTitle}>
          {tenantId === null ? null : <TenantSwatch mark={tenantMark(nodeName(t, model, tenantId))} />}
          <span className="truncate" title={node.id}>
            {nodeName(t, model, node.id)}
          </span>
        </h2>
      </div>
      <Chain id={node.id} resource={resourceOf(model.tree, node.id, cursor.column)} />
      <GpuTypes key={`types ${node.id}`} id={node.id} />
      {asksForMore ? (
        <div className={styles.actions}>
          <button
            type="button"
            className="button"
            onClick={() => go("requests", askArgument({ subject: node.id, resource: asked, amount: "1" }))}
          >
            {t("quota.askForMore")}
          </button>
        </div>
      ) : null}
      {node.level === "tenant" ? <CopyTenant target={node.id} /> : null}
      <Work id={node.id} />
    </div>
  );
});

/** From a node up to the cluster. */
function wayUp(model: QuotaModel, id: string): readonly string[] {
  const ids: string[] = [];
  for (let at = model.nodes.get(id); at !== undefined; ) {
    ids.push(at.id);
    at = at.parentId === null ? undefined : model.nodes.get(at.parentId);
  }
  return ids;
}

/** Of one resource: each level with its limit and use. The one that stops first is marked. */
function Chain({ id, resource }: { readonly id: string; readonly resource: Resource | null }) {
  const t = useText();
  const format = useFormat();
  const { model, tree, me } = useLook();
  if (!maySeeFigures(me, id)) return <p className="muted">{t("quota.unseen")}</p>;
  if (resource === null) return <p className="muted">{t("quota.noLimit")}</p>;
  const levels = wayUp(model, id).map((nodeId) => {
    const position = tree.positions.get(nodeId) ?? 0;
    const limit = tree.limits[position]?.get(resource) ?? null;
    const used = usageOf(tree, nodeId, resource);
    const free = limit === null ? null : limit.numerator / limit.denominator - used.numerator / used.denominator;
    return { nodeId, level: tree.nodes[position]?.level ?? "cluster", limit, used, free };
  });
  const least = Math.min(...levels.map(({ free }) => free ?? Number.POSITIVE_INFINITY));
  const stops = levels.find(({ free }) => free === least)?.nodeId;
  return (
    <section className={styles.part}>
      <h3>{t("quota.chain", { resource: resourceWords(t, resource) })}</h3>
      <ol className={styles.chain}>
        {levels.map(({ nodeId, level, limit, used }) => (
          <li key={nodeId} data-stops={nodeId === stops && limit !== null ? "" : undefined}>
            <span className="truncate" title={nodeId}>
              {nodeName(t, model, nodeId)}
            </span>
            {maySeeFigures(me, nodeId) ? (
              <span title={chainTitle(t, resource, used, limit)}>
                {amountWords(format, used, "up")} /{" "}
                {limit === null ? t("quota.unlimited") : amountWords(format, limit, "down")}
              </span>
            ) : (
              <Unseen />
            )}
            <span className="muted">{changedBy(t, level)}</span>
          </li>
        ))}
      </ol>
      {stops === undefined || least === Number.POSITIVE_INFINITY ? (
        <p className="muted">{t("quota.nobodyLimits")}</p>
      ) : (
        <p className="muted">{t("quota.stopsFirst", { name: nodeName(t, model, stops) })}</p>
      )}
    </section>
  );
}

function chainTitle(t: Translate, resource: Resource, used: Fraction, limit: Fraction | null): string {
  const lines = [t("quota.usedExact", { amount: exactWords(t, resource, used) })];
  if (limit !== null) lines.push(t("quota.limitExact", { amount: exactWords(t, resource, limit) }));
  return lines.join("\n");
}

function changedBy(t: ReturnType<typeof useText>, level: QuotaLevel): string {
  return t(level === "project" || level === "person" ? "quota.byLead" : "quota.byAdministrator");
}

function Work({ id }: { readonly id: string }) {
  const t = useText();
  const { answer } = useLook();
  const below = useMemo(() => {
    if (id === "cluster") return answer.allocations;
    const [project, person] = [`${id}_`, `${id}/`];
    return answer.allocations.filter(
      ({ subject }) =>
        subject !== null && (subject === id || subject.startsWith(project) || subject.startsWith(person)),
    );
  }, [answer, id]);
  const waiting = below.filter(({ state }) => state === "waiting");
  const running = below.filter(({ state }) => state === "running");
  return (
    <>
      <WorkList title={t("quota.waiting", { count: waiting.length })} work={waiting} />
      <WorkList title={t("quota.running", { count: running.length })} work={running} />
    </>
  );
}

function WorkList({ title, work }: { readonly title: string; readonly work: readonly AllocationView[] }) {
  const t = useText();
  return (
    <section className={styles.part}>
      <h3>{title}</h3>
      <ul className={styles.work}>
        {work.slice(0, listed).map((each) => (
          <Allocation key={each.id} allocation={each} />
        ))}
        {work.length > listed ? <li className="muted">{t("quota.more", { count: work.length - listed })}</li> : null}
      </ul>
    </section>
  );
}

function Allocation({ allocation }: { readonly allocation: AllocationView }) {
  const t = useText();
  const format = useFormat();
  const { id, kind, user, name, state, cards, startedAt, hosts, reason, subject } = allocation;
  const now = Date.now();
  const detail = [
    user ?? "",
    unitWords(t, "cards", cards, amountWords(format, cards, "up")),
    hosts ?? "",
    state === "running" ? (format.since(startedAt, now) ?? "") : (reason ?? ""),
  ].filter((part) => part !== "");
  return (
    <li>
      <span className={styles.workName}>
        <span className="truncate" title={name}>
          {name === "" ? t(`quota.kind-${kind}`) : name}
        </span>
        <span className="muted">{id}</span>
      </span>
      <span
        className={`muted ${styles.small}`}
        title={[exactWords(t, "cards", cards), startedAt === null ? "" : format.exact(startedAt)]
          .filter((part) => part !== "")
          .join("\n")}
      >
        {detail.join(t("common.separator"))}
      </span>
      {state === "waiting" && subject !== null ? <Why subject={subject} allocationId={id} /> : null}
    </li>
  );
}

/** Why something waits, asked of the engine when somebody wants to know. */
function Why({ subject, allocationId }: { readonly subject: string; readonly allocationId: string }) {
  const t = useText();
  const format = useFormat();
  const { clusterId, answer } = useLook();
  const [asked, setAsked] = useState(false);
  const [found, setFound] = useState<WaitReason | null>(null);
  const [error, setError] = useState<AppErrorData | null>(null);
  // A newer answer about the quotas is a reason to ask again.
  useEffect(() => {
    if (!asked || answer.revision < 0) return;
    const end = new AbortController();
    client()
      .request("quota.explain", { clusterId, input: { subject, allocationId } }, end.signal)
      .then(
        (reason) => {
          if (end.signal.aborted) return;
          setFound(reason);
          setError(null);
        },
        (thrown: unknown) => {
          if (!end.signal.aborted) setError(toErrorData(thrown));
        },
      );
    return () => end.abort();
  }, [asked, clusterId, subject, allocationId, answer]);
  if (!asked) {
    return (
      <button type="button" className={styles.link} onClick={() => setAsked(true)}>
        {t("quota.why")}
      </button>
    );
  }
  return (
    <div className={styles.why} role="status">
      {error === null ? null : <ErrorText error={error} />}
      {found === null ? (
        error === null ? (
          <p className="muted">{t("quota.asking")}</p>
        ) : null
      ) : (
        <>
          <p>{found.sentence}</p>
          {found.blockers.length === 0 ? null : (
            <ul>
              {found.blockers.map((blocker) => (
                <li key={`${blocker.subject} ${blocker.resource}`} title={toWords(blocker.missing)}>
                  {t(blocker.subject === null && blocker.name === "" ? "quota.blockerUnseen" : "quota.blocker", {
                    level: levelWords(t, blocker.level),
                    name: blocker.name,
                    resource: resourceWords(t, blocker.resource),
                    used: amountWords(format, blocker.used, "up"),
                    limit: amountWords(format, blocker.limit, "down"),
                    missing: amountWords(format, blocker.missing, "up"),
                  })}
                  <span className="muted">
                    {" "}
                    {t(blocker.changedBy === "lead" ? "quota.byLead" : "quota.byAdministrator")}
                  </span>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </div>
  );
}
