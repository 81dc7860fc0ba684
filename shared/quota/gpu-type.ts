/**
 * What a GPU, or an instance of it, counts as in limits on types, as Slurm's types are written: `h100` for
 * `NVIDIA H100 80GB HBM3`, `h100/3g.40gb` for an instance (`+me` and the like are no type of their own).
 * `productName` is nvidia-smi's; `profile` null: the whole GPU.
 */
export function gpuTypeOf(productName: string, profile: string | null): string {
  const model = /^NVIDIA (RTX PRO \d+|[A-Za-z0-9]+)/.exec(productName)?.[1] ?? productName;
  const name = model
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, "_")
    .slice(0, 40);
  return profile === null ? name : `${name}/${profile.split("+")[0] ?? ""}`;
}
