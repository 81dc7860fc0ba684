/** A captured file, cut into the outputs it holds: support bundles often put many commands into one file, each under a header. */
import { textOf } from "../nvidia-smi/text.ts";

export interface Section {
  /** The command of the header; null where there is none. */
  readonly argv: readonly string[] | null;
  /** Undefined where the header does not say it, null for a killed command. */
  readonly exitStatus: number | null | undefined;
  /** The file of the host whose content this is; null for the output of a command. */
  readonly path: string | null;
  readonly text: string;
}

type Header = Omit<Section, "text">;

/** `### [12 lgi] nvidia-smi mig -lgi -> rc=0`, and `### file /proc/meminfo` of our own bundles. */
const numbered = /^### \[[^\]]*\]\s+(.+?)\s+->\s+rc=(\d+|killed)\b/;
const ofFile = /^### file (\/\S+)$/;
/** `user@host:~$ sudo nvidia-smi -L`, `# $ nvidia-smi -q`. */
const prompt = /^[^|<>]{0,60}?[$#%>]\s*(?:sudo\s+(?:-n\s+)?)?((?:\/\S*\/)?nvidia-smi(?:\.exe)?(?:\s.*)?)$/;
/** `==== nvidia-smi -q ====`. */
const ruled = /^[=*#+>-]{2,}\s*((?:\/\S*\/)?nvidia-smi(?:\s+[^\s=*#]+)*)\s*[=*#+<-]*$/;
const rule = /^#{20,}$/;

export function sectionsOf(content: Uint8Array | string): readonly Section[] {
  const sections: (Header & { lines: string[] })[] = [{ argv: null, exitStatus: undefined, path: null, lines: [] }];
  const lines = textOf(content).split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const block = rule.test(line.trim()) ? blockFrom(lines, at) : null;
    const header = block?.header ?? headerOf(line.trim());
    if (block !== null) at = block.end;
    if (header === null) sections.at(-1)?.lines.push(line);
    else sections.push({ ...header, lines: [] });
  }
  return sections
    .map(({ lines, ...header }) => ({ ...header, text: lines.join("\n") }))
    .filter((section, at) => at > 0 || section.text.trim() !== "");
}

function headerOf(line: string): Header | null {
  const marked = numbered.exec(line);
  if (marked !== null) {
    const exitStatus = marked[2] === "killed" ? null : Number(marked[2]);
    return { argv: wordsOf(marked[1] ?? ""), exitStatus, path: null };
  }
  const path = ofFile.exec(line)?.[1];
  if (path !== undefined) return { argv: null, exitStatus: undefined, path };
  const command = (prompt.exec(line) ?? ruled.exec(line))?.[1];
  return command === undefined ? null : { argv: wordsOf(command), exitStatus: undefined, path: null };
}

/** Three or four comment lines between two rules; the one with `$` names the command. */
function blockFrom(lines: readonly string[], from: number): { readonly header: Header; readonly end: number } | null {
  for (let end = from + 1; end < Math.min(lines.length, from + 6); end += 1) {
    const line = (lines[end] ?? "").trim();
    if (rule.test(line)) {
      const command = lines.slice(from + 1, end).find((inside) => /^#\s*\$\s/.test(inside));
      const argv = command === undefined ? null : wordsOf(command.replace(/^#\s*\$\s*/, ""));
      return end === from + 1 ? null : { header: { argv, exitStatus: undefined, path: null }, end };
    }
    if (!line.startsWith("#")) return null;
  }
  return null;
}

/** The words of a command line up to the first pipe or redirection; the program without its folder. */
function wordsOf(command: string): readonly string[] {
  const words = command.split(/\s+/).filter((word) => word !== "");
  const end = words.findIndex((word) => /^(\||\d?>|;|&)/.test(word));
  const own = end < 0 ? words : words.slice(0, end);
  return own.map((word, at) => (at === 0 ? word.replace(/^.*\//, "").replace(/\.exe$/, "") : word));
}
