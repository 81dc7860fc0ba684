/** An instance of the draft as a button with its menu: what the mouse does by dragging, in words. */
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Header, Menu, MenuItem, MenuSection, Popover, Separator } from "react-aria-components";
import { Key } from "../design/controls.tsx";
import { useText } from "../i18n/index.ts";
import type { StripCell } from "../inspector/strip-model.ts";
import { useDraft } from "./draft.ts";
import { profileNamed } from "./edits.ts";
import type { GpuFacts } from "./facts.ts";
import { pickUp } from "./keyboard.ts";
import styles from "./partition.module.css";
import { openMoveTo } from "./target-picker.ts";

/** Ways to divide an instance into equal compute instances: profile and how many. */
function divisions(
  facts: GpuFacts,
  profile: string,
): readonly { id: number; name: string; starts: readonly number[] }[] {
  const known = profileNamed(facts.geometry, profile)?.computeInstanceProfiles ?? [];
  return known
    .map(({ id, name, starts, maxInstances, computeSlices }) => {
      const aligned = starts.filter((start) => start % computeSlices === 0).slice(0, maxInstances);
      return { id, name, starts: aligned };
    })
    .filter(({ starts }) => starts.length > 1);
}

export function InstanceMenu({
  facts,
  cell,
  face,
  title,
  className,
}: {
  readonly facts: GpuFacts;
  readonly cell: StripCell;
  readonly face: ReactNode;
  readonly title: string;
  readonly className: string | undefined;
}) {
  const t = useText();
  const ref = useRef<HTMLButtonElement>(null);
  const menuRef = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (!open) return;
    // Opened without a MenuTrigger the menu marks its first item but keeps the focus itself, and Enter would do nothing.
    const timer = setTimeout(() => {
      menuRef.current?.querySelector<HTMLElement>('[role="menuitem"]:not([aria-disabled="true"])')?.focus();
    }, 0);
    return () => clearTimeout(timer);
  }, [open]);
  const { start, profile } = cell;
  const gpuUuid = facts.gpu.uuid;
  const locked = cell.kind === "held";
  const source = { kind: "instance", gpuUuid, start, profile } as const;
  const act = (key: string) => {
    const draft = useDraft.getState();
    if (key === "move") openMoveTo(source);
    else if (key === "pick") pickUp(source, gpuUuid);
    else if (key === "remove") draft.remove(gpuUuid, start);
    else if (key === "whole") draft.divide(gpuUuid, start, undefined);
    else {
      const division = divisions(facts, profile).find(({ id }) => key === `divide ${id}`);
      if (division === undefined) return;
      const parts = division.starts.map((first) => ({ profileId: division.id, start: first }));
      draft.divide(gpuUuid, start, parts);
    }
  };
  const splits = locked ? [] : divisions(facts, profile);
  return (
    <>
      <button
        ref={ref}
        type="button"
        className={className}
        title={title}
        aria-label={title}
        aria-haspopup="menu"
        aria-expanded={open}
        data-cell={start}
        onClick={() => setOpen(true)}
        onContextMenu={(event) => {
          event.preventDefault();
          setOpen(true);
        }}
        onKeyDown={(event) => {
          if (event.key === "Delete" || event.key === "Backspace") {
            event.preventDefault();
            useDraft.getState().remove(gpuUuid, start);
          } else if (event.key.toLowerCase() === "m" && !event.ctrlKey && !event.metaKey && !event.altKey && !locked) {
            event.preventDefault();
            pickUp(source, gpuUuid);
          }
        }}
      >
        {face}
      </button>
      <Popover
        triggerRef={ref}
        isOpen={open}
        onOpenChange={setOpen}
        placement="bottom start"
        aria-label={t("instance.menu", { profile, start })}
        className={styles.popover ?? ""}
      >
        <Menu
          ref={menuRef}
          className={styles.menu ?? ""}
          aria-label={t("instance.menu", { profile, start })}
          autoFocus="first"
          disabledKeys={locked ? ["move", "pick", "remove"] : []}
          onAction={(key) => {
            setOpen(false);
            act(String(key));
          }}
          onClose={() => setOpen(false)}
        >
          {locked ? (
            <MenuItem id="locked" className={styles.menuNote ?? ""} textValue={title}>
              {t("instance.locked", { holder: cell.holder ?? t("rule.someone") })}
            </MenuItem>
          ) : null}
          <MenuItem id="move" className={styles.menuItem ?? ""} textValue={t("instance.move")}>
            {t("instance.move")}
          </MenuItem>
          <MenuItem id="pick" className={styles.menuItem ?? ""} textValue={t("instance.pick")}>
            {t("instance.pick")} <Key>M</Key>
          </MenuItem>
          <MenuItem id="remove" className={styles.menuItem ?? ""} textValue={t("instance.remove")}>
            {t("instance.remove")} <Key>Del</Key>
          </MenuItem>
          {splits.length === 0 ? null : (
            <>
              <Separator className={styles.menuLine ?? ""} />
              <MenuSection>
                <Header className={styles.menuHead ?? ""}>{t("instance.compute")}</Header>
                <MenuItem id="whole" className={styles.menuItem ?? ""} textValue={t("instance.computeWhole")}>
                  {t("instance.computeWhole")}
                </MenuItem>
                {splits.map(({ id, name, starts }) => {
                  const words = t("instance.computeSplit", { count: starts.length, profile: name });
                  return (
                    <MenuItem key={id} id={`divide ${id}`} className={styles.menuItem ?? ""} textValue={words}>
                      {words}
                    </MenuItem>
                  );
                })}
              </MenuSection>
            </>
          )}
        </Menu>
      </Popover>
    </>
  );
}
