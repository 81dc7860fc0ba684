import { describe, expect, it } from "vitest";
import { cardsOfTypes } from "./cards.ts";

const none = new Map<string, string>();
const models = (types: readonly string[], named = none) =>
  cardsOfTypes(types, named).map(({ type, memoryGiB, geometry }) => [type, memoryGiB, geometry?.key]);

describe("cards of Slurm's GPU types", () => {
  it("are known by their profiles, and pads are none", () => {
    expect(models(["a100_1g.5gb", "a100", "pad", "a100_3g.20gb"])).toEqual([["a100", 40, "A100-40GB"]]);
    expect(models(["h100_1g.10gb", "h100_2g.20gb"])).toEqual([["h100", 80, "H100-PCIe-80GB"]]);
  });

  it("are asked for where several models fit, and taken as they are named", () => {
    expect(() => models(["h100"])).toThrow(/Which model is the GPU type h100/);
    expect(models(["h100"], new Map([["h100", "H100-NVL-94GB"]]))).toEqual([["h100", 94, "H100-NVL-94GB"]]);
    expect(() => models(["h100"], new Map([["h100", "H100-900GB"]]))).toThrow(/Which model/);
    expect(() => models(["tpu"])).toThrow(/Which model/);
  });
});
