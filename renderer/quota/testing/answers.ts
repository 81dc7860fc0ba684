/** Answers about quotas for tests. */
import type { AllocationView, Me, QuotaAnswer, QuotaNodeView } from "../../../shared/protocol/control.ts";
import { fraction, type Limits, type QuotaLevel, type Usage } from "../../../shared/quota/index.ts";

export const nowMs = Date.parse("2026-05-04T08:00:00.000Z");

export function node(
  id: string,
  level: QuotaLevel,
  parentId: string | null,
  name: string,
  limits: Limits = {},
  usage?: Usage,
): QuotaNodeView {
  return { id, level, parentId, name, limits, version: 1, ...(usage === undefined ? {} : { usage }) };
}

export function allocation(id: string, subject: string, state: "running" | "waiting", cards: number): AllocationView {
  return {
    id,
    kind: "job",
    subject,
    user: "lena",
    name: "train",
    state,
    cards: fraction(cards),
    gpuMemoryGiB: fraction(0),
    cpuCores: fraction(0),
    memoryGiB: fraction(0),
    gpuTypes: {},
    startedAt: state === "running" ? "2026-05-04T07:00:00.000Z" : null,
    endsAt: null,
    hosts: state === "running" ? "g1" : null,
    reason: state === "running" ? null : "AssocGrpGRES",
  };
}

/** NLP (12 cards) has Chat (8, in use 7, one waits for 2) and Search (8); Vision (20) has Chat (4). */
export const smallAnswer: QuotaAnswer = {
  revision: 7,
  rule: "larger",
  nodes: [
    node("cluster", "cluster", null, "Cluster"),
    node("t0nxp", "tenant", "cluster", "NLP", { cards: fraction(12) }),
    node("t0nxp_p01", "project", "t0nxp", "Chat", { cards: fraction(8) }),
    node("t0nxp_p01/1001", "person", "t0nxp_p01", "lena", {}, { cards: fraction(7) }),
    node("t0nxp_p02", "project", "t0nxp", "Search", { cards: fraction(8) }),
    node("t0v1s", "tenant", "cluster", "Vision", { cards: fraction(20) }),
    node("t0v1s_p01", "project", "t0v1s", "Chat", { cards: fraction(4) }),
  ],
  grants: [],
  allocations: [
    allocation("41", "t0nxp_p01/1001", "running", 4),
    { ...allocation("42", "t0nxp_p01/1001", "running", 3), startedAt: "2026-05-04T07:30:00.000Z" },
    allocation("43", "t0nxp_p01/1001", "waiting", 2),
  ],
  enforcement: [],
};

export const lead: Me = {
  uid: 1000,
  user: "mara",
  role: "lead",
  leads: ["t0nxp"],
  projects: [],
  open: false,
  ledger: true,
  rolesRevision: 1,
  rolesConfirmedAt: null,
  engine: "slurm",
};
