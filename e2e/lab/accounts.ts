/**
 * Unix accounts of the lab's machines. They stand in the machines' own /etc/passwd, group and shadow (machine.ts), so
 * that none is ever made on this machine and none can stay behind; tools that change accounts work on them.
 */
import { chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Machine, MachineUser } from "./machine.ts";
import type { KeyPair } from "./sshd.ts";

export interface Person extends MachineUser {
  /** Logs in with it on every machine of the lab. */
  readonly key: KeyPair;
}

const firstUid = 20_001;

export function newPerson(name: string, number: number, key: KeyPair): Person {
  const uid = firstUid + number;
  return { name, uid, gid: uid, home: `/var/home/${name}`, key };
}

/** Gives the machine these people, each with a group of the same name, and root a home of its own. */
export function writeAccounts(machine: Machine, people: readonly Person[]): void {
  const replace = (file: string, mode: number, lines: readonly string[]) => {
    const path = machine.file(`/etc/${file}`);
    const names = new Set(lines.map(nameOf));
    const others = readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "" && !names.has(nameOf(line)));
    writeFileSync(path, `${[...lines, ...others].join("\n")}\n`, { mode });
  };
  replace("passwd", 0o644, [
    "root:x:0:0:root:/var/root:/bin/bash",
    ...people.map(({ name, uid, gid, home }) => `${name}:x:${uid}:${gid}:${name}:${home}:/bin/bash`),
  ]);
  replace("group", 0o644, ["root:x:0:", ...people.map(({ name, gid }) => `${name}:x:${gid}:`)]);
  // No password fits, yet the account is not locked, which sshd would refuse.
  replace(
    "shadow",
    0o640,
    people.map(({ name }) => `${name}:*:19000:0:99999:7:::`),
  );
}

/** A home that all machines share, with the person's public key in it. `homes` is that directory as this process sees it. */
export function makeHome(homes: string, person: Person): void {
  const home = `${homes}/${person.name}`;
  mkdirSync(`${home}/.ssh`, { recursive: true, mode: 0o700 });
  writeFileSync(`${home}/.ssh/authorized_keys`, `${person.key.publicKey}\n`, { mode: 0o600 });
  for (const path of [home, `${home}/.ssh`, `${home}/.ssh/authorized_keys`]) chownSync(path, person.uid, person.gid);
}

/** An account that a Debian package made, `slurm` or `munge`. */
export function systemUser(name: string): MachineUser {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((candidate) => nameOf(candidate) === name);
  const [, , uid, gid] = line?.split(":") ?? [];
  if (uid === undefined || gid === undefined) throw new Error(`there is no account ${name} on this machine`);
  return { name, uid: Number(uid), gid: Number(gid), home: "/" };
}

function nameOf(line: string): string {
  return line.slice(0, line.indexOf(":"));
}
