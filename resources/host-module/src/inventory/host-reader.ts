/** The host around the GPUs: kernel, NUMA, NICs, owners of processes, managers, Xid events. */
import type { HostFacts } from "../../../../shared/protocol/inventory.ts";
import type { System } from "../system.ts";
import type { HostReading } from "./assemble.ts";
import type { KnownGpu } from "./gpus.ts";
import {
  type KernelFacts,
  type PciPlace,
  readKernelFacts,
  readNics,
  readNumaNodes,
  readPciPlace,
  readText,
} from "./host-files.ts";
import { parseXidEvents, type XidEvent } from "./kernel-log.ts";
import { type ProcessFacts, ProcessReader, readManagers } from "./processes.ts";

/** A walk over all of `/proc` costs a few milliseconds per hundred processes. */
const managersMaxAgeMs = 60_000;
const partsMaxAgeMs = 60_000;
/** The log of a host that has been up for months is megabytes. */
const xidsMaxAgeMs = 15_000;
const helperTimeoutMs = 10_000;

type FixedParts = Pick<HostReading, "places"> & Pick<HostFacts, "numaNodes" | "nics">;
type HostParts = Pick<HostReading, "host" | "places" | "processes" | "xids">;

export class HostReader {
  private readonly system: System;
  private fixed: { readonly key: string; readonly atMs: number; readonly parts: FixedParts } | null = null;
  private xids: { readonly atMs: number; readonly bootId: string | null; readonly events: readonly XidEvent[] } | null =
    null;
  private managers: { readonly atMs: number; readonly found: HostFacts["managers"] } | null = null;

  constructor(system: System) {
    this.system = system;
  }

  kernel(): Promise<KernelFacts> {
    return readKernelFacts(this.system.files);
  }

  /** `first` leaves out what takes a walk over `/proc` or a further program; see ReadOptions. */
  async read(
    gpus: readonly KnownGpu[],
    nicNames: readonly string[],
    kernel: KernelFacts,
    first = false,
  ): Promise<HostParts> {
    const { places, numaNodes, nics } = await this.parts(gpus, nicNames, kernel.bootId);
    return {
      host: {
        name: this.system.hostName,
        bootId: kernel.bootId,
        kernel: kernel.kernel,
        architecture: this.system.architecture === "" ? null : this.system.architecture,
        cpuCount: kernel.cpuCount,
        memoryMiB: kernel.memoryMiB,
        numaNodes,
        nics,
        managers: first ? [] : await this.findManagers(),
      },
      places,
      processes: await this.readProcesses(gpus, kernel),
      xids: first ? [] : await this.keptXids(kernel),
    };
  }

  /** What stands in which slot; a part that is swapped at run time shows after a minute. */
  private async parts(
    gpus: readonly KnownGpu[],
    nicNames: readonly string[],
    bootId: string | null,
  ): Promise<FixedParts> {
    const { files } = this.system;
    const nowMs = this.system.now().getTime();
    const busIds = gpus.map((gpu) => gpu.pciBusId).filter((pciBusId) => pciBusId !== null);
    const key = [bootId, ...busIds, ...nicNames].join();
    if (this.fixed !== null && this.fixed.key === key && nowMs - this.fixed.atMs < partsMaxAgeMs) {
      return this.fixed.parts;
    }
    const places: [string, PciPlace][] = [];
    for (const pciBusId of busIds) places.push([pciBusId, await readPciPlace(files, pciBusId)]);
    const parts = {
      places: new Map(places),
      numaNodes: await readNumaNodes(files),
      nics: await readNics(files, nicNames),
    };
    this.fixed = { key, atMs: nowMs, parts };
    return parts;
  }

  private async keptXids(kernel: KernelFacts): Promise<readonly XidEvent[]> {
    const nowMs = this.system.now().getTime();
    if (this.xids !== null && this.xids.bootId === kernel.bootId && nowMs - this.xids.atMs < xidsMaxAgeMs) {
      return this.xids.events;
    }
    const events = await this.readXids(kernel);
    this.xids = { atMs: nowMs, bootId: kernel.bootId, events };
    return events;
  }

  private async findManagers(): Promise<HostFacts["managers"]> {
    const nowMs = this.system.now().getTime();
    if (this.managers !== null && nowMs - this.managers.atMs < managersMaxAgeMs) {
      // Those found before may have ended.
      const alive = [];
      for (const manager of this.managers.found) {
        if ((await readText(this.system.files, `/proc/${manager.pid}/comm`)) !== null) alive.push(manager);
      }
      return alive;
    }
    const found = await readManagers(this.system.files);
    this.managers = { atMs: nowMs, found };
    return found;
  }

  private async readProcesses(
    gpus: readonly KnownGpu[],
    kernel: KernelFacts,
  ): Promise<ReadonlyMap<number, ProcessFacts>> {
    const reader = new ProcessReader(
      this.system.files,
      (database, key) => this.lookUp(database, key),
      kernel.bootedAtSeconds,
    );
    const pids = new Set(gpus.flatMap((gpu) => (gpu.processes ?? []).map((process) => process.pid)));
    const found = new Map<number, ProcessFacts>();
    for (const pid of pids) {
      const facts = await reader.read(pid);
      if (facts !== null) found.set(pid, facts);
    }
    return found;
  }

  private async lookUp(database: "passwd" | "group", key: string): Promise<string | null> {
    const result = await this.system.run(["getent", database, key], { timeoutMs: helperTimeoutMs });
    return result.exitStatus === 0 ? new TextDecoder().decode(result.stdout) : null;
  }

  /** `dmesg` is for root alone on most distributions; the journal also opens to the groups adm and systemd-journal. */
  private async readXids(kernel: KernelFacts): Promise<readonly XidEvent[]> {
    for (const argv of kernelLogCommands) {
      const result = await this.system.run(argv, { timeoutMs: helperTimeoutMs });
      if (result.exitStatus === 0) return parseXidEvents(result.stdout, kernel.bootedAtSeconds);
    }
    return [];
  }
}

export const kernelLogCommands: readonly (readonly string[])[] = [
  ["dmesg", "--time-format=iso"],
  ["journalctl", "-k", "-b", "-q", "--no-pager", "-o", "short-iso"],
];
