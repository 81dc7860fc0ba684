/** The decision about a host's key: known_hosts, StrictHostKeyChecking, and a person where both leave it open. */
import type { PromptAnswer } from "../../../shared/api/contract.ts";
import { type Peer, sshError } from "./errors.ts";
import type { Question } from "./interfaces.ts";
import { appendKnownHost, type KnownHostsEntry, type KnownHostsFiles, keyTypeOf } from "./known-hosts/file.ts";
import { knownHostsName } from "./known-hosts/match.ts";
import { fingerprint, type HostKeyVerdict, knownKeyTypes, verifyHostKey } from "./known-hosts/verify.ts";
import type { SshSettings } from "./settings.ts";

export interface HostKeyDecision {
  /** False where StrictHostKeyChecking=no let a changed key pass: OpenSSH then sends no password either. */
  readonly passwordsAllowed: boolean;
}

export type AskHostKey = (question: Question) => Promise<PromptAnswer>;

export class HostKeys {
  readonly #files: KnownHostsFiles;
  /** Accepted for this session only, as `name key`. */
  readonly #accepted = new Set<string>();
  /** One question a host and key, however many connections wait for it. */
  readonly #asking = new Map<string, Promise<PromptAnswer>>();

  constructor(files: KnownHostsFiles) {
    this.#files = files;
  }

  async #entries(settings: SshSettings): Promise<readonly KnownHostsEntry[]> {
    const files = [...settings.userKnownHostsFiles, ...settings.globalKnownHostsFiles];
    return (await Promise.all(files.map((file) => this.#files.read(file)))).flat();
  }

  /** Types on file, the most wanted first. */
  async knownTypes(settings: SshSettings): Promise<readonly string[]> {
    if (settings.expectedHostKey !== null) return [settings.expectedHostKey.split(" ")[0] ?? ""];
    return knownKeyTypes(await this.#entries(settings), namesOf(settings));
  }

  /** Throws AppError where the key is refused. */
  async decide(settings: SshSettings, key: Buffer, ask: AskHostKey): Promise<HostKeyDecision> {
    const allowed = { passwordsAllowed: true };
    if (settings.expectedHostKey !== null) {
      const expected = Buffer.from(settings.expectedHostKey.split(" ")[1] ?? "", "base64");
      if (expected.equals(key)) return allowed;
      throw changedError(settings, key, `expected ${fingerprint(expected)}`);
    }
    const names = namesOf(settings);
    const accepted = `${names[0]} ${fingerprint(key)}`;
    const verdict = verifyHostKey(await this.#entries(settings), names, key);
    if (verdict.kind === "known") return allowed;
    if (verdict.kind === "revoked") throw revokedError(settings, key, verdict.entry);
    if (this.#accepted.has(accepted)) return allowed;
    switch (settings.strictHostKeyChecking) {
      case "no":
        if (verdict.kind === "changed") return { passwordsAllowed: false };
        await this.#remember(settings, key);
        return allowed;
      case "accept-new":
        if (verdict.kind !== "unknown") break;
        await this.#remember(settings, key);
        return allowed;
      case "yes":
        throw refusal(settings, key, verdict);
      case "ask":
        break;
    }
    if (verdict.kind === "certificate-only" || settings.batchMode) throw refusal(settings, key, verdict);
    const answer = await this.#ask(accepted, questionFor(settings, key, verdict), ask);
    if (answer.kind !== "accept-host-key") throw refusal(settings, key, verdict);
    this.#accepted.add(accepted);
    // A line that says otherwise would stay above ours: replacing it is for `ssh-keygen -R`, not for us.
    if (answer.remember && verdict.kind !== "changed") await this.#remember(settings, key);
    return allowed;
  }

  #ask(about: string, question: Question, ask: AskHostKey): Promise<PromptAnswer> {
    const pending = this.#asking.get(about);
    if (pending !== undefined) return pending;
    const asked = ask(question).finally(() => this.#asking.delete(about));
    this.#asking.set(about, asked);
    return asked;
  }

  async #remember(settings: SshSettings, key: Buffer): Promise<void> {
    const file = settings.userKnownHostsFiles[0];
    if (file === undefined || file === "/dev/null") {
      this.#accepted.add(`${namesOf(settings)[0]} ${fingerprint(key)}`);
      return;
    }
    await appendKnownHost(file, namesOf(settings)[0], key, settings.hashKnownHosts);
  }
}

function namesOf(settings: SshSettings): readonly [string, ...string[]] {
  if (settings.hostKeyAlias !== null) return [settings.hostKeyAlias.toLowerCase()];
  const name = knownHostsName(settings.hostName, settings.port);
  return settings.port === 22 ? [name] : [name, settings.hostName.toLowerCase()];
}

function questionFor(settings: SshSettings, key: Buffer, verdict: HostKeyVerdict): Question {
  const keyType = keyTypeOf(key) ?? "unknown";
  if (verdict.kind === "changed" || verdict.kind === "other-type") {
    return {
      kind: "host-key-changed",
      host: settings.name,
      keyType,
      fingerprint: fingerprint(key),
      knownFingerprints: verdict.known.map((entry) => `${entry.keyType} ${fingerprint(entry.key)}`),
      knownHostsFile: verdict.known[0]?.file ?? "",
      line: verdict.known[0]?.line ?? 0,
    };
  }
  return {
    kind: "host-key-unknown",
    host: settings.name,
    keyType,
    fingerprint: fingerprint(key),
    knownHostsFile: settings.userKnownHostsFiles[0] ?? "",
  };
}

function peerOf(settings: SshSettings): Peer {
  return { name: settings.name, hostName: settings.hostName, port: settings.port };
}

function describe(key: Buffer): string {
  return `${keyTypeOf(key) ?? "unknown type"} ${fingerprint(key)}`;
}

function refusal(settings: SshSettings, key: Buffer, verdict: HostKeyVerdict) {
  if (verdict.kind === "changed" || verdict.kind === "other-type") {
    const lines = verdict.known.map((e) => `${e.file} line ${e.line}: ${e.keyType} ${fingerprint(e.key)}`);
    return changedError(settings, key, lines.join("\n"));
  }
  if (verdict.kind === "certificate-only") {
    return sshError(
      "ssh-unsupported",
      peerOf(settings),
      `${settings.name} is trusted through a certificate authority only, and host certificates cannot be checked here.`,
      `Add the host's own key to ${settings.userKnownHostsFiles[0] ?? "known_hosts"}.`,
      `shown: ${describe(key)}\n${verdict.entry.file} line ${verdict.entry.line}: @cert-authority`,
    );
  }
  return sshError(
    "ssh-host-key-unknown",
    peerOf(settings),
    `The key of ${settings.name} is not known, and was not accepted.`,
    "Compare its fingerprint with the one your administrator gives, then connect again and accept it.",
    `shown: ${describe(key)}`,
  );
}

function changedError(settings: SshSettings, key: Buffer, known: string) {
  return sshError(
    "ssh-host-key-changed",
    peerOf(settings),
    `${settings.name} shows another key than the one on file: it was reinstalled, or somebody is listening.`,
    `Ask its administrator. If the new key is right, remove the old line (ssh-keygen -R) and connect again.`,
    `shown: ${describe(key)}\n${known}`,
  );
}

function revokedError(settings: SshSettings, key: Buffer, entry: KnownHostsEntry) {
  return sshError(
    "ssh-host-key-revoked",
    peerOf(settings),
    `${settings.name} shows a key that is marked as revoked.`,
    "Do not connect. Ask the host's administrator.",
    `shown: ${describe(key)}\n${entry.file} line ${entry.line}: @revoked`,
  );
}
