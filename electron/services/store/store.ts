/**
 * The operator's own records in one SQLite file: clusters, settings, and the last inventory of each host, so that
 * the last known state opens with no connection. It holds no secret. When the file cannot be used the console works
 * on in memory, and says so: the operator loses comfort, never the console.
 */
import { renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { type ClusterDraft, clusterDraftSchema, type Settings, settingsSchema } from "../../../shared/api/contract.ts";
import { AppError, type AppErrorData } from "../../../shared/errors.ts";
import { type HostInventory, inventorySchema } from "../../../shared/protocol/inventory.ts";
import { makeDirectory } from "./directory.ts";
import { migrations } from "./migrations.ts";

export interface StoredCluster {
  readonly id: string;
  readonly draft: ClusterDraft;
}

export interface StoredInventory {
  readonly hostId: string;
  readonly asOf: string;
  readonly inventory: HostInventory;
}

export interface Store {
  clusters(): readonly StoredCluster[];
  putCluster(cluster: StoredCluster): void;
  removeCluster(id: string): void;
  settings(): Settings;
  putSettings(settings: Settings): void;
  inventories(clusterId: string): readonly StoredInventory[];
  /** All of them or none. */
  putInventories(clusterId: string, inventories: readonly StoredInventory[]): void;
  /** Why what is stored now will be gone when the console ends; null when all is well. */
  readonly trouble: AppErrorData | null;
  close(): void;
}

export const defaultSettings: Settings = { language: "system", theme: "system" };

/** Opens the store in `directory`. Never throws: a file that cannot be used gives a store in memory with `trouble`. */
export function openStore(
  directory: string,
  onTrouble: (error: AppErrorData) => void,
  limits: { readonly maxPages?: number } = {},
): Store {
  const file = join(directory, "console.sqlite");
  let trouble: AppErrorData | null = null;
  let database: DatabaseSync;
  try {
    makeDirectory(directory);
    database = openFile(file);
    if (limits.maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${limits.maxPages}`);
  } catch (error) {
    trouble = storeError(error, file);
    if (isCorrupt(error)) trouble = setAside(file, trouble);
    onTrouble(trouble);
    database = openFile(":memory:");
  }
  return storeOver(database, file, trouble, onTrouble);
}

function openFile(file: string): DatabaseSync {
  // A second console on the same account waits its turn instead of failing.
  const database = new DatabaseSync(file, { timeout: 5_000, enableForeignKeyConstraints: true });
  try {
    if (file !== ":memory:") {
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
      const verdict = Object.values(database.prepare("PRAGMA quick_check(1)").get() ?? {})[0];
      if (verdict !== "ok") throw new CorruptStore(String(verdict));
    }
    migrate(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

class CorruptStore extends Error {}

function migrate(database: DatabaseSync): void {
  const version = Number(Object.values(database.prepare("PRAGMA user_version").get() ?? {})[0] ?? 0);
  if (version > migrations.length) {
    throw new AppError({
      code: "version-mismatch",
      message: "The local store was written by a newer version of Tessera.",
      remedy: "Open it with that version, or start with another --data-directory.",
    });
  }
  for (const [index, statements] of migrations.entries()) {
    if (index < version) continue;
    database.exec(`BEGIN IMMEDIATE; ${statements} PRAGMA user_version = ${index + 1}; COMMIT;`);
  }
}

function storeOver(
  database: DatabaseSync,
  file: string,
  openingTrouble: AppErrorData | null,
  onTrouble: (error: AppErrorData) => void,
): Store {
  let trouble = openingTrouble;
  let open = true;
  const ownInode = openingTrouble === null ? inodeOf(file) : null;

  /** SQLite writes on into a file that has lost its name, and nobody finds again what stands there. */
  const checkPlace = (): void => {
    if (ownInode === null || inodeOf(file) === ownInode) return;
    const data: AppErrorData = {
      code: "not-found",
      message: "The local store was removed or replaced while the console runs: what you add is gone when it ends.",
      remedy: `Put ${file} back if you moved it, and start the console again.`,
      evidence: { details: file },
    };
    if (trouble?.message !== data.message) onTrouble(data);
    trouble = data;
  };

  /** A write the operator asked for fails aloud; what was on disk before stays as it was. */
  const write = (work: () => void): void => {
    if (!open) return;
    try {
      database.exec("BEGIN IMMEDIATE");
      try {
        work();
        database.exec("COMMIT");
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
    } catch (error) {
      const data = storeError(error, file);
      if (trouble?.message !== data.message) onTrouble(data);
      trouble = data;
      throw new AppError(data, { cause: error });
    }
    checkPlace();
  };

  return {
    get trouble() {
      return trouble;
    },
    clusters: () =>
      database
        .prepare("SELECT id, draft FROM cluster ORDER BY position, id")
        .all()
        .flatMap((row): readonly StoredCluster[] => {
          const draft = clusterDraftSchema.safeParse(parseJson(row.draft));
          return draft.success && typeof row.id === "string" ? [{ id: row.id, draft: draft.data }] : [];
        }),
    putCluster: ({ id, draft }) =>
      write(() => {
        database
          .prepare(
            `INSERT INTO cluster (id, position, draft) VALUES (?, (SELECT coalesce(max(position), 0) + 1 FROM cluster), ?)
             ON CONFLICT (id) DO UPDATE SET draft = excluded.draft`,
          )
          .run(id, JSON.stringify(draft));
        // A host that left the cluster takes its last inventory with it.
        database
          .prepare(
            "DELETE FROM last_inventory WHERE cluster_id = ? AND host_id NOT IN (SELECT value FROM json_each(?))",
          )
          .run(id, JSON.stringify(draft.hosts));
      }),
    removeCluster: (id) =>
      write(() => {
        database.prepare("DELETE FROM cluster WHERE id = ?").run(id);
      }),
    settings: () => {
      const row = database.prepare("SELECT value FROM setting WHERE key = 'settings'").get();
      const settings = settingsSchema.safeParse(parseJson(row?.value));
      return settings.success ? settings.data : defaultSettings;
    },
    putSettings: (settings) =>
      write(() => {
        database
          .prepare("INSERT INTO setting VALUES ('settings', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value")
          .run(JSON.stringify(settings));
      }),
    inventories: (clusterId) =>
      database
        .prepare("SELECT host_id, as_of, inventory FROM last_inventory WHERE cluster_id = ?")
        .all(clusterId)
        .flatMap((row): readonly StoredInventory[] => {
          const inventory = readInventory(row.inventory);
          if (inventory === null) return [];
          return [{ hostId: String(row.host_id), asOf: String(row.as_of), inventory }];
        }),
    putInventories: (clusterId, inventories) =>
      write(() => {
        const insert = database.prepare(
          `INSERT INTO last_inventory SELECT ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM cluster WHERE id = ?)
           ON CONFLICT (cluster_id, host_id) DO UPDATE SET as_of = excluded.as_of, inventory = excluded.inventory`,
        );
        for (const { hostId, asOf, inventory } of inventories) {
          const packed = deflateRawSync(JSON.stringify(inventory), { level: 1 });
          insert.run(clusterId, hostId, asOf, packed, clusterId);
        }
      }),
    close: () => {
      if (!open) return;
      open = false;
      database.close();
    },
  };
}

/** Written by this program or an older one of it: one that cannot be read is only forgotten, the host is asked again. */
function readInventory(packed: unknown): HostInventory | null {
  if (!(packed instanceof Uint8Array)) return null;
  try {
    const value: unknown = JSON.parse(inflateRawSync(packed).toString("utf8"));
    return isInventory(value) ? value : null;
  } catch {
    return null;
  }
}

function isInventory(value: unknown): value is HostInventory {
  return (
    typeof value === "object" &&
    value !== null &&
    "schema" in value &&
    value.schema === inventorySchema &&
    "gpus" in value &&
    Array.isArray(value.gpus)
  );
}

function parseJson(text: unknown): unknown {
  if (typeof text !== "string") return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** SQLite's primary result codes. */
const sqliteFull = 13;
const sqliteCorrupt = 11;
const sqliteNotADatabase = 26;

function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return null;
  return error.errcode & 0xff;
}

/** Device and inode; null where there is no such file, or nobody may look. */
function inodeOf(file: string): string | null {
  try {
    const { dev, ino } = statSync(file);
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}

function isCorrupt(error: unknown): boolean {
  const code = sqliteCode(error);
  return error instanceof CorruptStore || code === sqliteCorrupt || code === sqliteNotADatabase;
}

function isDiskFull(error: unknown): boolean {
  if (sqliteCode(error) === sqliteFull) return true;
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
}

function storeError(error: unknown, file: string): AppErrorData {
  if (error instanceof AppError) return error.toData();
  const words = error instanceof Error ? error.message : String(error);
  const evidence = { details: `${file}\n${words}` };
  if (isDiskFull(error)) {
    return {
      code: "disk-full",
      message: "The disk is full: clusters, settings and the last known state cannot be kept.",
      remedy: `Make room on the disk of ${file}; what was stored before is intact.`,
      evidence,
    };
  }
  return {
    code: isCorrupt(error) ? "unreadable" : "permission",
    message: isCorrupt(error)
      ? "The local store is damaged; the console works in memory, and what you add is gone when it ends."
      : "The local store cannot be opened; the console works in memory, and what you add is gone when it ends.",
    remedy: `Check that ${file} can be read and written, or start with another --data-directory.`,
    evidence,
  };
}

/** A damaged file is kept for whoever wants to save something from it, out of the way of the next start. */
function setAside(file: string, trouble: AppErrorData): AppErrorData {
  const kept = `${file}.damaged-${Date.now()}`;
  try {
    renameSync(file, kept);
    for (const suffix of ["-wal", "-shm"]) renameSync(`${file}${suffix}`, `${kept}${suffix}`);
  } catch {
    // WAL files need not be there; a file that cannot be moved is left, and the sentence stands as it is.
  }
  return { ...trouble, remedy: `The damaged file was kept as ${kept}; the next start makes a new one.` };
}
