/** Everything known about one GPU, and the draft of its layout. */
import type { HostView } from "../../shared/api/snapshot.ts";
import { whatFits } from "../../shared/mig/fit.ts";
import type { Layout } from "../../shared/mig/types.ts";
import type { Gpu, GpuInstance } from "../../shared/protocol/inventory.ts";
import { type Format, useFormat } from "../i18n/format.ts";
import { type Translate, useText } from "../i18n/index.ts";
import { LeaseSection } from "../leases/LeaseSection.tsx";
import { useDraft } from "../partition/draft.ts";
import { wantedIn } from "../partition/draft-model.ts";
import { factsOf, type GpuFacts, holderName, isInUse, usersOf } from "../partition/facts.ts";
import { InstanceMenu } from "../partition/InstanceMenu.tsx";
import { useMayPartition } from "../partition/may-partition.ts";
import { Palette } from "../partition/Palette.tsx";
import { Presets } from "../partition/Presets.tsx";
import { useSelection } from "../stores/selection.ts";
import {
  computeInUse,
  eccWords,
  memoryHeld,
  migWords,
  numaWords,
  nvlinkWords,
  ranges,
  xidWords,
} from "./card-facts.ts";
import { emptySince } from "./empty-since.ts";
import { Facts } from "./Facts.tsx";
import { InstanceSection } from "./InstanceSection.tsx";
import styles from "./inspector.module.css";
import { useNow } from "./now.ts";
import { Processes } from "./Processes.tsx";
import { DraftStrip, Strip } from "./Strip.tsx";
import stripStyles from "./strip.module.css";
import { cellsDrafted, cellsNow, freeSlices } from "./strip-model.ts";

/** `slice 1 stays free: a 1g.10gb fits`: the largest that still fits, and how many. */
function freeWords(t: Translate, facts: GpuFacts, wanted: Layout, free: readonly number[]): string {
  if (free.length === 0) return t("inspector.full");
  const largest = whatFits(facts.geometry, wanted)
    .filter((fit) => fit.capacity > 0)
    .map((fit) => ({ ...fit, profile: facts.geometry.profiles.find(({ id }) => id === fit.profileId) }))
    .filter(({ profile }) => profile !== undefined && profile.media === "default" && !profile.graphics)
    .sort(
      (a, b) =>
        (b.profile?.computeSlices ?? 0) - (a.profile?.computeSlices ?? 0) ||
        (b.profile?.memorySlices ?? 0) - (a.profile?.memorySlices ?? 0),
    )[0];
  const fits =
    largest?.profile === undefined
      ? t("inspector.fitsNone")
      : largest.capacity === 1
        ? t("inspector.fitsOne", { profile: largest.profile.name })
        : t("inspector.fitsMany", { count: largest.capacity, profile: largest.profile.name });
  return t("inspector.staysFree", { count: free.length, slices: ranges(free), fits });
}

function allocationWords(t: Translate, holder: NonNullable<GpuInstance["holder"]>): string | null {
  if (holder.allocation === null) return null;
  return holder.by === "job"
    ? t("inspector.job", { allocation: holder.allocation })
    : t("inspector.lease", { allocation: holder.allocation });
}

function holderWords(t: Translate, format: Format, gpu: Gpu, instance: GpuInstance, now: number): string {
  if (instance.holder !== null) {
    const name = holderName(instance.holder) ?? t("inspector.inUseUnknown");
    const allocation = allocationWords(t, instance.holder);
    return allocation === null ? name : t("inspector.holderAllocation", { holder: name, allocation });
  }
  if (isInUse(gpu, instance)) return usersOf(gpu, instance) ?? t("inspector.inUseUnknown");
  if (instance.computeInstances.length === 0) return t("inspector.orphan");
  const since = emptySince(gpu.uuid, instance.placement.start, instance.profileId);
  return since === null
    ? t("inspector.emptyNow")
    : t("inspector.emptySince", { duration: format.duration(now - since) });
}

function Holders({ host, gpu }: { readonly host: HostView; readonly gpu: Gpu }) {
  const t = useText();
  const format = useFormat();
  const now = useNow();
  const select = useSelection((state) => state.select);
  const whole = gpu.holder === null ? null : holderName(gpu.holder);
  if (gpu.instances.length === 0 && whole === null) {
    return <p className="muted">{t("inspector.noInstances")}</p>;
  }
  return (
    <ul className={styles.rows}>
      {whole === null || gpu.holder === null ? null : (
        <li className={styles.row}>
          <span className="muted">{t("inspector.wholeGpu")}</span>
          <span>
            {[whole, allocationWords(t, gpu.holder)].filter((part) => part !== null).join(t("common.separator"))}
          </span>
        </li>
      )}
      {gpu.instances.map((instance) => {
        const words = holderWords(t, format, gpu, instance, now);
        const since = instance.holder?.since ?? null;
        return (
          <li key={instance.id}>
            <button
              type="button"
              className={styles.row}
              title={since === null ? words : `${words}, ${format.exact(since)}`}
              onClick={() =>
                select({ kind: "instance", hostId: host.id, gpuUuid: gpu.uuid, gpuInstanceId: instance.id })
              }
            >
              <span className="muted">
                {t("inspector.at", { profile: instance.profile, start: instance.placement.start })}
              </span>
              <span className="truncate">{words}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function Strips({
  host,
  facts,
  selectedStart,
}: {
  readonly host: HostView;
  readonly facts: GpuFacts;
  readonly selectedStart: number | null;
}) {
  const t = useText();
  const may = useMayPartition();
  const draft = useDraft((state) => state.history.present);
  const select = useSelection((state) => state.select);
  const { gpu, geometry, current } = facts;
  const drafted = may && draft.has(gpu.uuid);
  const wanted = drafted ? wantedIn(draft, facts) : current;
  const slices = geometry.memorySlices;
  const now = cellsNow(facts, drafted ? wanted : null);
  const later = cellsDrafted(facts, wanted);
  const undivided = current.migEnabled
    ? null
    : gpu.holder === null
      ? t("rule.undivided")
      : (holderName(gpu.holder) ?? t("inspector.inUseUnknown"));
  return (
    <div className={styles.strips}>
      <h3>{current.migEnabled ? t("inspector.now", { last: slices - 1 }) : t("inspector.nowUndivided")}</h3>
      <Strip
        label={t("inspector.stripNow")}
        slices={slices}
        cells={now}
        undivided={undivided}
        selectedStart={selectedStart}
        onCell={(cell) => {
          if (cell.gpuInstanceId === null) return;
          select({ kind: "instance", hostId: host.id, gpuUuid: gpu.uuid, gpuInstanceId: cell.gpuInstanceId });
        }}
      />
      {may ? (
        <>
          <h3>{t(drafted ? "inspector.draft" : "inspector.draftSame")}</h3>
          <DraftStrip
            gpuUuid={gpu.uuid}
            label={t("inspector.stripDraft")}
            slices={slices}
            cells={later}
            undivided={wanted.migEnabled ? null : t("rule.undivided")}
            menu={(cell, face, title) => (
              <InstanceMenu facts={facts} cell={cell} face={face} title={title} className={stripStyles.cell} />
            )}
          />
        </>
      ) : null}
      {wanted.migEnabled ? <p className="muted">{freeWords(t, facts, wanted, freeSlices(slices, later))}</p> : null}
    </div>
  );
}

function Card({ host, gpu, facts }: { readonly host: HostView; readonly gpu: Gpu; readonly facts: GpuFacts | null }) {
  const t = useText();
  const format = useFormat();
  const now = useNow();
  const { inventory } = host;
  const power = [format.watts(gpu.power.drawWatts), format.celsius(gpu.temperatureCelsius)].join(t("common.separator"));
  const modes =
    gpu.persistenceMode === null && gpu.computeMode === null
      ? null
      : [
          gpu.persistenceMode === null
            ? t("common.unknown")
            : t(gpu.persistenceMode ? "inspector.on" : "inspector.off"),
          gpu.computeMode ?? t("common.unknown"),
        ].join(t("common.separator"));
  return (
    <Facts
      rows={[
        ...(facts?.current.migEnabled === true
          ? ([
              [t("inspector.computeInUse"), computeInUse(t, facts)],
              [t("inspector.memoryHeld"), memoryHeld(t, format, gpu)],
            ] as const)
          : ([[t("inspector.utilisation"), format.percent(gpu.utilisationPercent)]] as const)),
        [
          t("inspector.memoryUsed"),
          t("inspector.ofTotal", {
            used: format.memory(gpu.memory.usedMiB),
            total: format.memory(gpu.memory.totalMiB),
          }),
        ],
        [t("inspector.power"), power],
        [t("inspector.nvlink"), inventory === null ? null : nvlinkWords(t, gpu, inventory)],
        [t("inspector.numaNic"), inventory === null ? null : numaWords(t, gpu, inventory)],
        [t("inspector.ecc"), eccWords(t, gpu)],
        [t("inspector.repair"), gpu.memoryRepair === null ? null : t(`inspector.repair-${gpu.memoryRepair}`)],
        [
          t("inspector.xid"),
          <span key="xid" title={gpu.xids.map(({ text }) => text).join("\n")}>
            {xidWords(t, format, gpu, now)}
          </span>,
        ],
        [t("inspector.mig"), migWords(t, gpu)],
        [t("inspector.modes"), modes],
        [t("inspector.pci"), gpu.pciBusId],
        [t("inspector.uuid"), <code key="uuid">{gpu.uuid}</code>],
      ]}
    />
  );
}

export function GpuPanel({
  host,
  gpu,
  instance,
}: {
  readonly host: HostView;
  readonly gpu: Gpu;
  /** The selected one of its instances. */
  readonly instance: GpuInstance | null;
}) {
  const t = useText();
  const may = useMayPartition();
  const facts = factsOf(host, gpu);
  const marked = useSelection((state) => state.markedGpus);
  const clearMarks = useSelection((state) => state.clearMarks);
  const many = marked.size > 1 ? [...marked.keys()] : [gpu.uuid];
  return (
    <>
      <h2 className={styles.title}>{gpu.name}</h2>
      {marked.size > 1 ? (
        <p className={styles.marked}>
          {t("inspector.marked", { count: marked.size })}{" "}
          <button type="button" className={styles.link} onClick={clearMarks}>
            {t("inspector.clearMarks")}
          </button>
        </p>
      ) : null}
      <LeaseSection host={host} gpu={gpu} instance={instance} />
      {gpu.state.kind === "failed" ? (
        <p className={styles.bad}>{t("inspector.lost", { words: gpu.state.words })}</p>
      ) : facts === null ? (
        <p className="muted">{t("inspector.undivisible", { model: gpu.name })}</p>
      ) : (
        <>
          <Strips host={host} facts={facts} selectedStart={instance?.placement.start ?? null} />
          {may ? (
            <>
              <Palette facts={facts} />
              <Presets key={gpu.uuid} facts={facts} gpuUuids={many} />
            </>
          ) : null}
        </>
      )}
      {instance === null ? (
        <section className={styles.section}>
          <h3>{t("inspector.holders")}</h3>
          <Holders host={host} gpu={gpu} />
        </section>
      ) : (
        <InstanceSection host={host} gpu={gpu} instance={instance} />
      )}
      <section className={styles.section}>
        <h3>{t("inspector.card")}</h3>
        <Card host={host} gpu={gpu} facts={facts} />
      </section>
      {instance === null ? <Processes processes={gpu.processes} instances={gpu.instances} /> : null}
    </>
  );
}
