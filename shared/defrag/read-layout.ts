/** `tessera.layout/1` read strictly: whatever a plan could trip over is refused here, with where it stands. */
import { z } from "zod";
import { AppError } from "../errors.ts";
import { checkLayout, type GpuGeometry, geometryFor, profileNamed } from "../mig/index.ts";
import type { ClusterGpu, ClusterHost, ClusterInstance, ClusterLayout } from "./types.ts";
import { layoutSchema } from "./types.ts";

const word = z.string().min(1).max(256);
const optionalWord = word.nullish().transform((text) => text ?? null);
const instant = z.iso
  .datetime({ offset: true })
  .nullish()
  .transform((text) => text ?? null);
const optionalNumber = (number: z.ZodNumber) => number.nullish().transform((value) => value ?? null);
const smallNumber = z.number().int().min(0).max(65_535);

const allocationShape = z
  .object({
    tenant: optionalWord,
    project: optionalWord,
    user: optionalWord,
    movable: z.boolean().default(false),
    cost: z.number().positive().max(1e6).default(1),
    endsAt: instant,
    movableFrom: instant,
    movableUntil: instant,
    moveSeconds: optionalNumber(z.number().min(0).max(1e7)),
  })
  .readonly();

const optionalAllocation = allocationShape.nullish().transform((allocation) => allocation ?? null);

const instanceShape = z
  .object({ id: smallNumber, profile: word, start: z.number().int().min(0).max(31), allocation: optionalAllocation })
  .readonly();

const gpuShape = z
  .object({
    index: smallNumber,
    uuid: optionalWord,
    model: word,
    mig: z.boolean(),
    nvlinkGroup: optionalWord,
    allocation: optionalAllocation,
    instances: z.array(instanceShape).max(64).readonly().default([]),
  })
  .readonly();

const layoutShape = z.object({
  schema: z.literal(layoutSchema),
  takenAt: instant,
  hosts: z
    .array(
      z
        .object({
          name: word,
          rack: optionalWord,
          pool: optionalWord,
          gpus: z.array(gpuShape).max(256).readonly(),
        })
        .readonly(),
    )
    .max(100_000)
    .readonly(),
});

function wrongShape(where: string, reason: string): AppError {
  return new AppError({
    code: "bad-request",
    message: `The layout cannot be read: ${where}: ${reason}`,
    remedy: `Give a file of the schema ${layoutSchema}, as docs/defrag.md shows it.`,
  });
}

function illegal(where: string, reason: string, instead: string): AppError {
  return new AppError({
    code: "illegal-layout",
    message: `The layout cannot be: ${where}: ${reason}`,
    remedy: `${instead} Take the layout anew from tessera-host inventory, or correct the file.`,
  });
}

/** `hosts[0].gpus[2].index`. */
function pathText(path: readonly PropertyKey[]): string {
  const text = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`)).join("");
  return text === "" ? "the whole" : text.replace(/^\./, "");
}

function twice<T>(items: readonly T[]): T | undefined {
  const seen = new Set<T>();
  return items.find((item) => seen.size === seen.add(item).size);
}

/** Instances under the names of our table, ascending by start; throws where the GPU cannot be divided so. */
function divided(geometry: GpuGeometry, gpu: ClusterGpu, where: string): readonly ClusterInstance[] {
  const named = gpu.instances.map((instance) => {
    const profile = profileNamed(geometry, instance.profile);
    if (profile !== undefined) return { instance, profile };
    const known = geometry.profiles.map(({ name }) => name).join(", ");
    throw illegal(
      `${where}, instance ${instance.id}`,
      `${gpu.model} has no profile ${instance.profile}.`,
      `It knows ${known}.`,
    );
  });
  const [refusal] = checkLayout(geometry, {
    migEnabled: true,
    instances: named.map(({ instance, profile }) => ({
      profileId: profile.id,
      start: instance.start,
      id: instance.id,
      inUse: instance.allocation !== null,
    })),
  });
  if (refusal !== undefined) {
    const [legal] = refusal.instead;
    const instead = legal === undefined ? "" : `Legal there would be ${legal.profile} at ${legal.start}.`;
    throw illegal(where, refusal.sentence, instead);
  }
  return named
    .map(({ instance, profile }) => ({ ...instance, profile: profile.name }))
    .sort((a, b) => a.start - b.start);
}

function checkedGpu(gpu: ClusterGpu, host: string): ClusterGpu {
  const where = `host ${host}, GPU ${gpu.index}`;
  if (!gpu.mig) {
    if (gpu.instances.length === 0) return gpu;
    throw illegal(where, "it has instances while MIG is off.", 'Say "mig": true, or leave the instances out.');
  }
  if (gpu.allocation !== null) {
    throw illegal(where, "somebody holds the whole GPU while MIG is on.", "Put the allocation to an instance.");
  }
  const id = twice(gpu.instances.map((instance) => instance.id));
  if (id !== undefined) throw illegal(where, `two instances have the id ${id}.`, "An id stands for one instance.");
  const geometry = geometryFor({ name: gpu.model });
  if (geometry !== null) return { ...gpu, instances: divided(geometry, gpu, where) };
  throw illegal(
    where,
    `the model ${gpu.model} is not known, so its placements are not known either.`,
    'Write the name as nvidia-smi prints it, or "mig": false.',
  );
}

function checkedHost(host: ClusterHost): ClusterHost {
  const index = twice(host.gpus.map((gpu) => gpu.index));
  if (index !== undefined) {
    throw illegal(`host ${host.name}`, `two GPUs have the index ${index}.`, "An index stands for one GPU.");
  }
  const gpus = host.gpus.map((gpu) => checkedGpu(gpu, host.name)).sort((a, b) => a.index - b.index);
  return { ...host, gpus };
}

/**
 * A layout as parsed from JSON. Keys that it does not know are left alone, since exports may say more than a plan needs.
 *
 * Throws AppError `bad-request` where the shape is wrong, `illegal-layout` where a host, index or id stands twice, a model or
 * profile is unknown, or instances break a rule of MIG; the sentence says where.
 */
export function readLayout(value: unknown): ClusterLayout {
  const parsed = layoutShape.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw wrongShape(pathText(issue?.path ?? []), issue?.message ?? "it is not understood");
  }
  const { takenAt, hosts } = parsed.data;
  const name = twice(hosts.map((host) => host.name));
  if (name !== undefined) throw illegal(`host ${name}`, "it stands twice.", "Give every host its own name.");
  return { takenAt, hosts: hosts.map(checkedHost) };
}
