import { expect, test } from "vitest";
import { simulatedMachine } from "../../resources/demo-cluster/driver/describe.ts";
import { countedGres, gpuType, gresSlots, nodeGres } from "./gres.ts";
import { gresConf, slurmConf } from "./slurm-configuration.ts";

function node(gpus: Parameters<typeof simulatedMachine>[0]["gpus"]) {
  const machine = simulatedMachine({ hostName: "g1", gpus });
  const slots = gresSlots(machine);
  return { name: "g1", address: "198.19.0.2", cpus: 16, memoryMiB: 1024, slots, counted: countedGres(machine) };
}

test("gres.conf: seven slots a card, an instance by the card's file and its two capabilities, the rest pads", () => {
  const whole = node([{}, { instances: [{ profile: "3g.40gb", start: 4 }] }]);
  const capability = (minor: number) => `/dev/nvidia-caps/nvidia-cap${minor}`;
  const pads = (gpu: number) =>
    [0, 1, 2, 3, 4, 5].map((pad) => `NodeName=g1 Name=gpu Type=pad File=/dev/nvidia-caps/pad${gpu}.${pad}`);
  expect(gresConf([whole])).toBe(
    [
      "AutoDetect=off",
      "NodeName=g1 Name=gpu Type=h100 File=/dev/nvidia0",
      ...pads(0),
      // The driver calls an instance of this size at slice 4 number 2: 3 + 135 + 2 x 9, and its compute instance 0.
      `NodeName=g1 Name=gpu Type=h100_3g.40gb MultipleFiles=/dev/nvidia1,${capability(156)},${capability(157)}`,
      ...pads(1),
      "NodeName=g1 Name=vram Count=160 Flags=CountOnly",
      "NodeName=g1 Name=cardshare Count=124 Flags=CountOnly",
      "",
    ].join("\n"),
  );
});

test("the count of gres/gpu is the same for every layout of the same cards", () => {
  const count = (gres: string) =>
    gres
      .split(",")
      .filter((word) => word.startsWith("gpu:"))
      .reduce((sum, word) => sum + Number(word.split(":").at(-1)), 0);
  const layouts = [undefined, [], ["7g.80gb"], ["3g.40gb", "3g.40gb"], Array(7).fill("1g.10gb")];
  const counts = layouts.map((profiles) => {
    const instances = profiles?.map((profile: string) => ({ profile }));
    const { slots, counted } = node([instances === undefined ? {} : { instances }]);
    return count(nodeGres(slots, counted));
  });
  expect(counts).toEqual([7, 7, 7, 7, 7]);
});

test("types are the models' names, in what Slurm allows", () => {
  const models = ["NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-40GB", "NVIDIA RTX PRO 6000 Blackwell Server Edition"];
  expect(models.map(gpuType)).toEqual(["h100", "a100", "rtx_pro_6000"]);
});

test("slurm.conf: own lines replace those that set the same, and pads are not accounted for", () => {
  const conf = slurmConf({ controlAddress: "198.19.0.1", nodes: [node([{}])], lines: ["PrivateData=none"] });
  expect(conf.match(/^(PrivateData|AccountingStorageTRES)=.*$/gm)).toEqual([
    "AccountingStorageTRES=gres/gpu,gres/gpu:h100,gres/vram,gres/cardshare",
    "PrivateData=none",
  ]);
});
