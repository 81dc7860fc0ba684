/** Numbers, sizes and times in the reader's language. What is not known says so, and never looks like zero. */
import { type Language, textIn, useLanguage } from "./index.ts";

export interface Format {
  number(value: number, digits?: number): string;
  percent(value: number | null): string;
  /** MiB as the reader knows it from the driver: whole GiB where large. */
  memory(mib: number | null): string;
  watts(value: number | null): string;
  celsius(value: number | null): string;
  /** `3 h`, `2 min`, `19 s`: one unit, for dense rows. */
  duration(milliseconds: number): string;
  /** `42 ms`, `1.8 s`, for measured times. */
  measured(milliseconds: number): string;
  /** How long ago, as a duration; null where the time is not known. */
  since(iso: string | null, now: number): string | null;
  /** Clock time, with the date where it is not today, and the year where it is not this one. */
  clock(iso: string, now: number): string;
  /** Clock time to the second. */
  time(iso: string): string;
  /** The exact time, for tooltips. */
  exact(iso: string): string;
  list(parts: readonly string[]): string;
}

const units = [
  { unit: "day", ms: 86_400_000 },
  { unit: "hour", ms: 3_600_000 },
  { unit: "minute", ms: 60_000 },
  { unit: "second", ms: 1_000 },
] as const;

function build(language: Language): Format {
  const t = textIn(language);
  const unknown = t("common.unknown");
  const numbers = [0, 1, 2].map((digits) => new Intl.NumberFormat(language, { maximumFractionDigits: digits }));
  const time = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const seconds = new Intl.DateTimeFormat(language, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  });
  const inThisYear = {
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  } as const;
  const dateTime = new Intl.DateTimeFormat(language, inThisYear);
  const yearToo = new Intl.DateTimeFormat(language, { year: "numeric", ...inThisYear });
  const exact = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "long", hourCycle: "h23" });
  const conjunction = new Intl.ListFormat(language, { type: "conjunction", style: "long" });

  const number = (value: number, digits = 0): string => (numbers[digits] ?? numbers[2])?.format(value) ?? String(value);
  const known = (value: number | null, write: (value: number) => string): string =>
    value === null || !Number.isFinite(value) ? unknown : write(value);

  const duration = (milliseconds: number): string => {
    const positive = Math.max(0, milliseconds);
    const { unit, ms } = units.find((candidate) => positive >= candidate.ms) ?? units[3];
    return t(`time.${unit}`, { value: number(Math.floor(positive / ms)) });
  };

  return {
    number,
    percent: (value) => known(value, (v) => `${number(v)} %`),
    memory: (mib) =>
      known(mib, (v) => (v >= 1024 ? `${number(v / 1024, v >= 10_240 ? 0 : 1)} GiB` : `${number(v)} MiB`)),
    watts: (value) => known(value, (v) => `${number(v)} W`),
    celsius: (value) => known(value, (v) => `${number(v)} °C`),
    duration,
    measured: (milliseconds) =>
      milliseconds < 1_000 ? `${number(milliseconds)} ms` : `${number(milliseconds / 1_000, 1)} s`,
    since: (iso, now) => {
      if (iso === null) return null;
      const at = Date.parse(iso);
      return Number.isNaN(at) ? null : duration(now - at);
    },
    clock: (iso, now) => {
      const at = new Date(iso);
      if (Number.isNaN(at.getTime())) return unknown;
      const today = new Date(now);
      if (at.toDateString() === today.toDateString()) return time.format(at);
      return (at.getFullYear() === today.getFullYear() ? dateTime : yearToo).format(at);
    },
    time: (iso) => {
      const at = new Date(iso);
      return Number.isNaN(at.getTime()) ? unknown : seconds.format(at);
    },
    exact: (iso) => {
      const at = new Date(iso);
      return Number.isNaN(at.getTime()) ? unknown : exact.format(at);
    },
    // Intl's Chinese list ends in 和 without a space, which runs into the Latin names of profiles and teams.
    list: (parts) => (language === "zh-CN" ? parts.join("、") : conjunction.format(parts)),
  };
}

const formats: Partial<Record<Language, Format>> = {};

export function formatIn(language: Language): Format {
  const ready = formats[language] ?? build(language);
  formats[language] = ready;
  return ready;
}

export function useFormat(): Format {
  return formatIn(useLanguage());
}
