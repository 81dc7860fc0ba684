/** The keys of a command as they are printed on a keyboard. */
const names: Readonly<Record<string, string>> = {
  ctrl: "Ctrl",
  shift: "Shift",
  alt: "Alt",
  enter: "Enter",
  escape: "Esc",
  space: "Space",
  delete: "Del",
  tab: "Tab",
  f2: "F2",
  pageup: "Page ↑",
  pagedown: "Page ↓",
  home: "Home",
  end: "End",
  arrowleft: "←",
  arrowright: "→",
  arrowup: "↑",
  arrowdown: "↓",
};

export function keyLabels(keys: string): readonly string[] {
  // `+` is itself a key: an empty part stands for it.
  const parts = keys === "+" ? ["+"] : keys.split("+").map((part) => (part === "" ? "+" : part));
  return parts.map((part) => names[part] ?? (part.length === 1 ? part.toUpperCase() : part));
}
