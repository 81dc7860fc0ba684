/** Who holds the selected slice or GPU, and taking or releasing it: the first thing that a member looks for. */
import { type RefObject, useEffect, useRef, useState } from "react";
import { create, useStore } from "zustand";
import type { HostView } from "../../shared/api/snapshot.ts";
import type { LeaseView } from "../../shared/protocol/control.ts";
import type { Gpu, GpuInstance, Holder } from "../../shared/protocol/inventory.ts";
import { registerKey } from "../app/keys.ts";
import { Key } from "../design/controls.tsx";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { Facts } from "../inspector/Facts.tsx";
import inspector from "../inspector/inspector.module.css";
import { useNow } from "../inspector/now.ts";
import { useOrganisation } from "../stores/control.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { InTheWay } from "./InTheWay.tsx";
import styles from "./leases.module.css";
import { type Leasing, useLeasing } from "./live.ts";
import { endOf, heldAt, leaseOf, type Place, placeKey, projectPath, projectsOf, type Term, terms } from "./model.ts";
import { ReleaseButton } from "./ReleaseButton.tsx";

/** What was chosen last stands there the next time: whoever takes slices takes them for the same. */
const useChoice = create<{ readonly projectId: string; readonly term: Term }>(() => ({
  projectId: "",
  term: "8-hours",
}));

export function LeaseSection({
  host,
  gpu,
  instance,
}: {
  readonly host: HostView;
  readonly gpu: Gpu;
  readonly instance: GpuInstance | null;
}) {
  const leasing = useLeasing();
  // A divided GPU is taken by its instances.
  const isTakable = instance !== null || gpu.mig.current !== "enabled";
  if (leasing === null || gpu.state.kind === "failed" || !isTakable) return null;
  if (leasing.hostId !== host.id) return <Elsewhere leasing={leasing} />;
  const place: Place = { gpuUuid: gpu.uuid, gpuInstanceId: instance?.id ?? null };
  const holder = instance === null ? gpu.holder : instance.holder;
  return <At key={placeKey(place)} place={place} holder={holder} leasing={leasing} />;
}

/** The embedded engine gives out the GPUs of its own machine alone. */
function Elsewhere({ leasing }: { readonly leasing: Leasing }) {
  const t = useText();
  const name = useSnapshot((state) => state.hosts.get(leasing.hostId)?.name ?? "");
  if (leasing.me.projects.length === 0) return null;
  return (
    <section className={`${inspector.section} ${styles.section}`} aria-label={t("lease.title")}>
      <p className="muted">{t("lease.elsewhere", { host: name })}</p>
    </section>
  );
}

function At({
  place,
  holder,
  leasing,
}: {
  readonly place: Place;
  readonly holder: Holder | null;
  readonly leasing: Leasing;
}) {
  const t = useText();
  const now = useNow();
  const { store, me } = leasing;
  const { leases, refused } = useStore(store);
  const section = useRef<HTMLElement>(null);
  useEffect(
    () =>
      registerKey({
        keys: "t",
        title: "lease.key",
        run: () => {
          const button = section.current?.querySelector<HTMLElement>("[data-lease-action]") ?? null;
          button?.focus();
          return button !== null;
        },
      }),
    [],
  );
  // What was refused elsewhere, or before, is no news here.
  useEffect(() => () => store.dismiss(), [store]);
  if (leases === null) return null;
  const lease = leaseOf(heldAt(leases, now), place);
  // Somebody's program without a lease of theirs; one's own may run before one takes it.
  const isOccupied = holder !== null && holder.by !== "lease" && (holder.user === null || holder.user !== me.user);
  const about = refused !== null && [placeKey(place), lease?.id].includes(refused.about) ? refused.error : null;
  if (lease === null && me.projects.length === 0) return null;
  return (
    <section
      ref={section}
      tabIndex={-1}
      className={`${inspector.section} ${styles.section}`}
      aria-label={t("lease.title")}
    >
      {lease !== null ? (
        <Held lease={lease} leasing={leasing} section={section} />
      ) : isOccupied ? (
        <p className="muted">{t("lease.occupied")}</p>
      ) : (
        <Take place={place} leasing={leasing} section={section} />
      )}
      {about === null ? null : <InTheWay error={about} me={me} />}
    </section>
  );
}

interface PartProps {
  readonly leasing: Leasing;
  /** Keeps the focus when the button that was pressed is gone. */
  readonly section: RefObject<HTMLElement | null>;
}

function Held({ lease, leasing, section }: PartProps & { readonly lease: LeaseView }) {
  const t = useText();
  const format = useFormat();
  const now = useNow();
  const organisation = useOrganisation();
  const { user, takenAt, until, subject } = lease;
  return (
    <>
      <Facts
        rows={[
          [t("lease.heldBy"), user ?? t("common.unknown")],
          [t("lease.for"), projectPath(organisation, subject)],
          [
            t("lease.until"),
            until === null ? (
              t("lease.noEnd")
            ) : (
              <span key="until" title={format.exact(until)}>
                {format.clock(until, now)}
              </span>
            ),
          ],
          [
            t("lease.takenAt"),
            <span key="taken" title={format.exact(takenAt)}>
              {t("common.ago", { duration: format.since(takenAt, now) ?? t("common.unknown") })}
            </span>,
          ],
        ]}
      />
      <ReleaseButton lease={lease} leasing={leasing} withKey onDone={() => section.current?.focus()} />
    </>
  );
}

function Take({ place, leasing, section }: PartProps & { readonly place: Place }) {
  const t = useText();
  const format = useFormat();
  const now = useNow();
  const organisation = useOrganisation();
  const { store, me } = leasing;
  const isSending = useStore(store, (state) => state.isSending);
  const choice = useChoice();
  const [opened] = useState(now);
  const projects = projectsOf(me, organisation);
  const project = projects.find(({ id }) => id === choice.projectId) ?? projects[0];
  if (project === undefined) return null;
  const take = async () => {
    const end = endOf(choice.term, Date.now());
    const until = end === null ? {} : { until: new Date(end).toISOString() };
    if (await store.take({ projectId: project.id, ...place, ...until })) section.current?.focus();
  };
  const endWords = (term: Term): string => {
    const end = endOf(term, opened);
    if (end === null) return t("lease.term-open");
    return t("lease.termUntil", {
      term: t(`lease.term-${term}`),
      end: format.clock(new Date(end).toISOString(), opened),
    });
  };
  return (
    <form
      className={styles.take}
      onSubmit={(event) => {
        event.preventDefault();
        void take();
      }}
    >
      {projects.length === 1 ? (
        <p className={styles.line}>
          <span className="muted">{t("lease.for")}</span>
          <span className="truncate">{project.path}</span>
        </p>
      ) : (
        <label className={styles.line}>
          <span className="muted">{t("lease.for")}</span>
          <select
            className="field"
            value={project.id}
            onChange={(event) => useChoice.setState({ projectId: event.target.value })}
          >
            {projects.map(({ id, path }) => (
              <option key={id} value={id}>
                {path}
              </option>
            ))}
          </select>
        </label>
      )}
      <label className={styles.line}>
        <span className="muted">{t("lease.howLong")}</span>
        <select
          className="field"
          value={choice.term}
          onChange={(event) =>
            useChoice.setState({ term: terms.find((term) => term === event.target.value) ?? "8-hours" })
          }
        >
          {terms.map((term) => (
            <option key={term} value={term}>
              {endWords(term)}
            </option>
          ))}
        </select>
      </label>
      <div className={inspector.actions}>
        <button type="submit" className="button primary" disabled={isSending} data-lease-action>
          {t("lease.take")}
        </button>
        <Key>T</Key>
      </div>
    </form>
  );
}
