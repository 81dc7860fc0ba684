/** Which cards a cluster's GPU types stand for. */
import { AppError } from "../../../../../shared/errors.ts";
import { knownGeometries } from "../../../../../shared/mig/index.ts";
import type { GpuGeometry } from "../../../../../shared/mig/types.ts";
import { padType } from "../nodes.ts";
import type { CountedCard } from "./configuration.ts";

/**
 * One card for each undivided type among Slurm's (`h100`, `h100_3g.40gb`). `named` says the model of a type by its key in
 * the geometry table (`H100-SXM5-80GB`); without it the model is taken that alone has these profiles. Throws AppError
 * `bad-request` that lists the models where several or none fit.
 */
export function cardsOfTypes(types: readonly string[], named: ReadonlyMap<string, string>): readonly CountedCard[] {
  const own = types.filter((type) => type !== padType);
  const bases = [
    ...new Set(
      own.map((type) =>
        type
          .split("_")
          .filter((part) => !/^\d+g\./.test(part))
          .join("_"),
      ),
    ),
  ];
  return bases.map((type) => {
    const profiles = own.filter((each) => each.startsWith(`${type}_`)).map((each) => each.slice(type.length + 1));
    const geometry = modelOf(type, profiles, named.get(type));
    return { type, memoryGiB: memoryOf(geometry.key), geometry };
  });
}

function modelOf(type: string, profiles: readonly string[], wanted: string | undefined): GpuGeometry {
  const fitting = knownGeometries.filter(({ key, profiles: known }) => {
    if (wanted !== undefined) return key === wanted;
    const names = new Set(known.map(({ name }) => name));
    return key.toLowerCase().replaceAll("-", "_").startsWith(type) && profiles.every((name) => names.has(name));
  });
  const [first] = fitting;
  // Models of one memory size count alike: PCIe or SXM is no difference to a quota.
  if (first !== undefined && fitting.every(({ key }) => memoryOf(key) === memoryOf(first.key))) return first;
  const models = (fitting.length > 0 ? fitting : knownGeometries).map(({ key }) => key).join(", ");
  throw new AppError({
    code: "bad-request",
    message: `Which model is the GPU type ${type}?`,
    remedy: `Say it: --card ${type}=MODEL, one of ${models}.`,
  });
}

/** As the model's key says it: 80 of `H100-SXM5-80GB`. */
function memoryOf(key: string): number {
  return Number(/(\d+)GB/.exec(key)?.[1] ?? (key.includes("6000") ? 96 : 0));
}
