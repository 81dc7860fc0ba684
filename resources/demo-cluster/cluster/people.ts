/** Who works on the demo cluster: tenants are primary groups, projects are further groups, as on a real host. */
import type { MachineState } from "../driver/state.ts";

export interface Person {
  readonly user: string;
  readonly uid: number;
  readonly tenant: string;
  readonly project: string;
}

const tenants: readonly (readonly [tenant: string, projects: readonly (readonly [string, readonly string[]])[]])[] = [
  [
    "nlp",
    [
      ["chat", ["li.wei", "n.okafor"]],
      ["eval", ["zhao.min", "sofia.rossi"]],
      ["pretrain", ["chen.yu", "t.nakamura"]],
    ],
  ],
  [
    "vision",
    [
      ["detect", ["m.keller", "wang.jie"]],
      ["segment", ["ana.costa", "p.novak"]],
      ["video", ["sun.hao"]],
    ],
  ],
  [
    "speech",
    [
      ["asr", ["liu.yan", "e.lindqvist"]],
      ["tts", ["j.moreau", "xu.ran"]],
    ],
  ],
  [
    "recsys",
    [
      ["rank", ["zhou.lei", "d.petrov"]],
      ["retrieval", ["gao.xin", "r.mehta"]],
    ],
  ],
  [
    "robotics",
    [
      ["sim", ["k.tanaka", "l.schmidt"]],
      ["grasp", ["he.qing"]],
    ],
  ],
  [
    "bio",
    [
      ["fold", ["i.haddad", "feng.lan"]],
      ["dock", ["c.dubois", "yang.tao"]],
    ],
  ],
  ["climate", [["nowcast", ["o.berg"]]]],
];

export const tenantNames: readonly string[] = tenants.map(([tenant]) => tenant);

export const people: readonly Person[] = tenants
  .flatMap(([tenant, projects]) =>
    projects.flatMap(([project, users]) => users.map((user) => ({ tenant, project, user }))),
  )
  .map((person, at) => ({ ...person, uid: 12001 + at }));

const tenantGid = (tenant: string): number => 2001 + tenantNames.indexOf(tenant);

export const users: MachineState["users"] = [
  { name: "root", uid: 0, gid: 0 },
  { name: "ops", uid: 1000, gid: 1000 },
  { name: "nvidia-persistenced", uid: 110, gid: 110 },
  ...people.map(({ user, uid, tenant }) => ({ name: user, uid, gid: tenantGid(tenant) })),
];

export const groups: MachineState["groups"] = [
  { name: "root", gid: 0, members: [] },
  { name: "ops", gid: 1000, members: [] },
  { name: "nvidia-persistenced", gid: 110, members: [] },
  ...tenantNames.map((tenant) => ({ name: tenant, gid: tenantGid(tenant), members: [] })),
  ...tenants.flatMap(([tenant, projects]) =>
    projects.map(([project, members], at) => ({
      name: `${tenant}-${project}`,
      gid: 3000 + tenantNames.indexOf(tenant) * 10 + at,
      members: [...members],
    })),
  ),
];
