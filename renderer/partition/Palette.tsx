/** The profiles that this GPU knows. Drag one onto a placement, or press it and choose a place with the arrows. */
import { draggable } from "@atlaskit/pragmatic-drag-and-drop/element/adapter";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { GpuInstanceProfile } from "../../shared/mig/types.ts";
import { Key } from "../design/controls.tsx";
import { type Format, useFormat } from "../i18n/format.ts";
import { type Translate, useText } from "../i18n/index.ts";
import { useDraft } from "./draft.ts";
import { wantedIn } from "./draft-model.ts";
import { place } from "./edits.ts";
import type { GpuFacts } from "./facts.ts";
import { pickUp } from "./keyboard.ts";
import styles from "./partition.module.css";
import { openMoveTo } from "./target-picker.ts";
import { whyNowhere } from "./words.ts";

interface Offer {
  readonly profile: GpuInstanceProfile;
  /** Starts at which it may lie. */
  readonly starts: readonly number[];
}

function describe(t: Translate, format: Format, { profile, starts }: Offer): string {
  return [
    t("palette.size", {
      count: profile.memorySlices,
      memory: format.memory(profile.memoryMiB),
      compute: profile.computeSlices,
    }),
    profile.media === "default" ? null : t(`palette.media-${profile.media}`),
    profile.graphics ? t("palette.graphics") : null,
    starts.length === 0
      ? null
      : t("palette.fits", { count: starts.length, profile: profile.name, starts: format.list(starts.map(String)) }),
  ]
    .filter((part) => part !== null)
    .join("; ");
}

function Chip({
  facts,
  offer,
  onAttend,
}: {
  readonly facts: GpuFacts;
  readonly offer: Offer;
  readonly onAttend: (profileId: number | null) => void;
}) {
  const t = useText();
  const format = useFormat();
  const ref = useRef<HTMLButtonElement>(null);
  const { profile, starts } = offer;
  const { id, name } = profile;
  const held = useDraft(({ drag }) => drag?.kind === "profile" && drag.profile === name);
  const impossible = starts.length === 0;
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    return draggable({
      element,
      getInitialData: () => ({ tessera: "profile", profileId: id }),
      onDragStart: () => useDraft.getState().begin({ kind: "profile", profileId: id, profile: name }),
      // This comes before the drop target's own onDrop: a drop that took place leaves nothing to cancel.
      onDrop: () => setTimeout(() => useDraft.getState().cancel(), 0),
    });
  }, [id, name]);
  return (
    <button
      ref={ref}
      type="button"
      className={styles.chip}
      data-profile={name}
      data-profile-id={id}
      data-impossible={impossible ? "" : undefined}
      aria-pressed={held}
      aria-describedby={impossible ? "palette-reason" : undefined}
      title={describe(t, format, offer)}
      onFocus={() => onAttend(id)}
      onBlur={() => onAttend(null)}
      onPointerEnter={() => onAttend(id)}
      onPointerLeave={() => onAttend(null)}
      onContextMenu={(event) => {
        event.preventDefault();
        openMoveTo({ kind: "profile", profileId: id, profile: name });
      }}
      onClick={() => pickUp({ kind: "profile", profileId: id, profile: name }, facts.gpu.uuid)}
    >
      {name}
    </button>
  );
}

/** Before anything is picked up, left and right go from profile to profile; afterwards they aim. */
function walkChips(event: KeyboardEvent<HTMLDivElement>): void {
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (step === 0 || useDraft.getState().drag !== null) return;
  const chips = [...event.currentTarget.querySelectorAll("button")];
  const at = event.target instanceof HTMLButtonElement ? chips.indexOf(event.target) : -1;
  chips[(at + step + chips.length) % chips.length]?.focus();
  event.preventDefault();
  event.stopPropagation();
}

export function Palette({ facts }: { readonly facts: GpuFacts }) {
  const t = useText();
  const format = useFormat();
  const draft = useDraft((state) => state.history.present);
  const byKeyboard = useDraft((state) => state.byKeyboard);
  const [attended, attend] = useState<number | null>(null);
  const layout = wantedIn(draft, facts);
  const offers = facts.geometry.profiles
    .map((profile): Offer => {
      const starts = facts.heldWhole
        ? []
        : profile.starts.filter((start) => place(facts.geometry, layout, profile.id, start).ok);
      return { profile, starts };
    })
    .sort(
      (a, b) =>
        a.profile.computeSlices - b.profile.computeSlices ||
        a.profile.memorySlices - b.profile.memorySlices ||
        a.profile.name.length - b.profile.name.length,
    );
  const looked = offers.find((offer) => offer.profile.id === attended);
  const refusing = looked ?? offers.find((offer) => offer.starts.length === 0 && offer.profile.media === "default");
  const reason =
    refusing === undefined
      ? ""
      : refusing.starts.length === 0
        ? whyNowhere(t, format, facts, layout, refusing.profile)
        : describe(t, format, refusing);
  return (
    <section className={styles.palette} aria-labelledby="palette-title" data-palette="">
      <h3 id="palette-title">
        {t("palette.title")} <Key>M</Key>
      </h3>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the arrows go from button to button in it */}
      <div className={styles.chips} onKeyDown={walkChips}>
        {offers.map((offer) => (
          <Chip key={offer.profile.id} facts={facts} offer={offer} onAttend={attend} />
        ))}
      </div>
      <p id="palette-reason" className={styles.reason}>
        {byKeyboard ? t("palette.keysHint") : reason}
      </p>
    </section>
  );
}
