/**
 * Changes of Slurm's accounting as argument vectors of `sacctmgr -i`: one change, one vector, or several of one kind in
 * one vector where the grammar has lists of names. Nothing goes through a shell. Tried on 22.05.8:
 *
 * - `add user where name=x` adds a user called `where`: adding takes `name=` without `where`;
 * - `modify account set set GrpJobs=1` changes every account: modifying always has `where name=`;
 * - `name=a,b account=p,q` means all four pairs: only what shares the other side is joined;
 * - an association with waiting or running jobs is not removed ("Job(s) active"), and the answer lists them;
 * - limits that are not named stay; `-1` clears one; `gres/gpu=abc` and `mem=1.5G` exit 0 and set something else.
 */
import { AppError } from "../../../../shared/errors.ts";
import { type NameKind, refuseName, rootAccount } from "./names.ts";
import { compareTres, isTresName } from "./tres.ts";

/** What a limit is set on. */
export type LimitTarget =
  | { readonly kind: "account"; readonly account: string }
  | { readonly kind: "member"; readonly account: string; readonly user: string }
  | { readonly kind: "qos"; readonly qos: string };

/** By resource; null clears that limit. Memory in MiB. What is not named stays. */
export type TresChange = Readonly<Record<string, number | null>>;

/** Limits to set, by sacctmgr's names; null clears, absent stays. */
export interface LimitChange {
  readonly grpTres?: TresChange;
  readonly grpTresMins?: TresChange;
  readonly grpTresRunMins?: TresChange;
  readonly maxTresPerJob?: TresChange;
  readonly grpJobs?: number | null;
  readonly grpSubmitJobs?: number | null;
  readonly maxWallMinutes?: number | null;
  /** Of a QOS only. */
  readonly maxTresPerUser?: TresChange;
  readonly maxTresPerAccount?: TresChange;
}

export type SlurmChange =
  | { readonly kind: "add-account"; readonly account: string; readonly parent: string; readonly organization: string }
  | { readonly kind: "delete-account"; readonly account: string }
  | { readonly kind: "move-account"; readonly account: string; readonly parent: string }
  | { readonly kind: "add-member"; readonly account: string; readonly user: string }
  | { readonly kind: "remove-member"; readonly account: string; readonly user: string }
  | { readonly kind: "set-default-account"; readonly user: string; readonly account: string }
  | { readonly kind: "set-limits"; readonly target: LimitTarget; readonly limits: LimitChange }
  | {
      readonly kind: "set-shares";
      readonly target: Exclude<LimitTarget, { kind: "qos" }>;
      readonly shares: number | "parent";
    }
  | {
      readonly kind: "allow-qos";
      readonly account: string;
      readonly qos: readonly string[];
      readonly defaultQos: string | null;
    }
  | { readonly kind: "add-qos"; readonly qos: string }
  | { readonly kind: "delete-qos"; readonly qos: string }
  | { readonly kind: "set-qos"; readonly qos: string; readonly flags?: readonly string[]; readonly priority?: number }
  | { readonly kind: "remove-coordinator"; readonly account: string; readonly user: string };

export interface SlurmCommand {
  readonly argv: readonly string[];
  readonly kind: SlurmChange["kind"];
  /** The names that one list of it holds, for reading the answer. */
  readonly names: readonly string[];
  /** The places of the changes it makes, in the list that was given. */
  readonly changes: readonly number[];
}

/** Names in one list, so that an argument stays far below what the kernel takes (128 KiB). */
const mostNames = 500;

/** A change taken apart: what comes before the list of names, the name, what comes after. */
interface Parts {
  readonly before: readonly string[];
  /** `name=`, or another word whose list is the one to join. */
  readonly list: string;
  readonly name: string;
  readonly after: readonly string[];
}

/**
 * The commands for these changes, in their order. Neighbours that differ in one name only become one command. `cluster`
 * keeps a slurmdbd of several clusters from changing them all.
 *
 * Throws AppError `bad-request` with the reason, before there is any command, where a name or a number is refused.
 */
export function commandsFor(changes: readonly SlurmChange[], cluster: string): readonly SlurmCommand[] {
  checkName("cluster", cluster);
  const commands: { kind: SlurmChange["kind"]; parts: Parts; names: string[]; changes: number[] }[] = [];
  for (const [place, change] of changes.entries()) {
    const parts = partsOf(change, cluster);
    const last = commands.at(-1);
    if (last !== undefined && last.names.length < mostNames && canJoin(last.parts, parts)) {
      if (!last.names.includes(parts.name)) last.names.push(parts.name);
      last.changes.push(place);
    } else commands.push({ kind: change.kind, parts, names: [parts.name], changes: [place] });
  }
  return commands.map(({ kind, parts, names, changes: places }) => ({
    argv: ["sacctmgr", "-i", ...parts.before, `${parts.list}${names.join(",")}`, ...parts.after],
    kind,
    names,
    changes: places,
  }));
}

function canJoin(a: Parts, b: Parts): boolean {
  return JSON.stringify([a.before, a.list, a.after]) === JSON.stringify([b.before, b.list, b.after]);
}

function partsOf(change: SlurmChange, cluster: string): Parts {
  const on = `cluster=${cluster}`;
  switch (change.kind) {
    case "add-account": {
      const { account, parent, organization } = change;
      checkName("account", parent);
      checkName("account", organization);
      return one("add account", ownAccount(account), [`parent=${parent}`, `organization=${organization}`, on]);
    }
    case "delete-account":
      // With `cluster=` the name itself stays in the database, without associations; adding it again takes it up.
      return one("delete account where", ownAccount(change.account), [on]);
    case "move-account":
      checkName("account", change.parent);
      return one("modify account where", ownAccount(change.account), [on, "set", `parent=${change.parent}`]);
    case "add-member":
      checkName("account", change.account);
      return one("add user", user(change.user), [`account=${change.account}`, on]);
    case "remove-member":
      checkName("account", change.account);
      return one("delete user where", user(change.user), [`account=${change.account}`, on]);
    case "set-default-account":
      checkName("account", change.account);
      return one("modify user where", user(change.user), [on, "set", `defaultaccount=${change.account}`]);
    case "set-limits":
      return onTarget(change.target, cluster, limitWords(change.limits, change.target.kind));
    case "set-shares":
      return onTarget(change.target, cluster, [
        `fairshare=${change.shares === "parent" ? "parent" : whole(change.shares)}`,
      ]);
    case "allow-qos":
      return one("modify account where", account(change.account), [
        on,
        "set",
        ...qosWords(change.qos, change.defaultQos),
      ]);
    case "add-qos":
      return one("add qos", qos(change.qos), []);
    case "delete-qos":
      return one("delete qos where", qos(change.qos), []);
    case "set-qos":
      return one("modify qos where", qos(change.qos), ["set", ...settingsOf(change)]);
    case "remove-coordinator":
      return {
        before: ["delete", "coordinator", `account=${account(change.account)}`],
        list: "names=",
        name: user(change.user),
        after: [],
      };
  }
}

function one(words: string, name: string, after: readonly string[]): Parts {
  return { before: words.split(" "), list: "name=", name, after };
}

function onTarget(target: LimitTarget, cluster: string, set: readonly string[]): Parts {
  const on = `cluster=${cluster}`;
  switch (target.kind) {
    case "account":
      return one("modify account where", account(target.account), [on, "set", ...set]);
    case "member":
      return one("modify user where", user(target.user), [`account=${account(target.account)}`, on, "set", ...set]);
    case "qos":
      return one("modify qos where", qos(target.qos), ["set", ...set]);
  }
}

const tresWords = {
  grpTres: "GrpTRES",
  grpTresMins: "GrpTRESMins",
  grpTresRunMins: "GrpTRESRunMins",
  maxTresPerJob: "MaxTRESPerJob",
  maxTresPerUser: "MaxTRESPerUser",
  maxTresPerAccount: "MaxTRESPerAccount",
} as const;
const tresKeys = [
  "grpTres",
  "grpTresMins",
  "grpTresRunMins",
  "maxTresPerJob",
  "maxTresPerUser",
  "maxTresPerAccount",
] as const;
const countWords = { grpJobs: "GrpJobs", grpSubmitJobs: "GrpSubmitJobs", maxWallMinutes: "MaxWall" } as const;
const countKeys = ["grpJobs", "grpSubmitJobs", "maxWallMinutes"] as const;

function limitWords(limits: LimitChange, target: LimitTarget["kind"]): readonly string[] {
  if (target !== "qos" && (limits.maxTresPerUser !== undefined || limits.maxTresPerAccount !== undefined)) {
    throw refusal(
      "A limit per user or per account belongs to a QOS.",
      "Set it on the person's association, or on a QOS.",
    );
  }
  const tres = tresKeys.flatMap((key) => {
    const change = limits[key];
    return change === undefined || Object.keys(change).length === 0 ? [] : [`${tresWords[key]}=${tresText(change)}`];
  });
  const counts = countKeys.flatMap((key) => {
    const count = limits[key];
    return count === undefined ? [] : [`${countWords[key]}=${count === null ? -1 : whole(count)}`];
  });
  if (tres.length + counts.length === 0) throw refusal("There is no limit to set.", "Name at least one limit.");
  return [...tres, ...counts];
}

function tresText(change: TresChange): string {
  return Object.keys(change)
    .sort(compareTres)
    .map((tres) => {
      if (!isTresName(tres) || /^\d+$/.test(tres))
        throw refusal(
          `${JSON.stringify(tres)} is no resource of Slurm.`,
          "Use names like cpu, mem, gres/gpu or gres/gpu:a100.",
        );
      const count = change[tres] ?? null;
      return `${tres}=${count === null ? -1 : `${whole(count)}${tres === "mem" ? "M" : ""}`}`;
    })
    .join(",");
}

/** Slurm takes `1.5G` and `abc` for some other number and says "Modified": only whole numbers go out. */
function whole(count: number): number {
  if (Number.isSafeInteger(count) && count >= 0 && count < 2 ** 50) return count;
  throw refusal(`${count} is no limit that Slurm can hold.`, "Use a whole number, 0 or more.");
}

function qosWords(names: readonly string[], defaultQos: string | null): readonly string[] {
  if (names.length === 0)
    throw refusal("An account needs at least one QOS.", "Name a QOS, or block the account with GrpSubmitJobs=0.");
  for (const name of names) checkName("qos", name);
  if (defaultQos !== null && !names.includes(defaultQos)) {
    throw refusal(`The default QOS ${defaultQos} is not among the allowed ones.`, "Choose one of the allowed.");
  }
  return [`qos=${names.join(",")}`, `defaultqos=${defaultQos ?? -1}`];
}

/** QOS_FLAG names of sacctmgr(1), 22.05 to 26.05. */
const qosFlags: ReadonlySet<string> = new Set([
  "DenyOnLimit",
  "EnforceUsageThreshold",
  "NoDecay",
  "NoReserve",
  "OverPartQOS",
  "PartitionMaxNodes",
  "PartitionMinNodes",
  "PartitionTimeLimit",
  "Relative",
  "RequiresReservation",
  "UsageFactorSafe",
]);

function settingsOf(change: Extract<SlurmChange, { kind: "set-qos" }>): readonly string[] {
  for (const flag of change.flags ?? []) {
    if (!qosFlags.has(flag))
      throw refusal(`${JSON.stringify(flag)} is no flag of a QOS.`, `Flags are ${[...qosFlags].join(", ")}.`);
  }
  const words = [
    ...(change.flags === undefined ? [] : [`flags=${change.flags.length === 0 ? -1 : change.flags.join(",")}`]),
    ...(change.priority === undefined ? [] : [`priority=${whole(change.priority)}`]),
  ];
  if (words.length === 0) throw refusal("There is nothing to set.", "Name flags or a priority.");
  return words;
}

function checkName(kind: NameKind, name: string): void {
  const why = refuseName(kind, name);
  if (why !== null) throw refusal(why, "Choose another name; what people read can be any text, in the display name.");
}

function account(name: string): string {
  checkName("account", name);
  return name;
}

/** An account that we may make, move or delete. */
function ownAccount(name: string): string {
  if (name === rootAccount) throw refusal("The root account is Slurm's own.", "Choose an account below it.");
  return account(name);
}

function user(name: string): string {
  checkName("user", name);
  return name;
}

function qos(name: string): string {
  checkName("qos", name);
  return name;
}

function refusal(message: string, remedy: string): AppError {
  return new AppError({ code: "bad-request", message, remedy });
}
