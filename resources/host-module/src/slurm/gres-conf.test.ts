import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readGresConf } from "./gres-conf.ts";
import { hasSamples, sampleText } from "./testing/samples.ts";

test("lines of this node, files one a device, several of one device, ranges, and other resources left out", () => {
  const content = `# GPUs
AutoDetect=off
NodeName=g[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=0-7 # whole
NodeName=g3 Name=gpu Type=a100 File=/dev/nvidia0
NodeName=g1 name=GPU type=a100_1g.5gb \\
  MultipleFiles=/dev/nvidia2,/dev/nvidia-caps/nvidia-cap[21-22]
NodeName=g1 Name=vram Count=235 Flags=CountOnly
Name=gpu Type=pad Count=2
`;
  expect(readGresConf(content, "g1")).toEqual({
    autoDetect: false,
    gpus: [
      { type: "a100", devices: [["/dev/nvidia0"], ["/dev/nvidia1"]] },
      {
        type: "a100_1g.5gb",
        devices: [["/dev/nvidia2", "/dev/nvidia-caps/nvidia-cap21", "/dev/nvidia-caps/nvidia-cap22"]],
      },
      { type: "pad", devices: [null, null] },
    ],
  });
});

test.each([
  ["", false],
  ["AutoDetect=nvml", true],
  ["AutoDetect=nvml\nNodeName=g1 AutoDetect=off Name=gpu File=/dev/nvidia0", false],
  ["AutoDetect=off\nNodeName=g1 AutoDetect=nvml", true],
  ["NodeName=g2 AutoDetect=nvml", false],
])("%j: slurmd finds GPUs by itself: %s", (content, autoDetect) => {
  expect(readGresConf(content, "g1")?.autoDetect).toBe(autoDetect);
});

test.each([
  "Include /etc/slurm/more.conf",
  "Name=gpu File=/dev/nvidia[0-",
  "NodeName=g[ Name=gpu File=/dev/nvidia0",
  "Name=gpu Count=99999",
  "Name=gpu Count=many",
])("%j says nothing for sure", (content) => {
  expect(readGresConf(content, "g1")).toBeNull();
});

test("any text ends in facts or in none", () => {
  const words = fc.constantFrom(
    "Name=gpu ",
    "File=",
    "MultipleFiles=",
    "/dev/nvidia",
    "[0-3]",
    "[",
    "\\\n",
    "\n",
    '"',
    "#",
    "=",
  );
  fc.assert(
    fc.property(fc.array(words), (parts) => {
      const conf = readGresConf(parts.join(""), "g1");
      return conf === null || Array.isArray(conf.gpus);
    }),
  );
});

describe.skipIf(!hasSamples)("real files", () => {
  test("of a site that mixes whole and divided GPUs", () => {
    const conf = readGresConf(sampleText("quoted/phoebe-gpu2-mig-gres.conf.txt"), "gpu2");
    expect(conf?.autoDetect).toBe(false);
    expect(conf?.gpus.flatMap(({ devices }) => devices).length).toBe(7);
    expect(conf?.gpus.at(-1)?.devices).toEqual([
      ["/dev/nvidia4", "/dev/nvidia-caps/nvidia-cap606", "/dev/nvidia-caps/nvidia-cap607"],
    ]);
  });

  test("of a site that lets slurmd detect", () => {
    const conf = readGresConf(sampleText("ceems/gres.conf"), "any");
    expect([conf?.autoDetect, conf?.gpus.length]).toEqual([true, 12]);
  });
});
