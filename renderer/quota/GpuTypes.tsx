/** Limits on GPU types of the selected row. They have no column: types are chosen from those that the cluster has. */
import { useMemo, useRef, useState } from "react";
import {
  type Fraction,
  fraction,
  type LimitFault,
  partsOfResource,
  toWords,
  usageOf,
} from "../../shared/quota/index.ts";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { ownLimits } from "./draft.ts";
import { writeGpuType } from "./edits.ts";
import { choosableTypes, inventoryTypes, namedTypes } from "./gpu-types.ts";
import { useLook } from "./look.ts";
import styles from "./quota.module.css";
import { amountWords } from "./words.ts";

interface TypeLimit {
  readonly gpuType: string;
  readonly used: Fraction;
  /** With what grants add. */
  readonly inForce: Fraction | null;
  readonly own: Fraction | null;
}

function useTypeLimits(id: string): readonly TypeLimit[] {
  const { model, tree, draft } = useLook();
  return useMemo(() => {
    const own = ownLimits(model, draft, id).gpuTypes ?? {};
    const inForce = new Map<string, Fraction>();
    for (const [resource, limit] of tree.limits[tree.positions.get(id) ?? -1] ?? []) {
      const parts = partsOfResource(resource);
      if (parts?.kind === "gpuType") inForce.set(parts.gpuType, limit);
    }
    return [...new Set([...inForce.keys(), ...Object.keys(own)])].toSorted().map((gpuType) => ({
      gpuType,
      used: usageOf(tree, id, `gpuType:${gpuType}`),
      inForce: inForce.get(gpuType) ?? null,
      own: own[gpuType] ?? null,
    }));
  }, [model, tree, draft, id]);
}

export function GpuTypes({ id }: { readonly id: string }) {
  const t = useText();
  const format = useFormat();
  const { mayEdit } = useLook();
  const limits = useTypeLimits(id);
  const [added, setAdded] = useState<string | null>(null);
  const isEditor = mayEdit(id);
  if (limits.length === 0 && !isEditor) return null;
  const isNew = added !== null && !limits.some(({ gpuType }) => gpuType === added);
  const rows: readonly TypeLimit[] = isNew
    ? [...limits, { gpuType: added, used: fraction(0), inForce: null, own: null }]
    : limits;
  return (
    <section className={styles.part} aria-labelledby="quota-gpu-types">
      <h3 id="quota-gpu-types">{t("quota.gpuTypes")}</h3>
      <dl className={`facts ${styles.types}`}>
        {rows.map((row) => (
          <div key={row.gpuType} className={styles.factRow}>
            <dt className="truncate" title={row.gpuType}>
              {row.gpuType}
            </dt>
            <dd>
              {amountWords(format, row.used, "up")} /{" "}
              {isEditor ? (
                <TypeField id={id} limit={row} isNew={row.gpuType === added} onDone={() => setAdded(null)} />
              ) : (
                amountWords(format, row.inForce ?? fraction(0), "down")
              )}
            </dd>
          </div>
        ))}
      </dl>
      {isEditor ? <AddType taken={rows} onAdd={setAdded} /> : null}
    </section>
  );
}

function AddType({
  taken,
  onAdd,
}: {
  readonly taken: readonly TypeLimit[];
  readonly onAdd: (gpuType: string) => void;
}) {
  const t = useText();
  const { answer } = useLook();
  const hosts = useSnapshot((state) => state.hosts);
  const named = useMemo(() => namedTypes(answer), [answer]);
  const inventory = useMemo(() => inventoryTypes(hosts.values()), [hosts]);
  const types = useMemo(() => choosableTypes(named, inventory), [named, inventory]);
  const free = types.filter((type) => !taken.some(({ gpuType }) => gpuType === type));
  if (free.length === 0) return null;
  return (
    <label className={styles.labelled}>
      <span className="muted">{t("quota.addGpuType")}</span>
      <select
        className="field"
        value=""
        onChange={(event) => {
          if (event.target.value !== "") onAdd(event.target.value);
        }}
      >
        <option value="">{t("quota.chooseGpuType")}</option>
        {free.map((type) => (
          <option key={type} value={type}>
            {type}
          </option>
        ))}
      </select>
    </label>
  );
}

interface TypeFieldProps {
  readonly id: string;
  readonly limit: TypeLimit;
  /** Has just been chosen, and is written into at once. */
  readonly isNew: boolean;
  readonly onDone: () => void;
}

/** Enter or leaving takes what is written, an empty field takes the limit away, Escape leaves it as it was. */
function TypeField({ id, limit, isNew, onDone }: TypeFieldProps) {
  const t = useText();
  const { model, store } = useLook();
  const standing = limit.own === null ? "" : toWords(limit.own);
  const [written, setWritten] = useState<string | null>(null);
  const [fault, setFault] = useState<LimitFault | null>(null);
  const isLeft = useRef(false);
  const take = (text: string): void => {
    if (text.trim() !== standing) {
      // What is drawn here may be a frame older than the draft.
      const own = ownLimits(model, store.getState().history.present, id);
      const next = writeGpuType(own, limit.gpuType, text);
      if (!next.ok) {
        setFault(next.fault);
        return;
      }
      store.edit([{ nodeId: id, limits: next.limits }]);
    }
    setWritten(null);
    setFault(null);
    onDone();
  };
  const faultId = `quota-type-fault-${limit.gpuType}`;
  return (
    <>
      <input
        className={`field ${styles.typeLimit}`}
        // biome-ignore lint/a11y/noAutofocus: it was chosen in order to write its limit
        autoFocus={isNew}
        aria-label={t("quota.gpuTypeLimit", { type: limit.gpuType })}
        aria-invalid={fault !== null}
        aria-describedby={fault === null ? undefined : faultId}
        placeholder={t("quota.unlimited")}
        autoComplete="off"
        value={written ?? standing}
        onChange={(event) => {
          setWritten(event.target.value);
          setFault(null);
        }}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) take(event.currentTarget.value);
          if (event.key !== "Escape") return;
          event.stopPropagation();
          isLeft.current = true;
          setWritten(null);
          setFault(null);
          onDone();
        }}
        onBlur={(event) => {
          // Escape of a type that was only just chosen takes its field away.
          if (!isLeft.current) take(event.target.value);
          isLeft.current = false;
        }}
      />
      {fault === null ? null : (
        <p id={faultId} className={styles.problem} role="alert">
          {t(`quota.fault-${fault}`)}
        </p>
      )}
    </>
  );
}
