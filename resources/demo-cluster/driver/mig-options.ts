/** The command line of `nvidia-smi mig`. */
import { EarlyEnd } from "./answer.ts";

export type MigAction =
  | "help"
  | "-lgip"
  | "-lgipp"
  | "-lgi"
  | "-lci"
  | "-lcip"
  | "-lcipp"
  | "-cgi"
  | "-cci"
  | "-dgi"
  | "-dci";

export interface MigOptions {
  readonly action: MigAction;
  /** Profile words of `-cgi` and `-cci`; null where `-cci` came without. */
  readonly profiles: readonly string[] | null;
  readonly gpus: string | null;
  readonly gpuInstanceIds: readonly number[] | null;
  readonly computeInstanceIds: readonly number[] | null;
  readonly withComputeInstance: boolean;
}

const longNames: Readonly<Record<string, string>> = {
  "--help": "-h",
  "--id": "-i",
  "--gpu-instance-id": "-gi",
  "--compute-instance-id": "-ci",
  "--list-gpu-instance-profiles": "-lgip",
  "--list-gpu-instance-possible-placements": "-lgipp",
  "--default-compute-instance": "-C",
  "--create-gpu-instance": "-cgi",
  "--destroy-gpu-instance": "-dgi",
  "--list-gpu-instances": "-lgi",
  "--list-compute-instance-profiles": "-lcip",
  "--list-compute-instance-possible-placements": "-lcipp",
  "--create-compute-instance": "-cci",
  "--destroy-compute-instance": "-dci",
  "--list-compute-instances": "-lci",
};

const plainActions = ["-lgip", "-lgipp", "-lgi", "-lci", "-lcip", "-lcipp", "-dgi", "-dci"] as const;

export function parseMigOptions(argv: readonly string[]): MigOptions {
  let action: MigAction = "help";
  let profiles: readonly string[] | null = null;
  let gpus: string | null = null;
  let gpuInstanceIds: readonly number[] | null = null;
  let computeInstanceIds: readonly number[] | null = null;
  let withComputeInstance = false;

  const words = argv.flatMap((word) => {
    const equals = word.startsWith("-") ? word.indexOf("=") : -1;
    return equals === -1 ? [word] : [word.slice(0, equals), word.slice(equals + 1)];
  });
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const option = longNames[word] ?? word;
    const next = words[at + 1];
    const value = next === undefined || next.startsWith("-") ? null : next;
    const taken = (): string => {
      if (value === null) throw new EarlyEnd(`Option "${word}" is missing its value.\n`, 255);
      at += 1;
      return value;
    };
    const plain = plainActions.find((candidate) => candidate === option);
    if (plain !== undefined) action = plain;
    else if (option === "-h") return { ...empty, action: "help" };
    else if (option === "-C") withComputeInstance = true;
    else if (option === "-i") gpus = taken();
    else if (option === "-gi") gpuInstanceIds = numbers(taken());
    else if (option === "-ci") computeInstanceIds = numbers(taken());
    else if (option === "-cgi") {
      action = "-cgi";
      profiles = taken().split(",");
    } else if (option === "-cci") {
      action = "-cci";
      if (value !== null) profiles = taken().split(",");
    } else throw new EarlyEnd(`Option "${word}" is not recognized.\n`, 255);
  }
  return { action, profiles, gpus, gpuInstanceIds, computeInstanceIds, withComputeInstance };
}

const empty: MigOptions = {
  action: "help",
  profiles: null,
  gpus: null,
  gpuInstanceIds: null,
  computeInstanceIds: null,
  withComputeInstance: false,
};

/** `1,2`; a word that is no number matches nothing. */
function numbers(list: string): number[] {
  return list.split(",").map((word) => (/^\d+$/.test(word) ? Number(word) : -1));
}
