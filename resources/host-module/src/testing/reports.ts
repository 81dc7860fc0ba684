/** Outputs of nvidia-smi in the formats of 550 to 610, written for tests: two GPUs, the first of them divided. */

export interface FixtureProcess {
  readonly pid: number;
  readonly name: string;
  readonly gpuInstanceId?: number;
}

export interface FixtureGpu {
  readonly busId: string;
  readonly uuid: string;
  readonly name?: string;
  readonly mig?: "Enabled" | "Disabled" | "N/A";
  readonly pendingMig?: "Enabled" | "Disabled";
  /** GPU instance ids in the order of "Device N", each with one compute instance 0. */
  readonly devices?: readonly number[];
  readonly processes?: readonly FixtureProcess[];
  readonly temperature?: string;
  readonly utilisation?: string;
  readonly usedMiB?: number;
}

export function xmlReport(gpus: readonly FixtureGpu[], attached = gpus.length): string {
  return `<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
	<timestamp>Sun Mar  1 12:00:00 2026</timestamp>
	<driver_version>550.163.01</driver_version>
	<cuda_version>12.4</cuda_version>
	<attached_gpus>${attached}</attached_gpus>
${gpus.map(xmlGpu).join("")}</nvidia_smi_log>
`;
}

function xmlGpu(gpu: FixtureGpu, at: number): string {
  const mig = gpu.mig ?? "Disabled";
  const used = gpu.usedMiB ?? 1024;
  return `	<gpu id="${gpu.busId}">
		<product_name>${gpu.name ?? "NVIDIA H100 80GB HBM3"}</product_name>
		<persistence_mode>Enabled</persistence_mode>
		<mig_mode>
			<current_mig>${mig}</current_mig>
			<pending_mig>${gpu.pendingMig ?? mig}</pending_mig>
		</mig_mode>
		<mig_devices>${(gpu.devices ?? []).map(xmlDevice).join("")}</mig_devices>
		<uuid>${gpu.uuid}</uuid>
		<minor_number>${at}</minor_number>
		<pci>
			<pci_device_id>233010DE</pci_device_id>
			<pci_bus_id>${gpu.busId}</pci_bus_id>
		</pci>
		<fan_speed>N/A</fan_speed>
		<fb_memory_usage>
			<total>81559 MiB</total>
			<used>${used} MiB</used>
		</fb_memory_usage>
		<compute_mode>Default</compute_mode>
		<utilization>
			<gpu_util>${gpu.utilisation ?? (mig === "Enabled" ? "N/A" : "41 %")}</gpu_util>
			<memory_util>${mig === "Enabled" ? "N/A" : "7 %"}</memory_util>
		</utilization>
		<ecc_mode>
			<current_ecc>Enabled</current_ecc>
		</ecc_mode>
		<ecc_errors>
			<volatile>
				<sram_correctable>9</sram_correctable>
				<sram_uncorrectable_parity>1</sram_uncorrectable_parity>
				<sram_uncorrectable_secded>0</sram_uncorrectable_secded>
				<dram_uncorrectable>2</dram_uncorrectable>
			</volatile>
			<aggregate>
				<sram_uncorrectable_parity>N/A</sram_uncorrectable_parity>
				<dram_uncorrectable>4</dram_uncorrectable>
			</aggregate>
		</ecc_errors>
		<remapped_rows>
			<remapped_row_pending>No</remapped_row_pending>
			<remapped_row_failure>No</remapped_row_failure>
		</remapped_rows>
		<temperature>
			<gpu_temp>${gpu.temperature ?? "34 C"}</gpu_temp>
		</temperature>
		<gpu_power_readings>
			<average_power_draw>95.20 W</average_power_draw>
			<current_power_limit>700.00 W</current_power_limit>
		</gpu_power_readings>
		<supported_clocks>
			<supported_mem_clock><value>2619 MHz</value></supported_mem_clock>
		</supported_clocks>
		<processes>${(gpu.processes ?? []).map(xmlProcess).join("")}</processes>
	</gpu>
`;
}

function xmlDevice(gpuInstanceId: number, index: number): string {
  return `
			<mig_device>
				<index>${index}</index>
				<gpu_instance_id>${gpuInstanceId}</gpu_instance_id>
				<compute_instance_id>0</compute_instance_id>
				<device_attributes><shared><multiprocessor_count>16</multiprocessor_count></shared></device_attributes>
				<fb_memory_usage>
					<total>9984 MiB</total>
					<used>${10 + index} MiB</used>
				</fb_memory_usage>
			</mig_device>`;
}

function xmlProcess({ pid, name, gpuInstanceId }: FixtureProcess): string {
  return `
			<process_info>
				<gpu_instance_id>${gpuInstanceId ?? "N/A"}</gpu_instance_id>
				<compute_instance_id>${gpuInstanceId === undefined ? "N/A" : 0}</compute_instance_id>
				<pid>${pid}</pid>
				<type>C</type>
				<process_name>${name}</process_name>
				<used_memory>512 MiB</used_memory>
			</process_info>`;
}

/** A host of two H100: GPU 0 with a `3g.40gb`, a `1g.10gb` and an orphan, GPU 1 whole. */
export const firstGpu: FixtureGpu = {
  busId: "00000000:1A:00.0",
  uuid: "GPU-0a",
  mig: "Enabled",
  devices: [2, 7],
  processes: [{ pid: 4711, name: "/usr/bin/python3", gpuInstanceId: 2 }],
};
export const secondGpu: FixtureGpu = { busId: "00000000:3B:00.0", uuid: "GPU-1b" };

export const deviceList = `GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0a)
  MIG 3g.40gb     Device  0: (UUID: MIG-aa)
  MIG 1g.10gb     Device  1: (UUID: MIG-bb)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-1b)
`;

export const gpuInstanceList = `+-------------------------------------------------------+
| GPU instances:                                        |
| GPU   Name             Profile  Instance   Placement  |
|                          ID       ID       Start:Size |
|=======================================================|
|   0  MIG 1g.10gb         19        7          0:1     |
+-------------------------------------------------------+
|   0  MIG 1g.10gb         19        9          2:1     |
+-------------------------------------------------------+
|   0  MIG 3g.40gb          9        2          4:4     |
+-------------------------------------------------------+
`;

export const computeInstanceList = `+--------------------------------------------------------------------+
| Compute instances:                                                 |
| GPU     GPU       Name             Profile   Instance   Placement  |
|       Instance                       ID        ID       Start:Size |
|         ID                                                         |
|====================================================================|
|   0      7       MIG 1g.10gb          0         0          0:1     |
+--------------------------------------------------------------------+
|   0      2       MIG 3g.40gb          2         0          0:3     |
+--------------------------------------------------------------------+
`;

export const topologyMatrix = `	\u001b[4mGPU0	GPU1	NIC0	CPU Affinity	NUMA Affinity	GPU NUMA ID\u001b[0m
GPU0	 X 	NV18	PIX	0-31	0		N/A
GPU1	NV18	 X 	SYS	32-63	1		N/A
NIC0	PIX	SYS	 X

Legend:

  X    = Self
  NV#  = Connection traversing a bonded set of # NVLinks

NIC Legend:

  NIC0: mlx5_0
`;

export const nvlinkStatus = `GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0a)
Nvlink queries are not supported for Devices in MIG mode
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-1b)
	 Link 0: 26.562 GB/s
	 Link 1: <inactive>
`;

/** What the host answers, by command. */
export const hostRuns: Readonly<Record<string, string>> = {
  "nvidia-smi -q -x": xmlReport([firstGpu, secondGpu]),
  "nvidia-smi -L": deviceList,
  "nvidia-smi mig -lgi": gpuInstanceList,
  "nvidia-smi mig -lci": computeInstanceList,
  "nvidia-smi topo -m": topologyMatrix,
  "nvidia-smi nvlink -s": nvlinkStatus,
  "dmesg --time-format=iso":
    "2026-03-01T11:59:00,000000+00:00 NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', GPU has fallen off the bus.\n" +
    "2026-03-01T11:59:01,000000+00:00 secret of another program\n",
};

export const hostFiles: Readonly<Record<string, string>> = {
  "/proc/sys/kernel/random/boot_id": "5b6ed2c0-3a5c-4e7e-9d0c-0b8f6f1f7a11\n",
  "/proc/sys/kernel/osrelease": "6.1.0-32-amd64\n",
  "/proc/stat": "cpu  1 2 3\nbtime 1772300000\nprocesses 99\n",
  "/proc/meminfo": "MemTotal:       1056784384 kB\nMemFree: 1 kB\n",
  "/sys/devices/system/cpu/online": "0-63\n",
  "/sys/devices/system/node/online": "0-1\n",
  "/sys/devices/system/node/node0/cpulist": "0-31\n",
  "/sys/devices/system/node/node0/meminfo": "Node 0 MemTotal:       528392192 kB\n",
  "/sys/devices/system/node/node1/cpulist": "32-63\n",
  "/sys/class/infiniband/mlx5_0/device/numa_node": "0\n",
  "/sys/bus/pci/devices/0000:1a:00.0/numa_node": "0\n",
  "/sys/bus/pci/devices/0000:1a:00.0/local_cpulist": "0-31\n",
  "/sys/bus/pci/devices/0000:3b:00.0/numa_node": "-1\n",
  "/proc/4711/status":
    "Name:\tpython3\nUid:\t1042\t1042\t1042\t1042\nGid:\t2001\t2001\t2001\t2001\nGroups:\t2001 3001 \n",
  "/proc/4711/stat": "4711 (python3 (x) y) S 1 1 1 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 1 0 360000 1 1 1\n",
  "/proc/4711/comm": "python3\n",
  "/proc/812/comm": "nv-hostengine\n",
  "/proc/1/comm": "systemd\n",
  "/etc/passwd":
    "root:x:0:0:root:/root:/bin/bash\nada:x:1042:2001:Ada L., room 5:/home/ada:/bin/bash\nbob:x:1043:2001:::\n",
  "/etc/group": "root:x:0:\nvision:x:2001:ada,bob\nvision-detect:x:3001:ada\n",
};
