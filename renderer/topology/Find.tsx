/** The find field: dims what does not match, lists what the words could mean, and goes there. */
import { useEffect, useId, useMemo, useRef, useState } from "react";
import { registerKey } from "../app/keys.ts";
import { go } from "../app/views.ts";
import { Key } from "../design/controls.tsx";
import { CloseIcon, SearchIcon } from "../design/icons.tsx";
import { useText } from "../i18n/index.ts";
import { useFilter } from "../stores/filter.ts";
import { useSelection } from "../stores/selection.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { type Found, find } from "./search.ts";

const mostResults = 12;

export function Find() {
  const text = useText();
  const filterText = useFilter((state) => state.text);
  const setText = useFilter((state) => state.setText);
  const [open, setOpen] = useState(false);
  // Only while the list is open: a search through a thousand hosts is not made at every snapshot.
  const hosts = useSnapshot((state) => (open ? state.hosts : null));
  const [active, setActive] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const listId = useId();
  const results = useMemo(
    () => (hosts === null ? [] : find(hosts.values(), filterText, mostResults)),
    [hosts, filterText],
  );

  useEffect(
    () =>
      registerKey({
        keys: "/",
        title: "app.find",
        run: () => {
          input.current?.focus();
          input.current?.select();
          return true;
        },
      }),
    [],
  );

  const choose = (found: Found) => {
    setOpen(false);
    if (found.kind !== "host" && found.kind !== "gpu") setText(`${found.kind}:"${found.text}"`);
    else setText("");
    useSelection.getState().select(selectionOf(found));
    if (found.kind === "host" || found.kind === "gpu") go("board");
    document.querySelector<HTMLElement>(".board-keys")?.focus();
  };

  return (
    <search className="find">
      <SearchIcon />
      <input
        ref={input}
        className="find-input"
        type="text"
        role="combobox"
        autoComplete="off"
        spellCheck={false}
        placeholder={text("app.findPlaceholder")}
        title={text("app.findPlaceholder")}
        aria-label={text("app.findPlaceholder")}
        aria-expanded={open && results.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={open && results[active] !== undefined ? `${listId}-${active}` : undefined}
        value={filterText}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setOpen(true);
          setActive(0);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            setOpen(true);
            const step = event.key === "ArrowDown" ? 1 : -1;
            setActive((at) => (results.length === 0 ? 0 : (at + step + results.length) % results.length));
          } else if (event.key === "Enter") {
            const found = results[active];
            if (found !== undefined) choose(found);
          } else if (event.key === "Escape") {
            event.stopPropagation();
            if (filterText === "") input.current?.blur();
            else setText("");
          }
        }}
      />
      {filterText === "" ? (
        <Key>/</Key>
      ) : (
        <button type="button" className="find-clear" aria-label={text("app.clearFind")} onClick={() => setText("")}>
          <CloseIcon />
        </button>
      )}
      <div
        className="find-results"
        id={listId}
        role="listbox"
        aria-label={text("app.findResults")}
        hidden={!open || filterText.trim() === ""}
      >
        {results.map((found, at) => (
          <div
            key={`${found.kind} ${found.text}`}
            id={`${listId}-${at}`}
            className="find-result"
            role="option"
            tabIndex={-1}
            aria-selected={at === active}
            // Before the field loses the focus and the list goes away.
            onMouseDown={(event) => {
              event.preventDefault();
              choose(found);
            }}
            onMouseEnter={() => setActive(at)}
          >
            <span className="find-kind">{text(`app.kind-${found.kind}`)}</span>
            <span className="truncate" title={found.text}>
              {found.text}
            </span>
            <span className="muted">{found.count > 1 ? found.count : ""}</span>
          </div>
        ))}
        {open && results.length === 0 && filterText.trim() !== "" ? (
          <p className="find-none">{text("app.nothingFound")}</p>
        ) : null}
      </div>
    </search>
  );
}

function selectionOf(found: Found) {
  if (found.gpuUuid === null) return { kind: "host", hostId: found.hostId } as const;
  if (found.gpuInstanceId === null) return { kind: "gpu", hostId: found.hostId, gpuUuid: found.gpuUuid } as const;
  return {
    kind: "instance",
    hostId: found.hostId,
    gpuUuid: found.gpuUuid,
    gpuInstanceId: found.gpuInstanceId,
  } as const;
}
