/** The parts of the tool's help that are asked for by programs: enough to recognise the tool, its version and its options. */

export const versionOf = (driverVersion: string, cudaVersion: string): string =>
  `NVIDIA-SMI version  : ${driverVersion}\n` +
  `NVML version        : ${driverVersion.split(".").slice(0, 2).join(".")}\n` +
  `DRIVER version      : ${driverVersion}\n` +
  `CUDA Version        : ${cudaVersion}\n`;

export const migHelp = `
    mig -- Multi Instance GPU management.

    Usage: nvidia-smi mig [options]

    Options include:
    [-h | --help]: Display help information.
    [-i | --id]: Enumeration index, PCI bus ID or UUID.
    [-gi | --gpu-instance-id]: GPU instance ID.
    [-ci | --compute-instance-id]: Compute instance ID.
    [-lgip | --list-gpu-instance-profiles]: List supported GPU instance profiles.
    [-lgipp | --list-gpu-instance-possible-placements]: List possible GPU instance placements
    [-C | --default-compute-instance]: Create compute instance with the default profile when used
    [-cgi | --create-gpu-instance]: Create GPU instances for the given profile tuples.
    [-dgi | --destroy-gpu-instance]: Destroy GPU instances.
    [-lgi | --list-gpu-instances]: List GPU instances.
    [-lcip | --list-compute-instance-profiles]: List supported compute instance profiles.
    [-lcipp | --list-compute-instance-possible-placements]: List possible compute instance placements
    [-cci | --create-compute-instance]: Create compute instance for the given profile name or IDs.
    [-dci | --destroy-compute-instance]: Destroy compute instances.
    [-lci | --list-compute-instances]: List compute instances.

`;

export const helpOf = (driverVersion: string): string => `NVIDIA System Management Interface -- v${driverVersion}

NVSMI provides monitoring information for Tesla and select Quadro devices.
nvidia-smi [OPTION1 [ARG1]] [OPTION2 [ARG2]] ...

    -h,   --help                Print usage information and exit.
          --version             Print version information and exit.
    -L,   --list-gpus           Display a list of GPUs connected to the system.
    -i,   --id=                 Target a specific GPU.
    -q,   --query               Display GPU or Unit info.
    -x,   --xml-format          Produce XML output.
    -d,   --display=            Display only selected information.
          --query-gpu           Information about GPU.
          --query-compute-apps  List of currently active compute processes.
    -pm,  --persistence-mode=   Set persistence mode: 0/DISABLED, 1/ENABLED
    -r    --gpu-reset           Trigger reset of the GPU.
    -mig  --multi-instance-gpu= Enable or disable Multi Instance GPU: 0/DISABLED, 1/ENABLED
`;
