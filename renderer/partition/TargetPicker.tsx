/** 'Move to…' and 'Copy to…': the places that fit, as a list that can be filtered, for whoever does not drag. */
import { useMemo, useState } from "react";
import { Dialog, Heading, ListBox, ListBoxItem, Modal, ModalOverlay, type Selection } from "react-aria-components";
import { type Translate, useText } from "../i18n/index.ts";
import { useSelection } from "../stores/selection.ts";
import { type DragSource, useDraft } from "./draft.ts";
import { factsFor, type GpuFacts } from "./facts.ts";
import styles from "./partition.module.css";
import { closePicker, copyPlaces, type MovePlace, movePlaces, usePicker } from "./target-picker.ts";

const shown = 200;

function placeName(facts: GpuFacts): string {
  return `${facts.hostName} / GPU ${facts.gpu.index}`;
}

function matches(facts: GpuFacts, filter: string): boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const name = `${placeName(facts)} ${facts.gpu.name}`.toLowerCase();
  return words.every((word) => name.includes(word));
}

function effect(t: Translate, place: MovePlace): string {
  const parts = [
    place.swapsWith === null ? null : t("target.swaps", { profile: place.swapsWith }),
    place.replaces === 0 ? null : t("target.replaces", { count: place.replaces }),
    place.enablesMig ? t("target.enablesMig") : null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? t("target.free") : parts.join(", ");
}

function Filter({ value, onChange }: { readonly value: string; readonly onChange: (value: string) => void }) {
  const t = useText();
  return (
    <input
      className={`field ${styles.filter}`}
      type="search"
      // biome-ignore lint/a11y/noAutofocus: a dialog that was asked for begins at its first field
      autoFocus
      aria-label={t("target.filter")}
      placeholder={t("target.filter")}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function MovePicker({ source }: { readonly source: DragSource }) {
  const t = useText();
  const [filter, setFilter] = useState("");
  const selected = useSelection((state) => state.selected);
  const home = selected === null || selected.kind === "host" ? null : selected.gpuUuid;
  const places = useMemo(() => movePlaces(source, home), [source, home]);
  const matching = places.filter((place) => matches(place.facts, filter));
  const choose = (place: MovePlace) => {
    useDraft.getState().begin(source);
    useDraft.getState().drop(place.facts.gpu.uuid, place.start);
    useSelection.getState().select({ kind: "gpu", hostId: place.facts.hostId, gpuUuid: place.facts.gpu.uuid });
    closePicker();
  };
  return (
    <>
      <Heading slot="title" className={styles.dialogTitle ?? ""}>
        {t(source.kind === "instance" ? "target.title" : "target.titlePlace", { profile: source.profile })}
      </Heading>
      <Filter value={filter} onChange={setFilter} />
      <ListBox
        className={styles.places ?? ""}
        aria-label={t("target.title", { profile: source.profile })}
        renderEmptyState={() => <p className={styles.reason}>{t("target.none")}</p>}
        onAction={(key) => {
          const place = matching.find(({ facts, start }) => key === `${facts.gpu.uuid} ${start}`);
          if (place !== undefined) choose(place);
        }}
      >
        {matching.slice(0, shown).map((place) => {
          const words = t("plan.at", { profile: placeName(place.facts), start: place.start });
          return (
            <ListBoxItem
              key={`${place.facts.gpu.uuid} ${place.start}`}
              id={`${place.facts.gpu.uuid} ${place.start}`}
              className={styles.placeRow ?? ""}
              textValue={words}
            >
              <span>{words}</span>
              <span className="muted">{effect(t, place)}</span>
            </ListBoxItem>
          );
        })}
      </ListBox>
      {matching.length > shown ? (
        <p className={styles.reason}>{t("target.more", { count: matching.length - shown })}</p>
      ) : null}
    </>
  );
}

function CopyPicker({ fromGpuUuid }: { readonly fromGpuUuid: string }) {
  const t = useText();
  const [filter, setFilter] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const places = useMemo(() => copyPlaces(fromGpuUuid), [fromGpuUuid]);
  const from = factsFor(fromGpuUuid);
  const matching = places.filter((place) => matches(place.facts, filter));
  const rows = matching.slice(0, shown);
  const possible = matching.filter(({ outcome }) => outcome === "possible").map(({ facts }) => facts.gpu.uuid);
  const select = (selection: Selection) => {
    setChosen(selection === "all" ? new Set(possible) : new Set([...selection].map(String)));
  };
  return (
    <>
      <Heading slot="title" className={styles.dialogTitle ?? ""}>
        {t("target.titleCopy", { place: from === null ? "" : placeName(from) })}
      </Heading>
      <Filter value={filter} onChange={setFilter} />
      <ListBox
        className={styles.places ?? ""}
        aria-label={t("target.titleCopy", { place: from === null ? "" : placeName(from) })}
        selectionMode="multiple"
        selectionBehavior="toggle"
        selectedKeys={chosen}
        onSelectionChange={select}
        disabledKeys={matching.filter(({ outcome }) => outcome === "same").map(({ facts }) => facts.gpu.uuid)}
        renderEmptyState={() => <p className={styles.reason}>{t("target.none")}</p>}
      >
        {rows.map(({ facts, outcome }) => (
          <ListBoxItem
            key={facts.gpu.uuid}
            id={facts.gpu.uuid}
            className={styles.placeRow ?? ""}
            textValue={placeName(facts)}
          >
            <span>{placeName(facts)}</span>
            <span className="muted">{outcome === "same" ? t("target.same") : facts.gpu.name}</span>
          </ListBoxItem>
        ))}
      </ListBox>
      {matching.length > shown ? (
        <p className={styles.reason}>{t("target.more", { count: matching.length - shown })}</p>
      ) : null}
      <div className={styles.dialogActions}>
        <button type="button" className="button" disabled={possible.length === 0} onClick={() => select("all")}>
          {t("target.all")}
        </button>
        <button
          type="button"
          className="button primary"
          disabled={chosen.size === 0}
          onClick={() => {
            useDraft.getState().copyTo(fromGpuUuid, [...chosen]);
            closePicker();
          }}
        >
          {t("target.copy", { count: chosen.size })}
        </button>
      </div>
    </>
  );
}

export function TargetPicker() {
  const request = usePicker((state) => state.request);
  return (
    <ModalOverlay
      className={styles.overlay ?? ""}
      isOpen={request !== null}
      isDismissable
      onOpenChange={(open) => {
        if (!open) closePicker();
      }}
    >
      <Modal className={styles.modal ?? ""}>
        <Dialog className={styles.dialog ?? ""}>
          {request === null ? null : request.kind === "move" ? (
            <MovePicker source={request.source} />
          ) : (
            <CopyPicker fromGpuUuid={request.fromGpuUuid} />
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
