/** What a machine does to a file, done for real: a full disk, a read-only one, damage, a lock that is not given back. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../../../shared/errors.ts";
import { asOps, noonText } from "../testing/ledger.ts";
import { backupLedger } from "./backup.ts";
import { checkLedger, verifyAudit } from "./check.ts";
import { openLedger } from "./ledger.ts";
import { tenants } from "./organisation.ts";
import { settings } from "./settings.ts";

const act = { ...asOps, command: "test" };
const tenant = { id: "t0001", displayName: "A", createdAt: noonText };

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tessera-trouble-"));
  path = join(directory, "state", "ledger.sqlite");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function refusal(work: () => unknown): Pick<AppError, "code" | "message" | "remedy"> {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, message: error.message, remedy: error.remedy };
    throw error;
  }
  throw new Error("nothing was refused");
}

const root = process.getuid?.() === 0;

/** A file system of a size of its own; null where nobody may mount one. */
function smallDisk(at: string, options: string): Disposable | null {
  mkdirSync(at, { recursive: true });
  if (!root || spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", at]).status !== 0) return null;
  return { [Symbol.dispose]: () => void spawnSync("umount", ["--lazy", at]) };
}

describe("the place", () => {
  test("is made for its owner alone, the files beside the ledger too", () => {
    const mask = process.umask(0);
    using ledger = openLedger(path);
    ledger.change(act, (change) => change.insert(tenants, tenant));
    process.umask(mask);
    const modes = Object.fromEntries(
      readdirSync(join(directory, "state")).map((name) => [
        name,
        statSync(join(directory, "state", name)).mode & 0o777,
      ]),
    );
    expect([statSync(join(directory, "state")).mode & 0o777, modes]).toEqual([
      0o700,
      {
        "ledger.sqlite": 0o600,
        "ledger.sqlite-shm": 0o600,
        "ledger.sqlite-wal": 0o600,
        "ledger.sqlite.audit-marks": 0o600,
      },
    ]);
  });

  test("a file that others could read is closed to them", () => {
    openLedger(path).close();
    chmodSync(path, 0o644);
    openLedger(path).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("is refused where others could write, or something else stands there", () => {
    const cases: Readonly<Record<string, () => void>> = {
      "a directory that a group may write": () => {
        mkdirSync(join(directory, "state"));
        chmodSync(join(directory, "state"), 0o770);
      },
      "a link to a directory": () => symlinkSync("/tmp", join(directory, "state")),
      "a link to a file": () => {
        mkdirSync(join(directory, "state"), { mode: 0o700 });
        writeFileSync(join(directory, "precious"), "");
        symlinkSync("../precious", path);
      },
      "a directory for a file": () => mkdirSync(path, { recursive: true, mode: 0o700 }),
      ...(root
        ? {
            "another's directory": () => {
              mkdirSync(join(directory, "state"), { mode: 0o700 });
              chownSync(join(directory, "state"), 65_534, 65_534);
            },
          }
        : {}),
    };
    for (const [name, prepare] of Object.entries(cases)) {
      rmSync(join(directory, "state"), { recursive: true, force: true });
      prepare();
      expect(refusal(() => openLedger(path)).code, name).toBe("permission");
    }
  });
});

describe("a full disk", () => {
  test("stops the change that does not fit, whole; when there is room again all goes on", (context) => {
    using disk = smallDisk(join(directory, "small"), "size=1m,mode=700");
    if (disk === null) return context.skip("mounting a small file system needs root");
    using ledger = openLedger(join(directory, "small", "ledger.sqlite"));
    let count = 0;
    const fill = () => {
      for (; count < 1_000; count += 1) {
        ledger.change(act, (change) => {
          change.insert(settings, { name: `a${count}`, value: "x".repeat(2_000) });
          change.insert(settings, { name: `b${count}`, value: "x".repeat(2_000) });
        });
      }
    };
    expect(refusal(fill)).toEqual({
      code: "disk-full",
      message: `There is no room left for the ledger ${join(directory, "small", "ledger.sqlite")}.`,
      remedy: "Nothing was changed. Free space on that file system, then try again.",
    });
    const names = ledger.list(settings).map(({ name }) => name);
    expect([names.length, count > 0, ledger.database.isTransaction]).toEqual([2 * count, true, false]);
    expect([checkLedger(ledger), verifyAudit(ledger).findings]).toEqual([{ sound: true, problems: [] }, []]);
    spawnSync("mount", ["-o", "remount,size=4m", join(directory, "small")]);
    ledger.change(act, (change) => change.insert(tenants, tenant));
    expect([ledger.get(tenants, tenant).displayName, verifyAudit(ledger).intact]).toEqual(["A", true]);
  });

  test("leaves no half of a new ledger, and no half of a backup", (context) => {
    const small = join(directory, "small");
    using disk = smallDisk(small, "size=4k,mode=700");
    if (disk === null) return context.skip("mounting a small file system needs root");
    const there = join(small, "ledger.sqlite");
    // Each page more, it is another of SQLite's files that does not fit.
    for (let sizeKiB = 4; sizeKiB <= 40; sizeKiB += 4) {
      spawnSync("mount", ["-o", `remount,size=${sizeKiB}k`, small]);
      expect([sizeKiB, refusal(() => openLedger(there)).code]).toEqual([sizeKiB, "disk-full"]);
    }
    using ledger = openLedger(path);
    expect(refusal(() => backupLedger(ledger, join(small, "copy"))).code).toBe("disk-full");
    expect(readdirSync(small).filter((name) => name.startsWith("copy"))).toEqual([]);
    spawnSync("mount", ["-o", "remount,size=4m", small]);
    using later = openLedger(there);
    later.change(act, (change) => change.insert(tenants, tenant));
    expect(verifyAudit(later)).toMatchObject({ intact: true, rows: 1, notes: [] });
  });
});

describe("a ledger that may not be written", () => {
  test("on a read-only file system is refused at once, and as it was after", (context) => {
    const small = join(directory, "small");
    using disk = smallDisk(small, "size=4m,mode=700");
    if (disk === null) return context.skip("mounting a file system needs root");
    const there = join(small, "ledger.sqlite");
    openLedger(there).close();
    const before = readFileSync(there);
    spawnSync("mount", ["-o", "remount,ro", small]);
    expect(refusal(() => openLedger(there))).toEqual({
      code: "permission",
      message: `The ledger ${there} cannot be opened for writing.`,
      remedy: "Nothing was changed. Run as root, on a file system that is writable.",
    });
    expect([readdirSync(small).toSorted(), readFileSync(there).equals(before)]).toEqual([
      ["ledger.sqlite", "ledger.sqlite.audit-marks"],
      true,
    ]);
  });

  test("by a file's mode: the owner without root is refused", (context) => {
    if (!root) return context.skip("becoming another user needs root");
    const script = `
      import { openLedger } from ${JSON.stringify(join(import.meta.dirname, "ledger.ts"))};
      import { chmodSync } from "node:fs";
      const path = process.argv[1];
      openLedger(path).close();
      chmodSync(path, 0o400);
      chmodSync(process.argv[2], 0o500);
      try { openLedger(path); } catch (error) { process.stdout.write(error.code); }
      chmodSync(process.argv[2], 0o700);`;
    chmodSync(directory, 0o711);
    mkdirSync(join(directory, "state"), { mode: 0o700 });
    chownSync(join(directory, "state"), 65_534, 65_534);
    const args = ["--input-type=module", "-e", script, path, join(directory, "state")];
    const child = spawnSync(process.execPath, args, { uid: 65_534, gid: 65_534, encoding: "utf8", cwd: "/" });
    expect([child.stdout, child.stderr]).toEqual(["permission", ""]);
  });
});

describe("damage", () => {
  const remedy = "Move it away together with its -wal, -shm and .audit-marks files, and put a backup in its place.";
  const ruins: Readonly<Record<string, () => void>> = {
    "a file cut in the middle": () => truncateSync(path, 40_960),
    "a file cut in the middle of a page": () => truncateSync(path, 10_000),
    "a file that is none of SQLite's": () => writeFileSync(path, "x".repeat(20_000)),
    "an overwritten schema": () => {
      const content = readFileSync(path);
      content.fill(0xff, 100, 4_096);
      writeFileSync(path, content);
    },
  };
  test.each(Object.entries(ruins))("%s is refused as it is", (_, ruin) => {
    {
      using ledger = openLedger(path);
      ledger.change(act, (change) => {
        for (let count = 0; count < 200; count += 1)
          change.insert(settings, { name: `a${count}`, value: "x".repeat(500) });
      });
    }
    ruin();
    const before = readFileSync(path);
    expect(refusal(() => openLedger(path))).toEqual({
      code: "unreadable",
      message: `The ledger ${path} is damaged.`,
      remedy,
    });
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});

test("a lock that another connection does not give back: refused after the wait, and nothing of it stays", () => {
  using ledger = openLedger(path, { busyTimeoutMs: 100 });
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  const change = () => ledger.change(act, (work) => work.insert(tenants, tenant));
  expect(refusal(change)).toEqual({
    code: "locked",
    message: "The ledger is being written by somebody else, for longer than we wait.",
    remedy: "Nothing was changed. Try again; `fuser` on the file tells which process holds it.",
  });
  // Reading goes on meanwhile.
  expect(ledger.list(tenants)).toEqual([]);
  other.exec("ROLLBACK");
  other.close();
  expect([change().version, verifyAudit(ledger)]).toMatchObject([1, { rows: 1, intact: true, notes: [] }]);
});
