/**
 * Everything `nvidia-smi -q` says about one GPU, as one tree that is written out twice: as text and as XML.
 * The two differ in a few places, so a node may carry a label, a tag, or both.
 */
import { memoryFacts, migDevice, utilisationOf } from "./device-facts.ts";
import { type Fact, fact, group, unknown } from "./fact.ts";
import type { SimulatedMachine } from "./machine.ts";
import { processFacts } from "./process-facts.ts";

const percent = (value: string): string => (value === "N/A" ? value : `${value} %`);

export function factsOf(machine: SimulatedMachine, index: number): Fact[] {
  const gpu = machine.gpu(index);
  const model = machine.model(index);
  const capable = machine.geometry(index) !== null;
  const mode = (enabled: boolean): string => (capable ? (enabled ? "Enabled" : "Disabled") : "N/A");
  const devices = gpu.migEnabled ? machine.devicesOf(index) : [];
  const utilisation = utilisationOf(machine, index);
  const enabled = gpu.persistenceMode ? "Enabled" : "Disabled";
  const watts = (value: number): string => `${value.toFixed(2)} W`;
  const clock = machine.processesOf(index).length > 0 ? model.graphicsClockMhz : 345;
  const [bus = "00"] = gpu.bus.split(":");
  const uncorrected = (value: number): Fact[] => [
    fact("SRAM Correctable", "sram_correctable", 0),
    fact("SRAM Uncorrectable Parity", "sram_uncorrectable_parity", 0),
    fact("SRAM Uncorrectable SEC-DED", "sram_uncorrectable_secded", 0),
    fact("DRAM Correctable", "dram_correctable", 0),
    fact("DRAM Uncorrectable", "dram_uncorrectable", value),
  ];
  return [
    fact("Product Name", "product_name", gpu.productName),
    fact("Product Brand", "product_brand", "NVIDIA"),
    fact("Product Architecture", "product_architecture", model.architecture),
    fact("Display Mode", "display_mode", "Disabled"),
    fact("Display Active", "display_active", "Disabled"),
    fact("Persistence Mode", "persistence_mode", enabled),
    fact("Addressing Mode", "addressing_mode", "None"),
    group("MIG Mode", "mig_mode", [
      fact("Current", "current_mig", mode(gpu.migEnabled)),
      fact("Pending", "pending_mig", mode(gpu.migPending)),
    ]),
    ...(devices.length === 0
      ? [fact(null, "mig_devices", "\n\t\t\tNone\n\t\t")]
      : [
          group(
            null,
            "mig_devices",
            devices.map((device) => migDevice(machine, index, device)),
          ),
        ]),
    fact("Accounting Mode", "accounting_mode", "Disabled"),
    fact("Accounting Mode Buffer Size", "accounting_mode_buffer_size", 4000),
    group("Driver Model", "driver_model", [unknown("Current", "current_dm"), unknown("Pending", "pending_dm")]),
    fact("Serial Number", "serial", gpu.serial),
    fact("GPU UUID", "uuid", gpu.uuid),
    fact("Minor Number", "minor_number", index),
    fact("VBIOS Version", "vbios_version", model.vbios),
    fact("MultiGPU Board", "multigpu_board", "No"),
    fact("Board ID", "board_id", `0x${bus.toLowerCase()}00`),
    fact("Board Part Number", "board_part_number", model.partNumber),
    unknown("GPU Part Number", "gpu_part_number"),
    unknown("FRU Part Number", "gpu_fru_part_number"),
    unknown("Module ID", "gpu_module_id"),
    group("Inforom Version", "inforom_version", [
      fact("Image Version", "img_version", model.imageVersion),
      fact("OEM Object", "oem_object", "2.1"),
      fact("ECC Object", "ecc_object", "7.16"),
      unknown("Power Management Object", "pwr_object"),
    ]),
    group("Inforom BBX Object Flush", "inforom_bbx_flush", [
      unknown("Latest Timestamp", "latest_timestamp"),
      unknown("Latest Duration", "latest_duration"),
    ]),
    group("GPU Operation Mode", "gpu_operation_mode", [
      fact("Current", "current_gom", "All On"),
      fact("Pending", "pending_gom", "All On"),
    ]),
    unknown("GPU C2C Mode", "c2c_mode"),
    group("GPU Virtualization Mode", "gpu_virtualization_mode", [
      fact("Virtualization Mode", "virtualization_mode", "None"),
      unknown("Host VGPU Mode", "host_vgpu_mode"),
      unknown("vGPU Heterogeneous Mode", "vgpu_heterogeneous_mode"),
    ]),
    group(
      "GPU Reset Status",
      "gpu_reset_status",
      [
        gpu.migPending === gpu.migEnabled
          ? unknown("Reset Required", "reset_required")
          : fact("Reset Required", "reset_required", "Yes"),
        unknown("Drain and Reset Recommended", "drain_and_reset_recommended"),
      ],
      "RESET_STATUS",
    ),
    {
      ...fact("GSP Firmware Version", "gsp_firmware_version", machine.state.driverVersion),
      display: "GSP_FIRMWARE_VERSION",
    },
    group("IBMNPU", "ibmnpu", [unknown("Relaxed Ordering Mode", "relaxed_ordering_mode")]),
    group("PCI", "pci", [
      fact("Bus", null, `0x${bus}`),
      fact(null, "pci_bus", bus),
      fact("Device", null, "0x00"),
      fact(null, "pci_device", "00"),
      fact("Domain", null, "0x0000"),
      fact(null, "pci_domain", "0000"),
      fact("Base Classcode", null, "0x3"),
      fact(null, "pci_base_class", 3),
      fact("Sub Classcode", null, "0x2"),
      fact(null, "pci_sub_class", 2),
      fact("Device Id", null, `0x${model.pciDeviceId}`),
      fact(null, "pci_device_id", model.pciDeviceId),
      fact("Bus Id", "pci_bus_id", machine.busId(index)),
      fact("Sub System Id", null, "0x165810DE"),
      fact(null, "pci_sub_system_id", "165810DE"),
      group("GPU Link Info", "pci_gpu_link_info", [
        group("PCIe Generation", "pcie_gen", [
          fact("Max", "max_link_gen", 5),
          fact("Current", "current_link_gen", 5),
          fact("Device Current", "device_current_link_gen", 5),
          fact("Device Max", "max_device_link_gen", 5),
          fact("Host Max", "max_host_link_gen", 5),
        ]),
        group("Link Width", "link_widths", [
          fact("Max", "max_link_width", "16x"),
          fact("Current", "current_link_width", "16x"),
        ]),
      ]),
      group("Bridge Chip", "pci_bridge_chip", [
        unknown("Type", "bridge_chip_type"),
        unknown("Firmware", "bridge_chip_fw"),
      ]),
      fact("Replays Since Reset", "replay_counter", 0),
      fact("Replay Number Rollovers", "replay_rollover_counter", 0),
      fact("Tx Throughput", "tx_util", "0 KB/s"),
      fact("Rx Throughput", "rx_util", "0 KB/s"),
      unknown("Atomic Caps Inbound", "atomic_caps_inbound"),
      unknown("Atomic Caps Outbound", "atomic_caps_outbound"),
    ]),
    unknown("Fan Speed", "fan_speed"),
    { ...fact("Performance State", "performance_state", "P0"), display: "PERFORMANCE" },
    group("Clocks Event Reasons", "clocks_event_reasons", clockReasons(gpu.utilisationPercent === 0), "PERFORMANCE"),
    { ...fact("Sparse Operation Mode", "sparse_operation_mode", "Disabled"), display: "PERFORMANCE" },
    group(
      "FB Memory Usage",
      "fb_memory_usage",
      memoryFacts(model.memoryMiB, machine.usedMemoryMiB(index), model.reservedMiB),
      "MEMORY",
    ),
    group("BAR1 Memory Usage", "bar1_memory_usage", memoryFacts(262144, 0, null), "MEMORY"),
    group(
      "Conf Compute Protected Memory Usage",
      "cc_protected_memory_usage",
      [unknown("Total", "total"), unknown("Used", "used"), unknown("Free", "free")],
      "MEMORY",
    ),
    { ...fact("Compute Mode", "compute_mode", "Default"), display: "COMPUTE" },
    group(
      "Utilization",
      "utilization",
      [
        fact("Gpu", "gpu_util", percent(utilisation.gpu)),
        fact("Memory", "memory_util", percent(utilisation.memory)),
        fact("Encoder", "encoder_util", utilisation.gpu === "N/A" ? "N/A" : "0 %"),
        fact("Decoder", "decoder_util", utilisation.gpu === "N/A" ? "N/A" : "0 %"),
        fact("JPEG", "jpeg_util", utilisation.gpu === "N/A" ? "N/A" : "0 %"),
        fact("OFA", "ofa_util", utilisation.gpu === "N/A" ? "N/A" : "0 %"),
      ],
      "UTILIZATION",
    ),
    group("Encoder Stats", "encoder_stats", sessions, "ENCODER_STATS"),
    group("FBC Stats", "fbc_stats", sessions, "FBC_STATS"),
    group(
      "ECC Mode",
      "ecc_mode",
      [fact("Current", "current_ecc", "Enabled"), fact("Pending", "pending_ecc", "Enabled")],
      "ECC",
    ),
    group(
      "ECC Errors",
      "ecc_errors",
      [
        group("Volatile", "volatile", uncorrected(gpu.volatileUncorrected)),
        group("Aggregate", "aggregate", [
          ...uncorrected(gpu.aggregateUncorrected),
          fact("SRAM Threshold Exceeded", "sram_threshold_exceeded", "No"),
        ]),
        group("Aggregate Uncorrectable SRAM Sources", "aggregate_uncorrectable_sram_sources", [
          fact("SRAM L2", "sram_l2", 0),
          fact("SRAM SM", "sram_sm", 0),
          fact("SRAM Microcontroller", "sram_microcontroller", 0),
          fact("SRAM PCIE", "sram_pcie", 0),
          fact("SRAM Other", "sram_other", 0),
        ]),
      ],
      "ECC",
    ),
    group(
      "Retired Pages",
      null,
      [fact("Single Bit ECC", null, 0), fact("Double Bit ECC", null, 0), fact("Pending Page Blacklist", null, "No")],
      "PAGE_RETIREMENT",
    ),
    group(null, "retired_pages", [
      group(null, "multiple_single_bit_retirement", retired),
      group(null, "double_bit_retirement", retired),
      fact(null, "pending_blacklist", "No"),
      fact(null, "pending_retirement", "No"),
    ]),
    group(
      "Remapped Rows",
      "remapped_rows",
      [
        fact("Correctable Error", "remapped_row_corr", 0),
        fact("Uncorrectable Error", "remapped_row_unc", gpu.remappedRowsPending || gpu.remappedRowsFailed ? 1 : 0),
        fact("Pending", "remapped_row_pending", gpu.remappedRowsPending ? "Yes" : "No"),
        fact("Remapping Failure Occurred", "remapped_row_failure", gpu.remappedRowsFailed ? "Yes" : "No"),
        unknown("Bank Remap Availability Histogram", "row_remapper_histogram"),
      ],
      "ROW_REMAPPER",
    ),
    group(
      "Temperature",
      "temperature",
      [
        fact("GPU Current Temp", "gpu_temp", `${gpu.temperatureCelsius} C`),
        fact("GPU T.Limit Temp", "gpu_temp_tlimit", "0 C"),
        fact("GPU Shutdown T.Limit Temp", "gpu_temp_max_tlimit_threshold", "-5 C"),
        fact("GPU Slowdown T.Limit Temp", "gpu_temp_slow_tlimit_threshold", "0 C"),
        fact("GPU Max Operating T.Limit Temp", "gpu_temp_max_gpu_tlimit_threshold", "4 C"),
        fact("GPU Target Temperature", "gpu_target_temperature", "83 C"),
        fact("Memory Current Temp", "memory_temp", `${gpu.temperatureCelsius - 2} C`),
        unknown("Memory Max Operating T.Limit Temp", "gpu_temp_max_mem_tlimit_threshold"),
      ],
      "TEMPERATURE",
    ),
    group(null, "supported_gpu_target_temp", [
      fact(null, "gpu_target_temp_min", "83 C"),
      fact(null, "gpu_target_temp_max", "83 C"),
    ]),
    group(
      "GPU Power Readings",
      "gpu_power_readings",
      [
        fact(null, "power_state", "P0"),
        fact("Average Power Draw", "average_power_draw", watts(gpu.powerWatts)),
        fact("Instantaneous Power Draw", "instant_power_draw", watts(gpu.powerWatts)),
        fact("Current Power Limit", "current_power_limit", watts(model.powerLimitWatts)),
        fact("Requested Power Limit", "requested_power_limit", watts(model.powerLimitWatts)),
        fact("Default Power Limit", "default_power_limit", watts(model.powerLimitWatts)),
        fact("Min Power Limit", "min_power_limit", watts(Math.min(200, model.powerLimitWatts))),
        fact("Max Power Limit", "max_power_limit", watts(model.powerLimitWatts)),
      ],
      "POWER",
    ),
    group(
      "GPU Memory Power Readings ",
      "gpu_memory_power_readings",
      [unknown("Average Power Draw", "average_power_draw"), unknown("Instantaneous Power Draw", "instant_power_draw")],
      "POWER",
    ),
    group(
      "Module Power Readings",
      "module_power_readings",
      [
        fact(null, "power_state", "P0"),
        unknown("Average Power Draw", "average_power_draw"),
        unknown("Instantaneous Power Draw", "instant_power_draw"),
        unknown("Current Power Limit", "current_power_limit"),
        unknown("Requested Power Limit", "requested_power_limit"),
        unknown("Default Power Limit", "default_power_limit"),
        unknown("Min Power Limit", "min_power_limit"),
        unknown("Max Power Limit", "max_power_limit"),
      ],
      "POWER",
    ),
    group(
      "Clocks",
      "clocks",
      [
        fact("Graphics", "graphics_clock", `${clock} MHz`),
        fact("SM", "sm_clock", `${clock} MHz`),
        fact("Memory", "mem_clock", `${model.memoryClockMhz} MHz`),
        fact("Video", "video_clock", `${clock} MHz`),
      ],
      "CLOCK",
    ),
    ...["Applications Clocks", "Default Applications Clocks"].map((label) =>
      group(
        label,
        label.toLowerCase().replaceAll(" ", "_"),
        [
          fact("Graphics", "graphics_clock", `${model.graphicsClockMhz} MHz`),
          fact("Memory", "mem_clock", `${model.memoryClockMhz} MHz`),
        ],
        "CLOCK",
      ),
    ),
    group("Deferred Clocks", "deferred_clocks", [unknown("Memory", "mem_clock")], "CLOCK"),
    group(
      "Max Clocks",
      "max_clocks",
      [
        fact("Graphics", "graphics_clock", `${model.graphicsClockMhz} MHz`),
        fact("SM", "sm_clock", `${model.graphicsClockMhz} MHz`),
        fact("Memory", "mem_clock", `${model.memoryClockMhz} MHz`),
        fact("Video", "video_clock", `${model.graphicsClockMhz} MHz`),
      ],
      "CLOCK",
    ),
    group("Max Customer Boost Clocks", "max_customer_boost_clocks", [unknown("Graphics", "graphics_clock")], "CLOCK"),
    group(
      "Clock Policy",
      "clock_policy",
      [unknown("Auto Boost", "auto_boost"), unknown("Auto Boost Default", "auto_boost_default")],
      "CLOCK",
    ),
    group("Voltage", "voltage", [fact("Graphics", "graphics_volt", "0.000 mV")], "VOLTAGE"),
    group("Fabric", "fabric", [
      fact("State", "state", model.nvlinkCount > 0 ? "Completed" : "N/A"),
      fact("Status", "status", model.nvlinkCount > 0 ? "Success" : "N/A"),
      fact("CliqueId", "cliqueId", 0),
      fact("ClusterUUID", "clusterUuid", "00000000-0000-0000-0000-000000000001"),
      group("Health", "health", [fact("Bandwidth", "bandwidth", "Full")]),
    ]),
    unknownXml("supported_clocks"),
    ...processFacts(machine, index),
    unknownXml("accounted_processes"),
  ];
}

const unknownXml = (tag: string): Fact => fact(null, tag, "N/A");

const sessions: readonly Fact[] = [
  fact("Active Sessions", "session_count", 0),
  fact("Average FPS", "average_fps", 0),
  fact("Average Latency", "average_latency", 0),
];

const retired: readonly Fact[] = [fact(null, "retired_count", 0), fact(null, "retired_pagelist", "\n\t\t\t\t")];

function clockReasons(idle: boolean): Fact[] {
  const reason = (label: string, name: string, active = false): Fact =>
    fact(label, `clocks_event_reason_${name}`, active ? "Active" : "Not Active");
  return [
    reason("Idle", "gpu_idle", idle),
    reason("Applications Clocks Setting", "applications_clocks_setting"),
    reason("SW Power Cap", "sw_power_cap"),
    reason("HW Slowdown", "hw_slowdown"),
    reason("    HW Thermal Slowdown", "hw_thermal_slowdown"),
    reason("    HW Power Brake Slowdown", "hw_power_brake_slowdown"),
    reason("Sync Boost", "sync_boost"),
    reason("SW Thermal Slowdown", "sw_thermal_slowdown"),
    reason("Display Clock Setting", "display_clocks_setting"),
  ];
}
