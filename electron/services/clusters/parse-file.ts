/** Reads a cluster out of a file: a JSON cluster file, or hosts one a line. */
import * as z from "zod/mini";
import { type ClusterDraft, clusterDraftSchema } from "../../../shared/api/contract.ts";
import { AppError } from "../../../shared/errors.ts";
import { destinationFault, expandHostList } from "./destination.ts";
import { checkDraft } from "./draft.ts";

/**
 * Lines may carry a rack as a second word, comments with `#`, and host lists (`gpu[01-16]`).
 * Throws `bad-request` naming the line, or the field of the JSON, that is wrong.
 */
export function parseClusterFile(name: string, content: string): ClusterDraft {
  const text = content.startsWith("\uFEFF") ? content.slice(1) : content;
  return text.trimStart().startsWith("{") ? parseJson(name, text) : parseLines(name, text);
}

function parseJson(name: string, text: string): ClusterDraft {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw fault(`${name} is not valid JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
  const draft = z.safeParse(clusterDraftSchema, value);
  if (draft.success) return checkDraft(draft.data);
  const issue = draft.error.issues[0];
  throw fault(`${name}: ${issue?.path.join(".") || "the file"}: ${issue?.message ?? "not a cluster file"}.`);
}

function parseLines(name: string, text: string): ClusterDraft {
  const hosts = new Set<string>();
  const racks = new Map<string, string>();
  for (const [index, raw] of text.split(/\r\n|\n|\r/).entries()) {
    const line = raw.replace(/(^|\s)#.*$/, "").trim();
    if (line === "") continue;
    const [word = "", rack, ...more] = line.split(/[\s,;]+(?![^[]*\])/);
    if (more.length > 0)
      throw fault(`${name}, line ${index + 1}: more than a host and its rack: '${line.slice(0, 80)}'.`);
    for (const host of expandHostList(word)) {
      const reason = destinationFault(host);
      if (reason !== null) throw fault(`${name}, line ${index + 1}: '${host.slice(0, 80)}' ${reason}.`);
      hosts.add(host);
      if (rack !== undefined) racks.set(host, rack);
    }
  }
  if (hosts.size === 0) throw fault(`${name} names no host.`);
  if (hosts.size > 10_000) throw fault(`${name} names ${hosts.size} hosts; a cluster takes 10,000.`);
  return checkDraft({
    name: nameFrom(name),
    hosts: [...hosts],
    racks: racks.size === 0 ? { kind: "none" } : { kind: "map", racks: Object.fromEntries(racks) },
  });
}

function nameFrom(fileName: string): string {
  const base = fileName.split(/[\\/]/).at(-1) ?? "";
  return base.replace(/\.[^.]+$/, "").slice(0, 80) || "cluster";
}

function fault(message: string): AppError {
  return new AppError({
    code: "bad-request",
    message,
    remedy: "Give one host a line, optionally followed by its rack, or a cluster file as Tessera exports it.",
  });
}
