/** Which limits Slurm keeps here, in the resources of our limits. */
import type { Enforcement, EngineFinding, EngineStatus } from "../../../../../shared/protocol/control.ts";
import type { SlurmSettings } from "../../slurm/config.ts";
import { checkSlurm, type QuotaKind, type SlurmFinding } from "../../slurm/doctor.ts";
import type { SlurmCapabilities } from "../../slurm/version.ts";
import { cardShareGres, cardShareUnits } from "./counted-gres.ts";
import type { SlurmResources } from "./limit-mapping.ts";

const quotaOf: readonly (readonly [resource: string, quota: QuotaKind])[] = [
  ["cards", "gpu-cards"],
  ["gpuMemoryGiB", "gpu-memory"],
  ["cpuCores", "cpu-cores"],
  ["memoryGiB", "memory"],
  ["cardHours", "card-hours"],
  ["gpuTypes", "gpu-types"],
];

/** The status where slurmctld answered. `gpuTypes` are those of the nodes. */
export function statusOf(
  settings: SlurmSettings,
  capabilities: SlurmCapabilities,
  version: string | null,
  gpuTypes: readonly string[],
  resources: SlurmResources,
): EngineStatus {
  const { findings, quotas } = checkSlurm(settings, capabilities, gpuTypes);
  const enforcement = quotaOf.map(([resource, kind]): Enforcement => {
    const quota = quotas.find(({ quota }) => quota === kind);
    const why = quota?.enforced === true ? "" : (quota?.because ?? "It is not known.");
    return resource === "cards" || resource === "cardHours"
      ? cardEnforcement(resource, why, settings, resources)
      : { resource, enforced: why === "", why };
  });
  return {
    kind: "slurm",
    version,
    enforcement,
    findings: [...findings.map(findingOf), ...cardFinding(settings, resources)],
  };
}

/** Parts of cards are counted by job_submit.lua; without it, whoever asks for a GPU asks for no part of a card. */
function cardEnforcement(
  resource: string,
  why: string,
  { jobSubmitPlugins }: SlurmSettings,
  { cards }: SlurmResources,
): Enforcement {
  const reasons = [
    ...(why === "" ? [] : [why]),
    ...(cards === null ? ["Cards are divided, and Slurm does not count parts of them."] : []),
    ...(cards !== null && cards.unitsPerCard === cardShareUnits && !jobSubmitPlugins.includes("lua")
      ? [`There is no job_submit.lua, which counts a job's parts of cards as gres/${cardShareGres}.`]
      : []),
  ];
  return { resource, enforced: reasons.length === 0, why: reasons.join(" ") };
}

function cardFinding({ gresTypes, trackedTres }: SlurmSettings, { cards }: SlurmResources): readonly EngineFinding[] {
  const check = "parts of cards";
  if (cards?.unitsPerCard === cardShareUnits)
    return [{ check, level: "ok", message: "Slurm counts parts of cards.", remedy: "" }];
  const lines = [
    `GresTypes=${[...new Set([...gresTypes, cardShareGres])].join(",")}`,
    `AccountingStorageTRES=${[...new Set([...trackedTres.filter((tres) => tres.startsWith("gres/")), `gres/${cardShareGres}`])].join(",")}`,
  ];
  return [
    {
      check,
      level: cards === null ? "problem" : "warning",
      message:
        cards === null
          ? `Slurm does not count gres/${cardShareGres}, and cards are divided: no limit on cards or card-hours holds.`
          : `Slurm does not count gres/${cardShareGres}: limits are in whole cards.`,
      remedy: `Change slurm.conf, give each node ${cardShareUnits} of it a card, and restart slurmctld.`,
      change: { file: "slurm.conf", lines },
    },
  ];
}

function findingOf({ check, level, message, remedy, change }: SlurmFinding): EngineFinding {
  return {
    ...{ check, level, message, remedy },
    ...(change === null ? {} : { change: { file: change.file, lines: [`${change.key}=${change.value}`] } }),
  };
}

/** The status where nothing answered. */
export function silentStatus(version: string | null, why: string): EngineStatus {
  return {
    kind: "slurm",
    version,
    enforcement: quotaOf.map(([resource]) => ({ resource, enforced: false, why: "Slurm did not answer." })),
    findings: [
      {
        check: "connection",
        level: "problem",
        message: `slurmctld did not answer: ${why}`,
        remedy: "See that slurmctld runs, and that this host has Slurm's client tools and its configuration.",
      },
    ],
  };
}
