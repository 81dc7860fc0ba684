import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ClusterDraft } from "../../../shared/api/contract.ts";
import type { AppErrorData } from "../../../shared/errors.ts";
import { fakeInventory, wish } from "../testing/fake-inventory.ts";
import { defaultDataDirectory } from "./data-directory.ts";
import { migrations } from "./migrations.ts";
import { defaultSettings, openStore, type Store } from "./store.ts";

const draft: ClusterDraft = { name: "lab", hosts: ["a", "b"], racks: { kind: "none" } };
const inventory = fakeInventory("a", [wish("3g.40gb@4")]);
const asOf = "2026-01-02T03:04:05.000Z";

let directory: string;
let troubles: AppErrorData[];
const open = (where = directory): Store => openStore(where, (error) => troubles.push(error));
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tessera-store-"));
  troubles = [];
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test("what is put is there at the next start, in the order it was put", () => {
  const first = open();
  first.putCluster({ id: "2", draft });
  first.putCluster({ id: "1", draft: { ...draft, name: "other" } });
  first.putCluster({ id: "2", draft: { ...draft, name: "renamed" } });
  first.putSettings({ language: "zh-CN", theme: "high-contrast" });
  first.putInventories("2", [{ hostId: "a", asOf, inventory }]);
  first.close();
  const second = open();
  expect({
    clusters: second.clusters(),
    settings: second.settings(),
    inventories: second.inventories("2"),
    trouble: second.trouble,
  }).toEqual({
    clusters: [
      { id: "2", draft: { ...draft, name: "renamed" } },
      { id: "1", draft: { ...draft, name: "other" } },
    ],
    settings: { language: "zh-CN", theme: "high-contrast" },
    inventories: [{ hostId: "a", asOf, inventory }],
    trouble: null,
  });
  second.close();
});

test("an empty store has default settings", () => {
  const store = open();
  expect([store.clusters(), store.settings(), store.inventories("x")]).toEqual([[], defaultSettings, []]);
  store.close();
});

test("a cluster that goes, and a host that leaves it, take their last inventories along", () => {
  const store = open();
  store.putCluster({ id: "1", draft });
  store.putInventories(
    "1",
    ["a", "b"].map((hostId) => ({ hostId, asOf, inventory })),
  );
  store.putCluster({ id: "1", draft: { ...draft, hosts: ["b"] } });
  expect(store.inventories("1").map((entry) => entry.hostId)).toEqual(["b"]);
  store.removeCluster("1");
  expect(store.inventories("1")).toEqual([]);
  // The host of a cluster that was just removed may still report.
  store.putInventories("1", [{ hostId: "b", asOf, inventory }]);
  expect(store.inventories("1")).toEqual([]);
  store.close();
});

describe("when the file cannot be used", () => {
  test("a damaged file is kept aside, the console works in memory, and the next start is clean", () => {
    const file = join(directory, "console.sqlite");
    writeFileSync(file, "this is no database, but long enough to look like one".repeat(100));
    const store = open();
    store.putCluster({ id: "1", draft });
    expect(store.clusters()).toEqual([{ id: "1", draft }]);
    expect(troubles).toMatchObject([
      { code: "unreadable", remedy: expect.stringContaining("console.sqlite.damaged-") },
    ]);
    store.close();
    expect(readdirSync(directory).filter((name) => name.includes("damaged"))).toHaveLength(1);
    const next = open();
    expect([next.trouble, next.clusters()]).toEqual([null, []]);
    next.close();
  });

  test("a file with a damaged page is noticed", () => {
    const store = open();
    for (let index = 0; index < 300; index += 1) store.putCluster({ id: `cluster-${index}`, draft });
    store.close();
    const file = join(directory, "console.sqlite");
    const bytes = readFileSync(file);
    bytes.fill(0xa5, 4096 * 3, 4096 * 6);
    writeFileSync(file, bytes);
    const again = open();
    expect(again.trouble?.code).toBe("unreadable");
    again.close();
  });

  test("a place that cannot be made gives a store in memory", () => {
    const occupied = join(directory, "occupied");
    writeFileSync(occupied, "");
    const store = open(join(occupied, "below"));
    store.putSettings({ language: "en", theme: "dark" });
    expect(store.settings()).toEqual({ language: "en", theme: "dark" });
    expect(troubles).toMatchObject([{ code: "permission", message: expect.stringContaining("in memory") }]);
    store.close();
  });

  test.skipIf(process.platform !== "linux")("so does one whose file system makes no folders", () => {
    const store = open("/proc/tessera/console");
    expect(store.trouble?.remedy).toContain("/proc/tessera/console");
    store.close();
  });

  test("a file that is moved away or replaced while the console runs is noticed at the next write", () => {
    const store = open();
    store.putCluster({ id: "1", draft });
    expect(store.trouble).toBeNull();
    renameSync(join(directory, "console.sqlite"), join(directory, "elsewhere.sqlite"));
    store.putCluster({ id: "2", draft });
    writeFileSync(join(directory, "console.sqlite"), "");
    store.putCluster({ id: "3", draft });
    expect(store.clusters().map(({ id }) => id)).toEqual(["1", "2", "3"]);
    expect(troubles).toMatchObject([{ code: "not-found", message: expect.stringContaining("gone when it ends") }]);
    store.close();
  });

  test("a full disk fails the write aloud and leaves what was there", () => {
    const store = open();
    store.putCluster({ id: "1", draft });
    store.close();
    // SQLite answers SQLITE_FULL at its page limit just as at the disk's end.
    const file = join(directory, "console.sqlite");
    const limit = new DatabaseSync(file);
    const pages = Number(Object.values(limit.prepare("PRAGMA page_count").get() ?? {})[0]);
    limit.close();
    const full = openStore(directory, (error) => troubles.push(error), { maxPages: pages });
    const big = Array.from({ length: 9_000 }, (_, index) => `host-${index}-${Math.sin(index)}`);
    expect(() => full.putCluster({ id: "2", draft: { ...draft, hosts: big } })).toThrow(
      expect.objectContaining({ code: "disk-full" }),
    );
    expect(full.clusters()).toEqual([{ id: "1", draft }]);
    expect(full.trouble?.code).toBe("disk-full");
    expect(troubles.map((error) => error.code)).toEqual(["disk-full"]);
    full.close();
  });

  test("a file of a newer version is left alone", () => {
    open().close();
    const file = join(directory, "console.sqlite");
    const newer = new DatabaseSync(file);
    newer.exec(`PRAGMA user_version = ${migrations.length + 1}`);
    newer.close();
    const store = open();
    expect(store.trouble?.code).toBe("version-mismatch");
    store.close();
    expect(existsSync(file)).toBe(true);
  });
});

test("two consoles share one file", () => {
  const one = open();
  const two = open();
  one.putCluster({ id: "1", draft });
  two.putCluster({ id: "2", draft });
  expect(one.clusters().map((cluster) => cluster.id)).toEqual(["1", "2"]);
  one.close();
  two.close();
});

test("the data directory follows XDG, and ignores a relative path as the specification says", () => {
  expect(defaultDataDirectory({ XDG_DATA_HOME: "/data" }, "linux")).toBe("/data/tessera");
  expect(defaultDataDirectory({ XDG_DATA_HOME: "data" }, "linux")).toMatch(/\.local\/share\/tessera$/);
  expect(defaultDataDirectory({}, "linux")).toMatch(/\.local\/share\/tessera$/);
});

test("only its owner can look into a fresh data directory", async () => {
  const { statSync } = await import("node:fs");
  const fresh = join(directory, "a", "b");
  mkdirSync(join(directory, "a"));
  open(fresh).close();
  expect(statSync(fresh).mode & 0o777).toBe(0o700);
});
