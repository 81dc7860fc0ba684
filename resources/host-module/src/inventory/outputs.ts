/**
 * Several outputs of nvidia-smi, read into what they say together. Live readings and captures go through here alike:
 * the order of the outputs is the order in which they were printed, and what is printed later counts.
 */
import { unknownNumber } from "../../../../shared/mig/layout.ts";
import type { Unread } from "../../../../shared/protocol/inventory.ts";
import { parseCsv } from "../nvidia-smi/csv.ts";
import { observeComputeApps, observeGpus, observeNamedGpus } from "../nvidia-smi/csv-report.ts";
import { type FailedGpu, parseDeviceList } from "../nvidia-smi/device-list.ts";
import {
  type ListedComputeInstance,
  type ListedGpuInstance,
  parseComputeInstances,
  parseGpuInstances,
} from "../nvidia-smi/instances.ts";
import { type DriverMessage, messagesOf } from "../nvidia-smi/messages.ts";
import { parseDeviceMonitor, parseProcessMonitor } from "../nvidia-smi/monitor.ts";
import { type GpuNvlinks, parseNvlinks } from "../nvidia-smi/nvlink.ts";
import { type GpuObservation, nothingObserved } from "../nvidia-smi/observation.ts";
import {
  type ListedComputeInstanceProfile,
  type ListedComputePlacements,
  type ListedGpuInstanceProfile,
  type ListedPlacements,
  parseComputeInstancePlacements,
  parseComputeInstanceProfiles,
  parseGpuInstancePlacements,
  parseGpuInstanceProfiles,
} from "../nvidia-smi/profiles.ts";
import { parseQueryTextReport, type QueryReport } from "../nvidia-smi/query.ts";
import type { OutputKind } from "../nvidia-smi/recognise.ts";
import { parseTable, type TableReport } from "../nvidia-smi/table.ts";
import type { Parsed } from "../nvidia-smi/text.ts";
import { parseTopology, type Topology } from "../nvidia-smi/topology.ts";
import { normalBusId } from "../nvidia-smi/values.ts";
import { parseVersion, type ToolVersion } from "../nvidia-smi/version.ts";
import { askedIndex, queriedFields } from "./command-line.ts";
import {
  type CreatedInstance,
  kindsOf,
  type Output,
  type RankedObservation,
  type ReadOutputs,
  reportOf,
} from "./output.ts";

/** The XML says most and says it exactly; the table rounds and cuts. */
const ranks = { xml: 6, text: 5, csv: 4, table: 3, monitor: 2, list: 1, mention: 0 } as const;

export function readOutputs(outputs: readonly Output[]): ReadOutputs {
  const collector = new Collector();
  const kinds = outputs.map((output) => collector.add(output));
  return { ...collector.result(), kinds };
}

class Collector {
  private driverVersion: string | null = null;
  private cudaVersion: string | null = null;
  private attachedGpus: number | null = null;
  private readonly observations: RankedObservation[] = [];
  private failedGpus: readonly FailedGpu[] = [];
  private gpuInstances: readonly ListedGpuInstance[] | null = null;
  private computeInstances: readonly ListedComputeInstance[] | null = null;
  private createdInstances: readonly CreatedInstance[] = [];
  private gpuInstanceProfiles: readonly ListedGpuInstanceProfile[] = [];
  private gpuInstancePlacements: readonly ListedPlacements[] = [];
  private computeInstanceProfiles: readonly ListedComputeInstanceProfile[] = [];
  private computeInstancePlacements: readonly ListedComputePlacements[] = [];
  private topology: Topology | null = null;
  private readonly unread: Unread[] = [];

  add(output: Output): readonly OutputKind[] {
    const kinds = kindsOf(output);
    for (const kind of kinds) this.addKind(kind, output);
    return kinds;
  }

  result(): Omit<ReadOutputs, "kinds"> {
    return {
      driverVersion: this.driverVersion,
      cudaVersion: this.cudaVersion,
      attachedGpus: this.attachedGpus,
      observations: [...this.observations, ...this.mentioned()],
      failedGpus: this.failedGpus,
      gpuInstances: this.gpuInstances,
      computeInstances: this.computeInstances,
      createdInstances: this.createdInstances,
      gpuInstanceProfiles: this.gpuInstanceProfiles,
      gpuInstancePlacements: this.gpuInstancePlacements,
      computeInstanceProfiles: this.computeInstanceProfiles,
      computeInstancePlacements: this.computeInstancePlacements,
      topology: this.topology,
      unread: this.unread,
    };
  }

  private addKind(kind: OutputKind, output: Output): void {
    const { content } = output;
    if (kind === "query-xml") this.addReport(this.take(output, reportOf(output)), output, ranks.xml);
    else if (kind === "query-text")
      this.addReport(this.take(output, parseQueryTextReport(content)), output, ranks.text);
    else if (kind === "table") this.addTable(this.take(output, parseTable(content)));
    else if (kind === "device-list") this.addDeviceList(output);
    else if (kind === "gpu-instances" || kind === "compute-instances") this.addInstances(kind, output);
    else if (kind === "topology") this.addTopology(this.take(output, parseTopology(content)), output);
    else if (kind === "nvlink") this.addNvlinks(this.take(output, parseNvlinks(content)));
    else if (kind === "device-monitor") this.observe(ranks.monitor, this.take(output, parseDeviceMonitor(content)));
    else if (kind === "process-monitor") this.observe(ranks.monitor, this.take(output, parseProcessMonitor(content)));
    else if (kind === "version") this.addVersion(parseVersion(content));
    else if (kind === "messages") this.addMessages(messagesOf(content), output);
    else if (kind.startsWith("query-")) this.addCsv(output);
    else this.addProfiles(kind, output);
    // Help, vGPUs, peer-to-peer and policies are known, with nothing in them for an inventory; the kernel log has its own reader.
  }

  private addProfiles(kind: OutputKind, output: Output): void {
    const { content } = output;
    const ofGpu = (row: { gpuIndex: number; profileId: number }) => `${row.gpuIndex}/${row.profileId}`;
    const inInstance = (row: { gpuIndex: number; gpuInstanceId: number; profileId: number }) =>
      `${ofInstance(row)}/${row.profileId}`;
    if (kind === "gpu-instance-profiles") {
      const rows = this.take(output, parseGpuInstanceProfiles(content));
      this.gpuInstanceProfiles = merged(this.gpuInstanceProfiles, rows, ofGpu);
    } else if (kind === "gpu-instance-placements") {
      const rows = this.take(output, parseGpuInstancePlacements(content));
      this.gpuInstancePlacements = merged(this.gpuInstancePlacements, rows, ofGpu);
    } else if (kind === "compute-instance-profiles") {
      const rows = this.take(output, parseComputeInstanceProfiles(content));
      this.computeInstanceProfiles = merged(this.computeInstanceProfiles, rows, inInstance);
    } else if (kind === "compute-instance-placements") {
      const rows = this.take(output, parseComputeInstancePlacements(content));
      this.computeInstancePlacements = merged(this.computeInstancePlacements, rows, inInstance);
    }
  }

  private addTable(table: TableReport): void {
    this.setVersions(table.driverVersion, table.cudaVersion);
    this.observe(ranks.table, table.gpus);
  }

  private addVersion(version: ToolVersion): void {
    this.setVersions(version.driverVersion, version.cudaVersion);
  }

  private addNvlinks(gpus: readonly GpuNvlinks[]): void {
    this.observe(
      ranks.csv,
      gpus.map(({ index, uuid, active, total }) => ({
        ...nothingObserved,
        index,
        uuid,
        nvlinkActive: active,
        nvlinkTotal: total,
      })),
    );
  }

  /** GPUs that a listing names by their index alone. */
  private mentioned(): readonly RankedObservation[] {
    const divided = [
      this.gpuInstances,
      this.computeInstances,
      this.createdInstances,
      this.computeInstanceProfiles,
      this.computeInstancePlacements,
    ];
    const inMigMode = new Set(divided.flatMap((rows) => (rows ?? []).map((row) => row.gpuIndex)));
    const listed = [...this.gpuInstanceProfiles, ...this.gpuInstancePlacements].map((row) => row.gpuIndex);
    const indexes = [...listed, ...(this.topology?.gpus ?? []).map((gpu) => gpu.index)];
    return [...new Set([...inMigMode, ...indexes])].map((index) => ({
      rank: ranks.mention,
      gpu: { ...nothingObserved, index, migCurrent: inMigMode.has(index) ? "enabled" : null },
    }));
  }

  private take<Facts>(output: Output, parsed: Parsed<Facts>): Facts {
    this.unread.push(...parsed.unread.map((part) => ({ source: output.source, ...part })));
    return parsed.facts;
  }

  private setVersions(driver: string | null, cuda: string | null): void {
    this.driverVersion = driver ?? this.driverVersion;
    this.cudaVersion = cuda ?? this.cudaVersion;
  }

  private observe(rank: number, gpus: readonly GpuObservation[]): void {
    this.observations.push(...gpus.map((gpu) => ({ rank, gpu })));
  }

  /** The reports list GPUs in the order of their index, without naming it. */
  private addReport(report: QueryReport, output: Output, rank: number): void {
    this.setVersions(report.driverVersion, report.cudaVersion);
    this.attachedGpus = report.attachedGpus ?? this.attachedGpus;
    const asked = askedIndex(output.argv);
    const isWhole = report.attachedGpus === null || report.attachedGpus === report.gpus.length;
    const gpus = report.gpus.map((gpu, position) => {
      if (asked !== null) return { ...gpu, index: report.gpus.length === 1 ? asked : null };
      return { ...gpu, index: isWhole ? position : null };
    });
    this.observe(rank, gpus);
    if (!isWhole && asked === null && report.gpus.length > 0) {
      this.unread.push({
        source: output.source,
        field: "gpus",
        reason: "the driver knows more GPUs than it lists: one may not be opened, or only some were asked for",
        raw: `${report.attachedGpus} attached, ${report.gpus.length} listed`,
      });
    }
  }

  private addDeviceList(output: Output): void {
    const list = this.take(output, parseDeviceList(output.content));
    // `nvlink -s` heads its lines in the same way, but says nothing about GPUs that fail.
    const isList = output.argv === null || output.argv.includes("-L");
    if (isList && (list.failed.length > 0 || list.gpus.length > 0)) {
      const listed = new Set(list.gpus.map((gpu) => gpu.index));
      this.failedGpus = [...this.failedGpus.filter((gpu) => !listed.has(gpu.index ?? -1)), ...list.failed];
    }
    this.observe(
      ranks.list,
      list.gpus.map((gpu) => ({
        ...nothingObserved,
        index: gpu.index,
        uuid: gpu.uuid,
        name: gpu.name,
        migDevices:
          gpu.migDevices.length === 0
            ? null
            : gpu.migDevices.map((device) => ({
                deviceIndex: device.deviceIndex,
                gpuInstanceId: null,
                computeInstanceId: null,
                multiprocessors: null,
                memoryTotalMiB: null,
                memoryUsedMiB: null,
                uuid: device.uuid,
                profile: device.profile,
              })),
      })),
    );
  }

  /** A listing replaces the one before for the GPUs that it was asked about, or that it names. */
  private addInstances(kind: "gpu-instances" | "compute-instances", output: Output): void {
    const asked = askedIndex(output.argv);
    const replaces = (gpuIndex: number, named: readonly { gpuIndex: number }[]) =>
      output.argv !== null ? asked === null || asked === gpuIndex : named.some((row) => row.gpuIndex === gpuIndex);
    if (kind === "gpu-instances") {
      const rows = this.take(output, parseGpuInstances(output.content));
      this.gpuInstances = [...(this.gpuInstances ?? []).filter((row) => !replaces(row.gpuIndex, rows)), ...rows];
      this.createdInstances = this.createdInstances.filter((row) => !replaces(row.gpuIndex, rows));
    } else {
      const rows = this.take(output, parseComputeInstances(output.content));
      this.computeInstances = [
        ...(this.computeInstances ?? []).filter((row) => !replaces(row.gpuIndex, rows)),
        ...rows,
      ];
    }
  }

  private addTopology(topology: Topology, output: Output): void {
    // `-mp` leaves NVLink out: it gives way to `-m`.
    const isPciOnly = output.argv?.includes("-mp") ?? !topology.links.some((link) => link.kind === "NVLINK");
    if (isPciOnly && this.topology !== null) return;
    this.topology = topology;
  }

  private addCsv(output: Output): void {
    const names = queriedFields(output.argv);
    const table = this.take(output, parseCsv(output.content, names ?? undefined));
    if (table === null) return;
    if (table.query === "query-gpu") {
      const report = this.take(output, observeGpus(table));
      this.setVersions(report.driverVersion, null);
      this.observe(ranks.csv, report.gpus);
    } else {
      const observe = table.query === "query-compute-apps" ? observeComputeApps : observeNamedGpus;
      this.observe(ranks.monitor, this.take(output, observe(table)));
    }
  }

  private addMessages(messages: readonly DriverMessage[], output: Output): void {
    const asked = askedIndex(output.argv);
    for (const message of messages) {
      if (message.kind === "nothing") this.addNothing(message.of, output, asked);
      else if (message.kind === "failure") this.addFailure(message, output, asked);
      else if (message.kind === "mig-mode-set" || message.kind === "mig-mode-pending") this.addMigMode(message);
      else if (message.kind === "created-gpu-instance") {
        const { gpuIndex, gpuInstanceId, profile, profileId } = message;
        const instance = { gpuIndex, gpuInstanceId, profile: profile ?? "", profileId: profileId ?? unknownNumber };
        this.createdInstances = merged(this.createdInstances, [instance], ofInstance);
      } else if (message.kind === "destroyed-gpu-instance") {
        const isOther = (row: { gpuIndex: number; gpuInstanceId: number }) => ofInstance(row) !== ofInstance(message);
        this.createdInstances = this.createdInstances.filter(isOther);
        this.gpuInstances = this.gpuInstances?.filter(isOther) ?? null;
        this.computeInstances = this.computeInstances?.filter(isOther) ?? null;
      } else if (message.kind === "warning" && /infoROM|corrupted/i.test(message.words)) {
        this.unread.push({ source: output.source, field: "", reason: "a warning of the driver", raw: message.words });
      }
    }
  }

  /** Told at the moment of the change; any later reading of the state outranks it. */
  private addMigMode(message: Extract<DriverMessage, { kind: "mig-mode-set" | "mig-mode-pending" }>): void {
    const wanted = message.enabled ? "enabled" : "disabled";
    const other = message.enabled ? "disabled" : "enabled";
    this.observe(ranks.list, [
      {
        ...nothingObserved,
        pciBusId: normalBusId(message.pciBusId),
        migCurrent: message.kind === "mig-mode-set" ? wanted : other,
        migPending: wanted,
      },
    ]);
  }

  private addNothing(of: string, output: Output, asked: number | null): void {
    const others = <Row extends { gpuIndex: number }>(rows: readonly Row[] | null) =>
      (rows ?? []).filter((row) => asked !== null && row.gpuIndex !== asked);
    // "No GPU instances found" also answers -lci, -dgi and -cgi; "No MIG-enabled devices" means the same for us.
    if (of === "gpu-instances" || of === "mig-devices") {
      this.gpuInstances = others(this.gpuInstances);
      this.createdInstances = others(this.createdInstances);
      this.computeInstances = others(this.computeInstances);
    } else if (of === "compute-instances") {
      const isOneInstance = output.argv?.includes("-gi") ?? false;
      if (!isOneInstance) this.computeInstances = others(this.computeInstances);
    }
  }

  private addFailure(message: Extract<DriverMessage, { kind: "failure" }>, output: Output, asked: number | null): void {
    const field = asked === null ? "" : `gpus[${asked}]`;
    const raw = message.words.slice(0, 200);
    const isKnown = this.unread.some((entry) => entry.source === output.source && entry.raw === raw);
    if (!isKnown) this.unread.push({ source: output.source, field, reason: `driver: ${message.reason}`, raw });
    const isAboutGpu = /^(Unable to determine the device handle|Problem with GPU)/i.test(message.words);
    const isSingle = asked !== null || !kindsOf(output).includes("device-list");
    if (!isAboutGpu || !isSingle) return;
    const failed = parseDeviceList(output.content).facts.failed[0];
    if (failed === undefined) return;
    // Without an index or a bus id it is one GPU of the host, and nobody can say which.
    if (asked === null && failed.pciBusId === null) return;
    this.failedGpus = [...this.failedGpus, { ...failed, index: asked }];
  }
}

function merged<Row>(before: readonly Row[], after: readonly Row[], key: (row: Row) => string): readonly Row[] {
  return [...new Map([...before, ...after].map((row) => [key(row), row])).values()];
}

const ofInstance = (row: { readonly gpuIndex: number; readonly gpuInstanceId: number }): string =>
  `${row.gpuIndex}/${row.gpuInstanceId}`;
