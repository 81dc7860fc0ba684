/** The local store's shape, one entry a version; an entry that has shipped is never edited. */
export const migrations: readonly string[] = [
  `CREATE TABLE cluster (
     id TEXT PRIMARY KEY,
     position INTEGER NOT NULL,
     draft TEXT NOT NULL
   ) STRICT;
   CREATE TABLE setting (
     key TEXT PRIMARY KEY,
     value TEXT NOT NULL
   ) STRICT;
   CREATE TABLE last_inventory (
     cluster_id TEXT NOT NULL REFERENCES cluster (id) ON DELETE CASCADE,
     host_id TEXT NOT NULL,
     as_of TEXT NOT NULL,
     inventory BLOB NOT NULL,
     PRIMARY KEY (cluster_id, host_id)
   ) STRICT, WITHOUT ROWID;`,
];
