import { auditSchema } from "../audit/schema.ts";

export interface Migration {
  /** What the step is for, in a few words. */
  readonly what: string;
  readonly statements: string;
}

/**
 * Forward steps; the nth makes version n of a file of version n - 1. A step that has been released is never edited: there
 * are files that it made. Column names are the names of our types, so that a row is an object.
 *
 * `version` of an object is the number of the audit row that made it what it is. It only ever grows, also when an object
 * was removed and made again, and it leads straight to who changed it and when.
 */
export const migrations: readonly Migration[] = [
  {
    what: "tenants, projects, people, settings and the audit",
    statements: `
${Object.values(auditSchema).join(";\n")};
CREATE INDEX auditByObject ON audit ("object", "seq");
CREATE INDEX auditByTenant ON audit ("tenant", "seq");

-- An id is never given twice, though what bore it is long gone: Slurm and the audit still know it.
CREATE TABLE givenIds ("id" TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

CREATE TABLE people (
  "uid" INTEGER PRIMARY KEY CHECK ("uid" >= 0),
  "user" TEXT NOT NULL,
  "seenAt" TEXT NOT NULL,
  "version" INTEGER NOT NULL
) STRICT;
CREATE TABLE administrators (
  "uid" INTEGER PRIMARY KEY REFERENCES people,
  "version" INTEGER NOT NULL
) STRICT;
CREATE TABLE tenants (
  "id" TEXT PRIMARY KEY,
  "displayName" TEXT NOT NULL,
  "createdAt" TEXT NOT NULL,
  "version" INTEGER NOT NULL
) STRICT;
CREATE TABLE leads (
  "tenantId" TEXT NOT NULL REFERENCES tenants,
  "uid" INTEGER NOT NULL REFERENCES people,
  "version" INTEGER NOT NULL,
  PRIMARY KEY ("tenantId", "uid")
) STRICT;
CREATE TABLE projects (
  "id" TEXT PRIMARY KEY,
  "tenantId" TEXT NOT NULL REFERENCES tenants,
  "displayName" TEXT NOT NULL,
  "createdAt" TEXT NOT NULL,
  "version" INTEGER NOT NULL,
  CHECK (substr("id", 1, length("tenantId") + 2) = "tenantId" || '_p')
) STRICT;
CREATE INDEX projectsByTenant ON projects ("tenantId");
CREATE TABLE members (
  "projectId" TEXT NOT NULL REFERENCES projects,
  "uid" INTEGER NOT NULL REFERENCES people,
  "role" TEXT NOT NULL,
  "version" INTEGER NOT NULL,
  PRIMARY KEY ("projectId", "uid")
) STRICT;
CREATE INDEX membersByPerson ON members ("uid");
CREATE TABLE settings (
  "name" TEXT PRIMARY KEY,
  "value" TEXT NOT NULL CHECK (json_valid("value")),
  "version" INTEGER NOT NULL
) STRICT;
`,
  },
  {
    what: "limits, requests, grants and resets",
    statements: `
CREATE TABLE limits (
  "subject" TEXT PRIMARY KEY,
  "scope" TEXT NOT NULL CHECK ("scope" IN ('cluster', 'tenant', 'project', 'person')),
  "tenantId" TEXT REFERENCES tenants,
  "projectId" TEXT REFERENCES projects,
  "uid" INTEGER REFERENCES people,
  "limits" TEXT NOT NULL CHECK (json_valid("limits")),
  "version" INTEGER NOT NULL,
  FOREIGN KEY ("projectId", "uid") REFERENCES members ("projectId", "uid"),
  CHECK (("tenantId" IS NOT NULL) = ("scope" IN ('tenant', 'project', 'person'))
     AND ("projectId" IS NOT NULL) = ("scope" IN ('project', 'person'))
     AND ("uid" IS NOT NULL) = ("scope" = 'person'))
) STRICT;
CREATE INDEX limitsByTenant ON limits ("tenantId");

CREATE TABLE resets (
  "subject" TEXT PRIMARY KEY,
  "scope" TEXT NOT NULL CHECK ("scope" IN ('cluster', 'tenant', 'project', 'person')),
  "tenantId" TEXT REFERENCES tenants,
  "projectId" TEXT REFERENCES projects,
  "uid" INTEGER REFERENCES people,
  "period" TEXT NOT NULL CHECK ("period" IN ('none', 'day', 'week', 'month', 'quarter')),
  "timeZone" TEXT NOT NULL,
  "lastDoneAt" TEXT,
  "version" INTEGER NOT NULL,
  FOREIGN KEY ("projectId", "uid") REFERENCES members ("projectId", "uid"),
  CHECK (("tenantId" IS NOT NULL) = ("scope" IN ('tenant', 'project', 'person'))
     AND ("projectId" IS NOT NULL) = ("scope" IN ('project', 'person'))
     AND ("uid" IS NOT NULL) = ("scope" = 'person'))
) STRICT;
CREATE INDEX resetsByTenant ON resets ("tenantId");

-- History: what they were about may be gone, so they refer to it by name only.
CREATE TABLE requests (
  "id" TEXT PRIMARY KEY,
  "subject" TEXT NOT NULL,
  "scope" TEXT NOT NULL CHECK ("scope" IN ('cluster', 'tenant', 'project', 'person')),
  "tenantId" TEXT,
  "projectId" TEXT,
  "uid" INTEGER,
  "amount" TEXT NOT NULL CHECK (json_valid("amount")),
  "why" TEXT NOT NULL,
  "until" TEXT NOT NULL,
  "askedBy" INTEGER NOT NULL,
  "askedAt" TEXT NOT NULL,
  "state" TEXT NOT NULL CHECK ("state" IN ('asked', 'approved', 'refused', 'withdrawn')),
  "decidedBy" INTEGER,
  "decidedAt" TEXT,
  "answer" TEXT,
  "version" INTEGER NOT NULL,
  CHECK (("state" = 'asked') = ("decidedAt" IS NULL) AND ("decidedBy" IS NULL) = ("decidedAt" IS NULL))
) STRICT;
CREATE INDEX requestsByTenant ON requests ("tenantId", "state");

-- A raise is never on without the way back: 'revert' stands here before the raise is set.
CREATE TABLE grants (
  "id" TEXT PRIMARY KEY,
  "requestId" TEXT NOT NULL REFERENCES requests,
  "subject" TEXT NOT NULL,
  "scope" TEXT NOT NULL CHECK ("scope" IN ('cluster', 'tenant', 'project', 'person')),
  "tenantId" TEXT,
  "projectId" TEXT,
  "uid" INTEGER,
  "amount" TEXT NOT NULL CHECK (json_valid("amount")),
  "until" TEXT NOT NULL,
  "state" TEXT NOT NULL CHECK ("state" IN ('approved', 'running', 'ended', 'cut short')),
  "revert" TEXT CHECK ("revert" IS NULL OR json_valid("revert")),
  "startedAt" TEXT,
  "endedAt" TEXT,
  "version" INTEGER NOT NULL,
  CHECK ("startedAt" IS NULL OR "revert" IS NOT NULL),
  CHECK ("state" <> 'running' OR ("startedAt" IS NOT NULL AND "endedAt" IS NULL)),
  CHECK (("state" IN ('ended', 'cut short')) = ("endedAt" IS NOT NULL))
) STRICT;
CREATE INDEX grantsByTenant ON grants ("tenantId", "state");
CREATE INDEX grantsByRequest ON grants ("requestId");
`,
  },
  {
    what: "leases",
    statements: `
-- History too: card-hours of a period are counted from it, also when what it was about is gone.
CREATE TABLE leases (
  "id" TEXT PRIMARY KEY,
  "subject" TEXT NOT NULL,
  "scope" TEXT NOT NULL CHECK ("scope" = 'person'),
  "tenantId" TEXT NOT NULL,
  "projectId" TEXT NOT NULL,
  "uid" INTEGER NOT NULL,
  "gpuUuid" TEXT NOT NULL,
  "gpuInstanceId" INTEGER,
  "amounts" TEXT NOT NULL CHECK (json_valid("amounts")),
  "takenAt" TEXT NOT NULL,
  "until" TEXT,
  "releasedAt" TEXT,
  "version" INTEGER NOT NULL,
  CHECK ("until" IS NULL OR "until" > "takenAt"),
  CHECK ("releasedAt" IS NULL OR "releasedAt" >= "takenAt")
) STRICT;
CREATE INDEX leasesByTenant ON leases ("tenantId");
CREATE INDEX leasesByGpu ON leases ("gpuUuid") WHERE "releasedAt" IS NULL;
`,
  },
  {
    what: "use that does not count",
    statements: `
-- A reading of the engine's counter at the start of a period, of each row that the period covers: no object of anybody's,
-- and so without a version; the row of 'resets' that it was taken for is what the audit tells of.
CREATE TABLE baselines (
  "subject" TEXT NOT NULL,
  "period" TEXT NOT NULL,
  "counter" TEXT NOT NULL,
  "minutes" INTEGER NOT NULL CHECK ("minutes" >= 0),
  "takenAt" TEXT NOT NULL,
  PRIMARY KEY ("subject", "period")
) STRICT, WITHOUT ROWID;

-- What was set before counts from zero, as it always did, until its next period begins.
ALTER TABLE resets ADD COLUMN "why" TEXT NOT NULL DEFAULT 'set'
  CHECK ("why" IN ('set', 'period', 'late', 'set back', 'faded'));
ALTER TABLE resets ADD COLUMN "countsFrom" TEXT;
ALTER TABLE resets ADD COLUMN "notCounted" INTEGER NOT NULL DEFAULT 0 CHECK ("notCounted" >= 0);
ALTER TABLE resets ADD COLUMN "writtenAt" TEXT;
`,
  },
];
