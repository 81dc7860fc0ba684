/** What runs on the demo cluster's GPUs, and what it does to their power and temperature. */
import type { SimulatedMachine } from "../driver/machine.ts";
import type { SimulatedGpuInstance, SimulatedProcess } from "../driver/state.ts";
import type { Person } from "./people.ts";
import type { Chance } from "./random.ts";

interface Program {
  readonly command: readonly string[];
  /** What its people call the jobs that run it. */
  readonly jobNames: readonly string[];
}

const programs: readonly Program[] = [
  {
    command: ["/opt/conda/bin/python", "train.py", "--config", "configs/base.yaml"],
    jobNames: ["pretrain-7b", "train-base", "ablation-lr", "resume-ckpt-40k"],
  },
  {
    command: ["/opt/conda/bin/python", "-m", "torch.distributed.run", "finetune.py"],
    jobNames: ["sft-8b", "lora-r16", "dpo-round2"],
  },
  { command: ["/usr/bin/python3", "serve.py", "--port", "8000"], jobNames: ["serve-chat", "serve-embed"] },
  { command: ["/opt/venv/bin/python", "-m", "ipykernel_launcher"], jobNames: ["jupyter", "notebook"] },
  {
    command: ["/opt/tritonserver/bin/tritonserver", "--model-repository=/models"],
    jobNames: ["triton-staging", "triton-rank"],
  },
  {
    command: ["/opt/conda/bin/python", "eval.py", "--split", "test"],
    jobNames: ["eval-nightly", "eval-test", "sweep-eval"],
  },
];

/** Of a program's names the one that belongs to the job's number. */
function jobName({ jobNames }: Program, job: number): string {
  return jobNames[job % jobNames.length] ?? "batch";
}

/** Starts a program of somebody's on a whole GPU, or in an instance that has a compute instance. */
export function startWork(
  machine: SimulatedMachine,
  chance: Chance,
  index: number,
  instance: SimulatedGpuInstance | null,
  person: Person,
  nowMs: number,
): SimulatedProcess | null {
  const gpu = machine.gpu(index);
  const computeInstance = instance?.computeInstances[0];
  if (instance !== null && computeInstance === undefined) return null;
  const capacityMiB =
    instance === null ? machine.model(index).memoryMiB - 2048 : (machine.profileOf(index, instance).memoryMiB ?? 4096);
  const job = chance.between(47_000, 49_999);
  const usedMemoryMiB = Math.round(capacityMiB * (0.25 + 0.68 * chance.next()));
  const activity = chance.happens(0.12) ? 0 : chance.between(18, 99);
  if (instance === null) {
    gpu.utilisationPercent = activity;
    gpu.memoryUtilisationPercent = Math.round(activity * 0.6);
  } else instance.activityPercent = activity;
  const program = chance.pick(programs);
  return machine.startProcess({
    uid: person.uid,
    command: [...program.command],
    startedAtMs: Math.max(
      machine.state.bootedAtMs + 600_000,
      nowMs - Math.round(10 ** (3 + 5.2 * chance.next())) - 60_000,
    ),
    gpu: {
      uuid: gpu.uuid,
      gpuInstanceId: instance?.id ?? null,
      computeInstanceId: computeInstance?.id ?? null,
      usedMemoryMiB,
    },
    cgroup: `0::/system.slice/slurmstepd.scope/job_${job}/step_batch/user/task_0\n`,
    environment: [
      `SLURM_JOB_ID=${job}`,
      `SLURM_JOB_NAME=${jobName(program, job)}`,
      `SLURM_JOB_ACCOUNT=${person.tenant}-${person.project}`,
    ],
  });
}

/** How busy the whole GPU is: its own work, or that of its instances by their share of the compute slices. */
export function loadOf(machine: SimulatedMachine, index: number): number {
  const gpu = machine.gpu(index);
  if (!gpu.migEnabled) return gpu.utilisationPercent / 100;
  const slices = machine.geometry(index)?.computeSlices ?? 1;
  return (
    gpu.instances.reduce((load, instance) => {
      const busy = machine.processesOf(index, instance.id).length > 0;
      return load + (busy ? (instance.activityPercent / 100) * machine.profileOf(index, instance).computeSlices : 0);
    }, 0) / slices
  );
}

/** Sets power and temperature to what the load gives. Cards differ a little, each always in the same way. */
export function settle(machine: SimulatedMachine, index: number): void {
  const gpu = machine.gpu(index);
  const model = machine.model(index);
  const own = (Number.parseInt(gpu.uuid.slice(4, 8), 16) % 17) / 17;
  const load = loadOf(machine, index);
  const held = machine.processesOf(index).length > 0 ? 0.05 : 0;
  const watts = model.idleWatts + (model.powerLimitWatts - model.idleWatts) * (held + load * (0.72 + 0.16 * own));
  gpu.powerWatts = Math.round(Math.min(watts, model.powerLimitWatts) * 100) / 100;
  gpu.temperatureCelsius = Math.round(27 + 6 * own + 42 * (gpu.powerWatts / model.powerLimitWatts));
}
