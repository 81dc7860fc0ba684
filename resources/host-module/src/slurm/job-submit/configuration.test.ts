import { describe, expect, it } from "vitest";
import { knownGeometries } from "../../../../../shared/mig/geometry.ts";
import { allLayouts, spread } from "../../../../../shared/mig/testing/layouts.ts";
import { countedConfiguration, gpuTypeFacts, mostOf } from "./configuration.ts";

const geometryOf = (key: string) => knownGeometries.find((geometry) => geometry.key === key) ?? null;
const h100 = { type: "h100", memoryGiB: 80, geometry: geometryOf("H100-SXM5-80GB") };
const l40s = { type: "l40s", memoryGiB: 48, geometry: null };

describe("gpuTypeFacts", () => {
  it("has the whole card and its profiles, in units of 1/56", () => {
    const said = gpuTypeFacts([h100, h100, l40s]).map(
      (fact) => `${fact.type} ${fact.memoryGiB} ${fact.cardShareUnits}`,
    );
    expect(said).toEqual([
      "h100 80 56",
      "h100_1g.10gb 10 8",
      "h100_1g.10gb+me 10 8",
      "h100_1g.20gb 20 14",
      "h100_2g.20gb 20 16",
      "h100_3g.40gb 40 28",
      "h100_4g.40gb 40 32",
      "h100_7g.80gb 80 56",
      "l40s 48 56",
    ]);
  });
});

describe("mostOf", () => {
  it("is at least what any layout counts for", () => {
    const { geometry } = h100;
    if (geometry === null) throw new Error("no geometry");
    const facts = new Map(gpuTypeFacts([h100]).map((fact) => [fact.type, fact]));
    const most = mostOf(h100);
    expect(most).toEqual({ memoryGiB: 80, cardShareUnits: 62 });
    for (const places of spread(allLayouts(geometry), 200)) {
      const counted = places.map(({ profileId }) => {
        const name = geometry.profiles.find(({ id }) => id === profileId)?.name;
        return facts.get(`h100_${name}`)?.cardShareUnits ?? Number.NaN;
      });
      expect(counted.reduce((sum, units) => sum + units, 0)).toBeLessThanOrEqual(most.cardShareUnits);
    }
    expect(mostOf(l40s)).toEqual({ memoryGiB: 48, cardShareUnits: 56 });
  });
});

describe("countedConfiguration", () => {
  it("says each line with its file, and leaves pads and nodes without cards out", () => {
    const nodes = [
      { name: "g1", cards: [h100, l40s] },
      { name: "c1", cards: [] },
    ];
    const lines = countedConfiguration(nodes, ["h100", "pad", "h100_3g.40gb", "h100"]);
    expect(lines.map(({ file, text }) => `${file}: ${text}`)).toEqual([
      "slurm.conf: GresTypes=gpu,cardshare,vram",
      "slurm.conf: AccountingStorageTRES=gres/gpu,gres/gpu:h100,gres/gpu:h100_3g.40gb,gres/cardshare,gres/vram",
      "slurm.conf: JobSubmitPlugins=lua",
      "slurm.conf: NodeName=g1 Gres=...,cardshare:118,vram:128",
      "gres.conf: NodeName=g1 Name=cardshare Count=118 Flags=CountOnly",
      "gres.conf: NodeName=g1 Name=vram Count=128 Flags=CountOnly",
    ]);
  });
});
