/** Unix accounts, from whatever the host's name service switch asks: files, LDAP, SSSD. */
import { AppError } from "../../../../shared/errors.ts";
import type { Account } from "../../../../shared/protocol/control.ts";
import type { System } from "../system.ts";

const timeoutMs = 15_000;
const mostFound = 50;
/** Below are accounts of the system; UID_MIN of login.defs where nobody changed it. */
const firstPersonUid = 1_000;
const nobody = 65_534;

/**
 * People whose user name, full name or uid holds the text, at most 50, those whose user name begins with it first. A
 * directory that does not list its people finds them by their whole user name. Throws AppError where nothing answers.
 */
export async function searchAccounts(system: System, text: string): Promise<readonly Account[]> {
  const wanted = text.trim().toLowerCase();
  const listed = await getent(system, []);
  const exact = /^[a-z0-9_][a-z0-9_.@+-]*$/i.test(wanted) ? await getent(system, [wanted]) : [];
  const found = new Map([...exact, ...listed].filter(isPerson).map((account) => [account.uid, account]));
  return [...found.values()]
    .filter(({ user, fullName, uid }) =>
      [user, fullName, String(uid)].some((word) => word.toLowerCase().includes(wanted)),
    )
    .toSorted((a, b) => rank(a, wanted) - rank(b, wanted) || (a.user < b.user ? -1 : 1))
    .slice(0, mostFound);
}

/** The account of a uid. Throws AppError `not-found` where the system knows none. */
export async function accountOf(system: System, uid: number): Promise<Account> {
  const account = (await getent(system, [String(uid)])).find((candidate) => candidate.uid === uid);
  if (account !== undefined) return account;
  throw new AppError({
    code: "not-found",
    message: `${system.hostName} knows no Unix account with uid ${uid}.`,
    remedy: "Make the account first, or wait until the directory has it.",
  });
}

function isPerson({ uid }: Account): boolean {
  return uid >= firstPersonUid && uid !== nobody;
}

function rank({ user }: Account, wanted: string): number {
  return user.toLowerCase().startsWith(wanted) ? 0 : 1;
}

async function getent(system: System, keys: readonly string[]): Promise<readonly Account[]> {
  const result = await system.run(["getent", "passwd", ...keys], { timeoutMs });
  // 2: one of the keys is not there; 3: this service does not list.
  if (result.exitStatus === 2 || result.exitStatus === 3) return [];
  if (result.exitStatus !== 0) {
    throw new AppError({
      code: "unreadable",
      message: "The host's accounts could not be read (getent passwd).",
      remedy: "Look at the name service of the host (nsswitch.conf, SSSD or LDAP).",
      evidence: {
        command: result.argv,
        exitStatus: result.exitStatus,
        stderr: new TextDecoder().decode(result.stderr).slice(0, 2_000),
      },
    });
  }
  return new TextDecoder().decode(result.stdout).split("\n").flatMap(accountOfLine);
}

function accountOfLine(line: string): readonly Account[] {
  const [user = "", , uid = "", , comment = ""] = line.split(":");
  if (user === "" || !/^\d{1,10}$/.test(uid)) return [];
  return [{ uid: Number(uid), user, fullName: comment.split(",")[0] ?? "" }];
}
