/**
 * A support bundle: the raw answers behind one inventory, as files that `--from` and people can read. It holds what the
 * inventory is made of and nothing else: of passwd and group only the entries of users on the GPUs (without names of persons,
 * homes, shells or members), of the kernel log only Xid events, of `/proc` no command line and no environment.
 */
import type { Files, RunResult, System } from "../system.ts";
import { bundleMarkText } from "./bundle-mark.ts";
import { processHolders } from "./holders.ts";
import { managerNameOf } from "./processes.ts";
import { readInventory } from "./read.ts";

export interface BundleSummary {
  readonly directory: string;
  /** Names in the directory, in order. */
  readonly files: readonly string[];
}

/** Reads the host once and writes what it answered. Throws what the reading or the writing throws. */
export async function writeBundle(system: System, directory: string): Promise<BundleSummary> {
  const record = new Recording(system);
  // Slurm's answer about jobs names everybody's.
  const inventory = await readInventory(record.system, { holderSources: [processHolders] }).catch((error: unknown) => {
    // A host whose driver fails is the one that needs a bundle most.
    if (record.runs.length === 0) throw error;
    return null;
  });
  const hostFiles = record.hostFiles();
  const contents: (readonly [string, string | Uint8Array])[] = [
    [
      "000-bundle.txt",
      bundleMarkText({
        hostName: system.hostName,
        architecture: system.architecture,
        takenAt: inventory?.takenAt ?? system.now().toISOString(),
      }),
    ],
    ...(hostFiles === "" ? [] : [["001-host.txt", hostFiles] as const]),
    ...record.runs.map((run, at): [string, Uint8Array] => [fileNameOf(run, at + 2), contentOf(run, at + 1)]),
  ];
  await system.files.makeDirectory(directory, 0o700);
  for (const [name, content] of contents) {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    await system.files.replace(`${directory}/${name}`, bytes, 0o600);
  }
  return { directory, files: contents.map(([name]) => name) };
}

function fileNameOf(run: RunResult, number: number): string {
  const command = run.argv.join("_").replace(/[^\w.,=-]+/g, "_");
  return `${String(number).padStart(3, "0")}-${command.slice(0, 80)}.txt`;
}

/** The header, then the bytes as they came: they may be cut, or no UTF-8. */
function contentOf(run: RunResult, number: number): Uint8Array {
  const header = `### [${number}] ${run.argv.join(" ")} -> rc=${run.exitStatus ?? "killed"}\n`;
  const said = run.stdout.length > 0 ? run.stdout : run.stderr;
  const [program] = run.argv;
  const isLog = program === "dmesg" || program === "journalctl";
  const text = () => new TextDecoder().decode(said);
  const body = isLog ? xidLinesOf(text()) : program === "getent" ? withoutPersons(text()) : said;
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return new Uint8Array([...new TextEncoder().encode(header), ...bytes]);
}

function xidLinesOf(log: string): string {
  return log
    .split("\n")
    .filter((line) => line.includes("NVRM: Xid"))
    .map((line) => `${line}\n`)
    .join("");
}

/** `name:x:1000:100:::` */
function withoutPersons(entries: string): string {
  return entries
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [name = "", , id = "", group = ""] = line.split(":");
      // In passwd the fourth field is the primary group's number, in group the list of members.
      return `${name}:x:${id}:${/^\d+$/.test(group) ? `${group}:::` : ""}\n`;
    })
    .join("");
}

/** Passes everything on to the host and remembers what it answered. */
class Recording {
  readonly runs: RunResult[] = [];
  readonly system: System;
  private readonly read = new Map<string, Uint8Array>();

  constructor(system: System) {
    const files: Files = {
      ...system.files,
      read: async (path) => {
        const bytes = await system.files.read(path);
        if (bytes !== null) this.read.set(path, bytes);
        return bytes;
      },
      list: (path) => system.files.list(path),
      status: (path) => system.files.status(path),
      readLink: (path) => system.files.readLink(path),
    };
    this.system = {
      run: async (argv, options) => {
        const result = await system.run(argv, options);
        this.runs.push(result);
        return result;
      },
      files,
      now: () => system.now(),
      hostName: system.hostName,
      architecture: system.architecture,
      root: system.root,
      ledgerPath: system.ledgerPath,
      caller: system.caller,
    };
  }

  /** Every file that was read, under its header. */
  hostFiles(): string {
    const texts = new Map([...this.read].map(([path, bytes]) => [path, new TextDecoder().decode(bytes)]));
    const statuses = [...texts].filter(([path]) => /^\/proc\/\d+\/status$/.test(path)).map(([, text]) => text);
    const ids = new Set(statuses.flatMap((text) => text.match(/^(?:Uid|Gid|Groups):.*$/gm) ?? []).flatMap(numbersIn));
    const passwd = entriesOf(texts.get("/etc/passwd"), ids);
    const groupIds = new Set([...ids, ...passwd.split("\n").flatMap((line) => line.split(":")[3] ?? [])]);
    const kept = [...texts].flatMap(([path, text]): [string, string][] => {
      if (path === "/etc/passwd") return [[path, passwd]];
      if (path === "/etc/group") return [[path, entriesOf(text, groupIds)]];
      if (/^\/proc\/\d+\/comm$/.test(path) && managerNameOf(text.trim()) === null) return [];
      if (path === "/proc/stat") return [[path, text.match(/^btime \d+$/m)?.[0] ?? ""]];
      return [[path, text]];
    });
    return kept.map(([path, text]) => `### file ${path}\n${text.endsWith("\n") ? text : `${text}\n`}`).join("");
  }
}

const numbersIn = (line: string): readonly string[] => line.match(/\d+/g) ?? [];

function entriesOf(file: string | undefined, ids: ReadonlySet<string>): string {
  const lines = (file ?? "").split("\n").filter((line) => ids.has(line.split(":")[2] ?? ""));
  return withoutPersons(lines.join("\n"));
}
