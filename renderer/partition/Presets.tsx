/** Changes of a whole GPU, or of all marked ones at once: presets, MIG mode, copying the layout. */
import { useState } from "react";
import { AppError } from "../../shared/errors.ts";
import { longestPreset } from "../../shared/mig/preset.ts";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { type ManyOutcome, useDraft } from "./draft.ts";
import { wantedIn } from "./draft-model.ts";
import { factsFor, type GpuFacts } from "./facts.ts";
import styles from "./partition.module.css";
import { openCopyTo } from "./target-picker.ts";
import { refusalWords } from "./words.ts";

/** Ready presets that make sense on this model: all of the smallest, halves, the mixes that leave no slice over. */
function presetsFor(facts: GpuFacts): readonly string[] {
  const plain = facts.geometry.profiles.filter((profile) => profile.media === "default" && !profile.graphics);
  const named = (computeSlices: number) =>
    plain
      .filter((profile) => profile.computeSlices === computeSlices)
      .toSorted((a, b) => a.memorySlices - b.memorySlices)[0];
  const smallest = named(1);
  const half = named(3) ?? named(2);
  const most = plain.toSorted((a, b) => b.computeSlices - a.computeSlices)[0];
  const presets: string[] = [];
  if (smallest !== undefined) presets.push(`${smallest.maxInstances}x${smallest.name}`);
  if (half !== undefined && half !== most) presets.push(`${half.maxInstances}x${half.name}`);
  if (named(3) !== undefined && named(4) !== undefined) presets.push("3g+4g");
  if (named(3) !== undefined && named(2) !== undefined) presets.push("3g+2g+1g");
  if (most !== undefined) presets.push(`1x${most.name}`);
  presets.push("empty");
  return presets;
}

function Refusals({ outcome }: { readonly outcome: ManyOutcome }) {
  const t = useText();
  const format = useFormat();
  return (
    <ul className={styles.refusals}>
      {outcome.refused.slice(0, 8).map(({ gpuUuid, refusal }) => {
        const facts = factsFor(gpuUuid);
        const { rule, instead } = refusalWords(t, format, refusal, facts);
        return (
          <li key={gpuUuid}>
            {facts === null ? "" : `${facts.hostName} / GPU ${facts.gpu.index}: `}
            {rule} {instead}
          </li>
        );
      })}
      {outcome.refused.length > 8 ? <li>{t("plan.refused", { count: outcome.refused.length })}</li> : null}
    </ul>
  );
}

export function Presets({
  facts,
  gpuUuids,
}: {
  readonly facts: GpuFacts;
  /** The GPUs to change: the selected one, or all that are marked. */
  readonly gpuUuids: readonly string[];
}) {
  const t = useText();
  const [custom, setCustom] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [outcome, setOutcome] = useState<ManyOutcome | null>(null);
  const draft = useDraft((state) => state.history.present);
  const { migEnabled } = wantedIn(draft, facts);
  const many = gpuUuids.length > 1;

  const run = (change: () => ManyOutcome) => {
    try {
      setOutcome(change());
      setProblem(null);
    } catch (error) {
      setOutcome(null);
      setProblem(error instanceof AppError ? `${error.message} ${error.remedy}` : String(error));
    }
  };
  const use = (preset: string) => run(() => useDraft.getState().usePreset(gpuUuids, preset));
  const forgive = () => {
    setProblem(null);
    setOutcome(null);
  };

  return (
    <section className={styles.presets} aria-labelledby="preset-title">
      <h3 id="preset-title">
        {t("preset.title")}
        {many ? <span className="muted"> {t("common.gpus", { count: gpuUuids.length })}</span> : null}
      </h3>
      <div className={styles.chips}>
        {presetsFor(facts).map((preset) => (
          <button key={preset} type="button" className={styles.chip} onClick={() => use(preset)}>
            {preset === "empty" ? t("preset.empty") : preset}
          </button>
        ))}
      </div>
      <form
        className={styles.customPreset}
        onSubmit={(event) => {
          event.preventDefault();
          if (custom.length > longestPreset) {
            forgive();
            setProblem(t("preset.tooLong", { most: longestPreset }));
          } else if (custom.trim() !== "") use(custom);
        }}
      >
        <input
          className="field"
          aria-label={t("preset.label")}
          placeholder={t("preset.custom")}
          spellCheck={false}
          value={custom}
          onChange={(event) => {
            // What was said of the text before is not said of this one.
            forgive();
            setCustom(event.target.value);
          }}
          onKeyDown={(event) => {
            // An empty field submits nothing, as its button is off.
            if (event.key === "Enter" && custom.trim() === "") forgive();
          }}
        />
        <button type="submit" className="button" disabled={custom.trim() === ""}>
          {many ? t("preset.useMany", { gpus: t("common.gpus", { count: gpuUuids.length }) }) : t("preset.use")}
        </button>
      </form>
      {problem === null ? null : <p className={styles.problem}>{problem}</p>}
      {outcome === null || outcome.refused.length === 0 ? null : (
        <div className={styles.problem}>
          {outcome.changed > 0 ? <p>{t("preset.changed", { count: outcome.changed })}</p> : null}
          <Refusals outcome={outcome} />
        </div>
      )}
      <div className={styles.links}>
        {many ? (
          <button
            type="button"
            className={styles.link}
            onClick={() => run(() => useDraft.getState().copyTo(facts.gpu.uuid, gpuUuids))}
          >
            {t("preset.copyMarked")}
          </button>
        ) : (
          <button type="button" className={styles.link} onClick={() => openCopyTo(facts.gpu.uuid)}>
            {t("preset.copyTo")}
          </button>
        )}
        <button
          type="button"
          className={styles.link}
          onClick={() => run(() => useDraft.getState().setMig(gpuUuids, !migEnabled))}
        >
          {migEnabled ? t("preset.migOff") : t("preset.migOn")}
        </button>
      </div>
    </section>
  );
}
