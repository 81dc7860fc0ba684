/** Fields that asking and deciding share: amounts by resource, and until when. */
import { useId, useState } from "react";
import { longestGrantMs, parseFraction, type Resource, toDecimal } from "../../shared/quota/index.ts";
import { Segments } from "../design/controls.tsx";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { type AmountTexts, minuteOf, minuteText, type ReadAmounts, untilFault } from "./form.ts";
import { type UntilPreset, untilOf } from "./model.ts";
import styles from "./requests.module.css";
import { resourceWords } from "./words.ts";

export function AmountFields({
  resources,
  texts,
  faults,
  onChange,
}: {
  readonly resources: readonly Resource[];
  readonly texts: AmountTexts;
  readonly faults: ReadAmounts["faults"];
  readonly onChange: (texts: AmountTexts) => void;
}) {
  const t = useText();
  const id = useId();
  return (
    <div className={styles.amounts}>
      {resources.map((resource) => (
        <label key={resource}>
          <span className="truncate" title={resourceWords(t, resource)}>
            {resourceWords(t, resource)}
          </span>
          <input
            className="field"
            inputMode="decimal"
            autoComplete="off"
            aria-invalid={faults.has(resource)}
            aria-describedby={faults.has(resource) ? `${id}-${resource}` : undefined}
            title={decimalTitle(texts[resource])}
            value={texts[resource] ?? ""}
            onChange={(event) => onChange({ ...texts, [resource]: event.target.value })}
          />
          {faults.has(resource) ? (
            <span id={`${id}-${resource}`} className={styles.fault}>
              {faults.get(resource) ?? t("requests.noNumber")}
            </span>
          ) : null}
        </label>
      ))}
    </div>
  );
}

/** What a fraction that was written comes to; nothing where it says so itself. */
function decimalTitle(text = ""): string | undefined {
  const amount = text.includes("/") ? parseFraction(text) : null;
  return amount === null ? undefined : toDecimal(amount, 2, "nearest").text;
}

const presets: readonly UntilPreset[] = ["today", "3-days", "2-weeks"];

export function UntilField({
  untilMs,
  now,
  onChange,
}: {
  readonly untilMs: number;
  readonly now: number;
  readonly onChange: (untilMs: number) => void;
}) {
  const t = useText();
  const format = useFormat();
  const id = useId();
  const until = new Date(untilMs).toISOString();
  const fault = untilFault(untilMs, now);
  // Once somebody wants a time of their own the field stays, whatever time it holds.
  const [isOwnTime, setOwnTime] = useState(() => !presets.some((each) => untilOf(each, now) === untilMs));
  const preset = isOwnTime ? undefined : presets.find((each) => untilOf(each, now) === untilMs);
  return (
    <div className={styles.until}>
      <Segments
        label={t("requests.until")}
        segments={[...presets, "time" as const].map((value) => ({ value, label: t(`requests.until-${value}`) }))}
        value={preset ?? "time"}
        onChange={(value) => {
          setOwnTime(value === "time");
          if (value !== "time") onChange(untilOf(value, now));
        }}
      />
      {preset === undefined ? (
        <input
          className="field"
          type="datetime-local"
          aria-label={t("requests.ends")}
          min={minuteText(now)}
          max={minuteText(now + longestGrantMs)}
          aria-invalid={fault !== null}
          aria-describedby={fault === null ? undefined : id}
          value={minuteText(untilMs)}
          onChange={(event) => onChange(minuteOf(event.target.value) ?? untilMs)}
        />
      ) : null}
      <span className="muted" title={format.exact(until)}>
        {t("requests.endsAt", { time: format.clock(until, now) })}
      </span>
      {fault === null ? null : (
        <span id={id} className={styles.fault}>
          {t(`requests.until-${fault}`, { latest: format.clock(new Date(now + longestGrantMs).toISOString(), now) })}
        </span>
      )}
    </div>
  );
}
