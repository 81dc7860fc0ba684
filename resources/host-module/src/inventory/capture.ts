/**
 * The inventory of a host from captured output: a support bundle of ours, a folder of somebody's redirected commands, a
 * single file out of an e-mail. Each is recognised by its content; what nobody knows is listed.
 */
import type { HostInventory, Unread } from "../../../../shared/protocol/inventory.ts";
import { type OutputKind, recognise } from "../nvidia-smi/recognise.ts";
import { textOf } from "../nvidia-smi/text.ts";
import { assembleInventory } from "./assemble.ts";
import { type BundleMark, bundleMarkOf } from "./bundle-mark.ts";
import { type CapturedRun, capturedSystem } from "./captured-system.ts";
import { gpusOf } from "./gpus.ts";
import { processHolders } from "./holders.ts";
import { kernelPaths, readDriverGpus } from "./host-files.ts";
import { HostReader, kernelLogCommands } from "./host-reader.ts";
import type { Output } from "./output.ts";
import { readOutputs } from "./outputs.ts";
import { InventoryReader } from "./read.ts";
import { type Section, sectionsOf } from "./sections.ts";

export interface CapturedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface Recognised {
  readonly file: string;
  /** Of nvidia-smi's outputs, or `host-file` for facts of the host; empty where nothing in it is known. */
  readonly kinds: readonly (OutputKind | "host-file")[];
}

export type CaptureReading =
  | {
      readonly known: true;
      readonly inventory: HostInventory;
      readonly recognised: readonly Recognised[];
      readonly unread: readonly Unread[];
    }
  | {
      readonly known: false;
      /** One sentence for the operator. */
      readonly message: string;
      readonly recognised: readonly Recognised[];
      readonly unread: readonly Unread[];
    };

export interface CaptureOptions {
  /** Stands for the time of the capture where nothing in it tells it. */
  readonly now: Date;
  /** Stands for the name of the host where nothing tells it. Default "capture". */
  readonly hostName?: string;
}

/** Reads what the files hold; never throws for what is in them. */
export async function inventoryFromCapture(
  files: readonly CapturedFile[],
  options: CaptureOptions,
): Promise<CaptureReading> {
  const contents = new Contents();
  for (const file of files) contents.add(file);
  const { recognised, unread } = contents;
  if (recognised.every((file) => file.kinds.length === 0)) {
    return { known: false, message: nothingKnown(files), recognised, unread };
  }
  const inventory = (await replayed(contents)) ?? (await merged(contents, options));
  return { known: true, inventory, recognised, unread: inventory.unread };
}

function nothingKnown(files: readonly CapturedFile[]): string {
  const [first] = files;
  if (first === undefined) return "There is no file to read.";
  if (files.length > 1) return `None of the ${files.length} files holds output of nvidia-smi or facts of a host.`;
  if (first.bytes.length === 0) return `${first.name} is empty.`;
  return `Nothing in ${first.name} is known: it is no output of nvidia-smi and no part of a support bundle.`;
}

class Contents {
  readonly outputs: Output[] = [];
  readonly runs: Record<string, CapturedRun> = {};
  readonly files: Record<string, string> = {};
  readonly recognised: Recognised[] = [];
  readonly unread: Unread[] = [];
  mark: BundleMark | null = null;

  add(file: CapturedFile): void {
    const text = textOf(file.bytes);
    const before = this.unread.length;
    const mark = bundleMarkOf(text);
    this.mark = mark ?? this.mark;
    const kinds = new Set<OutputKind | "host-file">(mark === null ? [] : ["host-file"]);
    const sections = mark === null ? sectionsOf(text) : [];
    for (const section of sections) {
      for (const kind of this.addSection(file.name, section, sections.length > 1)) kinds.add(kind);
    }
    this.recognised.push({ file: file.name, kinds: [...kinds] });
    if (kinds.size > 0) return;
    if (this.unread.length === before) this.addUnread(file.name, text);
  }

  private addUnread(source: string, text: string): void {
    const reason = text.trim() === "" ? "the file is empty" : "nothing in it is known";
    this.unread.push({ source, field: "", reason, raw: text.slice(0, 200) });
  }

  private addSection(file: string, section: Section, isOneOfMany: boolean): readonly (OutputKind | "host-file")[] {
    const { argv, path, text } = section;
    if (path !== null) {
      this.files[path] = text;
      return ["host-file"];
    }
    if (argv !== null) {
      const exitStatus = section.exitStatus === undefined ? 0 : section.exitStatus;
      this.runs[argv.join(" ")] = { stdout: text, exitStatus };
      if (hostPrograms.has(argv[0] ?? "")) return ["host-file"];
    }
    const hostPath = argv === null ? hostFileOf(text) : null;
    if (hostPath !== null) {
      this.files[hostPath.path] = hostPath.content;
      return ["host-file"];
    }
    const kinds = recognise(text);
    if (kinds.length === 0) {
      // What stands before the first header, and a file of one piece, is judged with the whole file.
      if (isOneOfMany && argv !== null && text.trim() !== "") this.addUnread(sourceOf(file, argv).source, text);
      return [];
    }
    if (kinds.includes("kernel-log")) this.runs[(kernelLogCommands[0] ?? []).join(" ")] = { stdout: text };
    if (kinds.includes("help") && !isOneOfMany) {
      this.unread.push({
        source: file,
        field: "",
        reason: "a page of the manual, which says nothing about a host",
        raw: text.slice(0, 200),
      });
    }
    this.outputs.push({ ...sourceOf(file, argv), argv, content: text });
    return kinds;
  }
}

/** Programs besides nvidia-smi whose answers a reading uses. */
const hostPrograms: ReadonlySet<string> = new Set(["getent", "dmesg", "journalctl"]);

function sourceOf(file: string, argv: readonly string[] | null): { readonly source: string } {
  return { source: argv === null ? file : `${file}: ${argv.join(" ").slice(0, 100)}` };
}

/** Files of `/proc` and `/etc` that are known without being named. */
function hostFileOf(text: string): { readonly path: string; readonly content: string } | null {
  const first = text.trimStart().split("\n")[0] ?? "";
  if (/^MemTotal:\s+\d+ kB/.test(first)) return { path: kernelPaths.memory, content: text };
  if (/^processor\s*:\s*0$/.test(first)) {
    const count = text.match(/^processor\s*:/gm)?.length ?? 1;
    return { path: kernelPaths.cpus, content: count === 1 ? "0" : `0-${count - 1}` };
  }
  if (/^root:[^:]*:0:0:/m.test(text)) return { path: "/etc/passwd", content: text };
  if (/^root:[^:]*:0:[^:]*$/m.test(first)) return { path: "/etc/group", content: text };
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text.trim()))
    return { path: kernelPaths.bootId, content: text };
  return null;
}

/** A whole bundle of ours answers every question of a live reading: the same code gives the same inventory. */
async function replayed(contents: Contents): Promise<HostInventory | null> {
  const { mark } = contents;
  if (mark === null) return null;
  const system = capturedSystem({
    runs: contents.runs,
    files: contents.files,
    hostName: mark.hostName,
    architecture: mark.architecture,
    now: () => new Date(mark.takenAt),
  });
  try {
    return await new InventoryReader(system).read({ holderSources: [processHolders] });
  } catch {
    // Parts are missing: what is there is read as any other capture.
    return null;
  }
}

async function merged(contents: Contents, options: CaptureOptions): Promise<HostInventory> {
  const { mark } = contents;
  const outputs = readOutputs(contents.outputs);
  const system = capturedSystem({
    runs: contents.runs,
    files: contents.files,
    hostName: mark?.hostName ?? options.hostName ?? "capture",
    architecture: mark?.architecture ?? "",
  });
  const reader = new HostReader(system);
  const kernel = await reader.kernel();
  return assembleInventory({
    takenAt: mark?.takenAt ?? takenAtOf(contents.outputs) ?? options.now.toISOString(),
    outputs,
    holderSources: [processHolders],
    unread: contents.unread,
    driverGpus: await readDriverGpus(system.files),
    ...(await reader.read(gpusOf(outputs), outputs.topology?.nics ?? [], kernel, false)),
  });
}

/** nvidia-smi prints local time without a zone: it is taken as UTC, and may be off by the host's zone. */
function takenAtOf(outputs: readonly Output[]): string | null {
  const stamp =
    /(?:<timestamp>|Timestamp\s+: )?\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ([A-Z][a-z]{2}) +(\d{1,2}) (\d{2}:\d{2}:\d{2}) (\d{4})\b/;
  const times = outputs.flatMap((output) => {
    const match = stamp.exec(textOf(output.content).slice(0, 4000));
    const time = match === null ? Number.NaN : Date.parse(`${match[1]} ${match[2]} ${match[4]} ${match[3]} UTC`);
    return Number.isNaN(time) ? [] : [time];
  });
  return times.length === 0 ? null : new Date(Math.max(...times)).toISOString();
}
