/** Changes that between them use every kind of step, on models that differ in how MIG mode changes. */
import type { MachineDescription } from "../../resources/demo-cluster/driver/describe.ts";
import type { Layout } from "../../shared/mig/types.ts";

export interface Scenario {
  readonly name: string;
  readonly machine: MachineDescription;
  /** Wanted layouts, by GPU index. */
  readonly wanted: readonly { readonly gpuIndex: number; readonly layout: Layout }[];
  /** A process on each of these instances (GPU index, first memory slice): they must survive everything. */
  readonly inUse: readonly { readonly gpuIndex: number; readonly start: number }[];
}

const on = (...instances: Layout["instances"]): Layout => ({ migEnabled: true, instances });
const instance = (profileId: number, start: number, computeInstances?: readonly [number, number][]) => ({
  profileId,
  start,
  ...(computeInstances === undefined
    ? {}
    : { computeInstances: computeInstances.map(([id, at]) => ({ profileId: id, start: at })) }),
});

export const scenarios: readonly Scenario[] = [
  {
    name: "H100: one instance beside another that is in use",
    machine: { gpus: [{ instances: [{ profile: 9, start: 0 }] }] },
    wanted: [{ gpuIndex: 0, layout: on(instance(9, 0), instance(9, 4)) }],
    inUse: [{ gpuIndex: 0, start: 0 }],
  },
  {
    name: "H100: two 3g become seven parts, one of them kept",
    machine: {
      gpus: [
        {
          instances: [
            { profile: 9, start: 0 },
            { profile: 19, start: 4 },
          ],
        },
      ],
    },
    wanted: [{ gpuIndex: 0, layout: on(instance(14, 0), instance(14, 2), instance(19, 4), instance(19, 6)) }],
    inUse: [{ gpuIndex: 0, start: 4 }],
  },
  {
    name: "H100: MIG mode on, then four instances",
    machine: { gpus: [{}] },
    wanted: [{ gpuIndex: 0, layout: on(instance(14, 0), instance(14, 2), instance(14, 4), instance(19, 6)) }],
    inUse: [],
  },
  {
    name: "A100: MIG mode on with its reset, then two instances",
    machine: { gpus: [{ model: "NVIDIA A100-SXM4-80GB" }] },
    wanted: [{ gpuIndex: 0, layout: on(instance(9, 0), instance(9, 4)) }],
    inUse: [],
  },
  {
    name: "H100: everything goes and MIG mode off",
    machine: {
      gpus: [
        {
          instances: [
            { profile: 9, start: 0 },
            { profile: 14, start: 4 },
          ],
        },
      ],
    },
    wanted: [{ gpuIndex: 0, layout: { migEnabled: false, instances: [] } }],
    inUse: [],
  },
  {
    name: "H100: compute instances inside kept and new instances",
    machine: { gpus: [{ instances: [{ profile: 9, start: 0 }] }] },
    wanted: [
      {
        gpuIndex: 0,
        layout: on(
          instance(9, 0, [
            [0, 0],
            [0, 1],
            [0, 2],
          ]),
          instance(9, 4, [
            [1, 0],
            [0, 2],
          ]),
        ),
      },
    ],
    inUse: [],
  },
  {
    name: "two H100 in one operation",
    machine: {
      gpus: [
        {
          instances: [
            { profile: 9, start: 0 },
            { profile: 9, start: 4 },
          ],
        },
        { instances: [{ profile: 0 }] },
      ],
    },
    wanted: [
      { gpuIndex: 0, layout: on(instance(9, 0), instance(14, 4), instance(19, 6)) },
      { gpuIndex: 1, layout: on(instance(5, 0), instance(9, 4)) },
    ],
    inUse: [{ gpuIndex: 0, start: 0 }],
  },
];
