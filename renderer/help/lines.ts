/** The lines of the help sheet: the keys of the view that is open, then those that hold everywhere. */
import type { KeyCommand } from "../app/keys.ts";
import type { MessageKey } from "../i18n/index.ts";

export interface KeyLine {
  readonly keys: readonly string[];
  readonly title: MessageKey;
}

export interface KeyGroup {
  readonly title: MessageKey;
  readonly lines: readonly KeyLine[];
}

/** Keys of the draft that hold only while something is picked up or focused, so that nobody registers them. */
const held: readonly KeyLine[] = [
  { keys: ["arrowleft", "arrowright"], title: "keys.aim" },
  { keys: ["arrowup", "arrowdown"], title: "keys.aimGpu" },
  { keys: ["enter"], title: "keys.drop" },
  { keys: ["escape"], title: "keys.putBack" },
];
/** Registered only while there is a plan. */
const onPlan: readonly KeyLine[] = [{ keys: ["ctrl+enter"], title: "keys.apply" }];
const onInstance: readonly KeyLine[] = [
  { keys: ["enter"], title: "keys.menu" },
  { keys: ["delete"], title: "keys.delete" },
];

const rows: readonly KeyLine[] = [{ keys: ["arrowup", "arrowdown"], title: "keys.rows" }];
const ends: KeyLine = { keys: ["home", "end"], title: "keys.rowEnds" };
const pages: KeyLine = { keys: ["pageup", "pagedown"], title: "keys.rowPages" };

/** What a grid or list does with keys while it has the focus, by view. */
const inView: ReadonlyMap<string, readonly KeyLine[]> = new Map([
  ["table", [...rows, pages, ends, { keys: ["enter"], title: "keys.openHost" }]],
  [
    "tenants",
    [
      ...rows,
      ends,
      { keys: ["arrowright", "arrowleft", "enter"], title: "keys.openClose" },
      { keys: ["f2"], title: "keys.rename" },
      { keys: ["delete"], title: "keys.remove" },
    ],
  ],
  [
    "quotas",
    [
      { keys: ["arrowup", "arrowdown", "arrowleft", "arrowright"], title: "quota.key-cells" },
      pages,
      { keys: ["home", "end"], title: "quota.key-ends" },
      { keys: ["ctrl+arrowright", "ctrl+arrowleft"], title: "keys.openClose" },
      { keys: ["shift+arrowup", "shift+arrowdown"], title: "quota.key-mark" },
      { keys: ["space"], title: "quota.key-markOne" },
    ],
  ],
  ["requests", [...rows, { keys: ["enter"], title: "keys.intoPanel" }, { keys: ["escape"], title: "keys.leavePanel" }]],
  ["audit", [...rows, pages, ends, { keys: ["escape"], title: "keys.leavePanel" }]],
]);
/** Only for who may change limits, which registers the key that applies them. */
const writing: readonly KeyLine[] = [
  { keys: ["enter", "f2"], title: "quota.key-write" },
  { keys: ["0–9"], title: "quota.key-type" },
  { keys: ["enter", "tab"], title: "quota.key-take" },
  { keys: ["escape"], title: "quota.key-leave" },
  { keys: ["delete"], title: "quota.key-clear" },
];
const everywhere: ReadonlySet<MessageKey> = new Set(["keys.help"]);
/** Those with a plan of partitions under them. */
const withPlan: ReadonlySet<string> = new Set(["board", "table", "host"]);

/** Commands with the same title are one line with several keys. */
function linesOf(commands: readonly KeyCommand[]): readonly KeyLine[] {
  const byTitle = new Map<MessageKey, string[]>();
  for (const { keys, title } of commands) byTitle.set(title, [...(byTitle.get(title) ?? []), keys]);
  return [...byTitle].map(([title, keys]) => ({ keys, title }));
}

/** Without empty groups; keys that divide GPUs only for who `mayPartition`. */
export function keyGroups(view: string, commands: readonly KeyCommand[], mayPartition: boolean): readonly KeyGroup[] {
  const all = linesOf(commands);
  const own = all.filter(({ title }) => !everywhere.has(title));
  const global: KeyGroup = { title: "keys.group-everywhere", lines: all.filter(({ title }) => everywhere.has(title)) };
  const inGrid = inView.get(view) ?? [];
  const groups: readonly KeyGroup[] = withPlan.has(view)
    ? planGroups(inGrid, own, mayPartition)
    : [
        {
          title: "keys.group-view",
          lines: [...inGrid, ...(own.some(({ title }) => title === "quota.key-apply") ? writing : []), ...own],
        },
      ];
  return [...groups, global].filter(({ lines }) => lines.length > 0);
}

function planGroups(inGrid: readonly KeyLine[], own: readonly KeyLine[], mayPartition: boolean): readonly KeyGroup[] {
  const registered = own.filter(({ title }) => title.startsWith("keys."));
  const others = own.filter((line) => !registered.includes(line));
  const planned = onPlan.filter(({ title }) => registered.every((line) => line.title !== title));
  if (!mayPartition) return [{ title: "keys.group-go", lines: [...inGrid, ...others, ...registered] }];
  return [
    { title: "keys.group-go", lines: [...inGrid, ...others] },
    { title: "keys.group-change", lines: [...registered, ...planned, ...onInstance] },
    { title: "keys.group-held", lines: held },
  ];
}
