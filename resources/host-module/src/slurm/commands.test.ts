import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readAnswer, type ToolResult } from "./answers.ts";
import { commandsFor, type LimitTarget, type SlurmChange } from "./commands.ts";
import { refuseName } from "./names.ts";

const argvOf = (...changes: readonly SlurmChange[]) => commandsFor(changes, "lab").map(({ argv }) => argv.join(" "));
const project: LimitTarget = { kind: "account", account: "t1_p01" };
const member: LimitTarget = { kind: "member", account: "t1_p01", user: "alice" };
const ownQos: LimitTarget = { kind: "qos", qos: "t1_own" };

describe("one change, one vector", () => {
  const cases: readonly (readonly [SlurmChange, string])[] = [
    [
      { kind: "add-account", account: "t1_p01", parent: "t1", organization: "t1" },
      "add account name=t1_p01 parent=t1 organization=t1 cluster=lab",
    ],
    [{ kind: "delete-account", account: "t1_p01" }, "delete account where name=t1_p01 cluster=lab"],
    [
      { kind: "move-account", account: "t1_p01", parent: "t2" },
      "modify account where name=t1_p01 cluster=lab set parent=t2",
    ],
    [{ kind: "add-member", account: "t1_p01", user: "alice" }, "add user name=alice account=t1_p01 cluster=lab"],
    [
      { kind: "remove-member", account: "t1_p01", user: "alice" },
      "delete user where name=alice account=t1_p01 cluster=lab",
    ],
    [
      { kind: "set-default-account", account: "t1_p01", user: "alice" },
      "modify user where name=alice cluster=lab set defaultaccount=t1_p01",
    ],
    [
      {
        kind: "set-limits",
        target: project,
        limits: {
          grpTres: { "gres/gpu": 4, "gres/gpu:a100_1g.5gb": 3, cpu: null, mem: 1_024_000 },
          grpTresMins: { "gres/gpu": 60_000 },
          grpJobs: 0,
          grpSubmitJobs: null,
          maxWallMinutes: 60,
        },
      },
      "modify account where name=t1_p01 cluster=lab set GrpTRES=cpu=-1,gres/gpu:a100_1g.5gb=3,gres/gpu=4,mem=1024000M GrpTRESMins=gres/gpu=60000 GrpJobs=0 GrpSubmitJobs=-1 MaxWall=60",
    ],
    [
      { kind: "set-limits", target: member, limits: { grpTres: { "gres/gpu": 2 }, maxTresPerJob: { "gres/gpu": 1 } } },
      "modify user where name=alice account=t1_p01 cluster=lab set GrpTRES=gres/gpu=2 MaxTRESPerJob=gres/gpu=1",
    ],
    [
      { kind: "set-limits", target: ownQos, limits: { maxTresPerUser: { cpu: 3 } } },
      "modify qos where name=t1_own set MaxTRESPerUser=cpu=3",
    ],
    [
      { kind: "set-shares", target: member, shares: "parent" },
      "modify user where name=alice account=t1_p01 cluster=lab set fairshare=parent",
    ],
    [
      { kind: "allow-qos", account: "t1", qos: ["t1_own", "normal"], defaultQos: "t1_own" },
      "modify account where name=t1 cluster=lab set qos=t1_own,normal defaultqos=t1_own",
    ],
    [{ kind: "add-qos", qos: "t1_own" }, "add qos name=t1_own"],
    [{ kind: "delete-qos", qos: "t1_own" }, "delete qos where name=t1_own"],
    [
      { kind: "set-qos", qos: "t1_own", flags: ["DenyOnLimit", "NoDecay"], priority: 5 },
      "modify qos where name=t1_own set flags=DenyOnLimit,NoDecay priority=5",
    ],
    [{ kind: "set-qos", qos: "t1_own", flags: [] }, "modify qos where name=t1_own set flags=-1"],
    [{ kind: "remove-coordinator", account: "t1", user: "alice" }, "delete coordinator account=t1 names=alice"],
  ];
  test.each(cases)("%j", (change, words) => {
    expect(commandsFor([change], "lab")).toEqual([
      { argv: ["sacctmgr", "-i", ...words.split(" ")], kind: change.kind, names: [expect.any(String)], changes: [0] },
    ]);
  });
});

describe("joining", () => {
  const add = (account: string, parent = "t1"): SlurmChange => ({
    kind: "add-account",
    account,
    parent,
    organization: "t1",
  });
  const limit = (account: string, gpus: number): SlurmChange => ({
    kind: "set-limits",
    target: { kind: "account", account },
    limits: { grpTres: { "gres/gpu": gpus } },
  });

  test("neighbours that differ in one name become one command, in their order", () => {
    const changes = [add("t1_p01"), add("t1_p02"), limit("t1_p01", 4), limit("t1_p02", 4), limit("t1_p03", 2)];
    expect(
      commandsFor(changes, "lab").map(({ argv, names, changes: places }) => [argv.slice(2).join(" "), names, places]),
    ).toEqual([
      ["add account name=t1_p01,t1_p02 parent=t1 organization=t1 cluster=lab", ["t1_p01", "t1_p02"], [0, 1]],
      ["modify account where name=t1_p01,t1_p02 cluster=lab set GrpTRES=gres/gpu=4", ["t1_p01", "t1_p02"], [2, 3]],
      ["modify account where name=t1_p03 cluster=lab set GrpTRES=gres/gpu=2", ["t1_p03"], [4]],
    ]);
  });

  test("a parent is made before its child", () => {
    expect(argvOf(add("t1", "root"), add("t1_p01", "t1"))).toHaveLength(2);
  });

  test("people are joined within one account only: two lists would mean every pair", () => {
    const member = (user: string, account: string): SlurmChange => ({ kind: "add-member", user, account });
    expect(argvOf(member("a", "p"), member("b", "p"), member("a", "q"))).toEqual([
      "sacctmgr -i add user name=a,b account=p cluster=lab",
      "sacctmgr -i add user name=a account=q cluster=lab",
    ]);
  });

  test("500 names in one argument at most", () => {
    const many = Array.from({ length: 1001 }, (_, at) => limit(`t1_p${at}`, 1));
    expect(commandsFor(many, "lab").map(({ changes }) => changes.length)).toEqual([500, 500, 1]);
  });

  const anyChange: fc.Arbitrary<SlurmChange> = fc.oneof(
    fc.record({
      kind: fc.constant("add-account" as const),
      account: fc.constantFrom("a", "b", "c"),
      parent: fc.constantFrom("p", "q"),
      organization: fc.constant("o"),
    }),
    fc.record({
      kind: fc.constant("add-member" as const),
      user: fc.constantFrom("u", "v"),
      account: fc.constantFrom("a", "b"),
    }),
    fc.record({
      kind: fc.constant("set-shares" as const),
      target: fc.record({ kind: fc.constant("account" as const), account: fc.constantFrom("a", "b") }),
      shares: fc.integer({ min: 1, max: 3 }),
    }),
  );

  test("joined or not, every change is made once, by a command that says the same, in the same order", () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 12 }), (changes) => {
        const commands = commandsFor(changes, "lab");
        expect(commands.flatMap((command) => command.changes)).toEqual(changes.map((_, at) => at));
        for (const { argv, changes: places } of commands) {
          const singles = places.flatMap((place) => commandsFor(changes.slice(place, place + 1), "lab"));
          const withName = (words: readonly string[], names: string) =>
            words.map((word) => (word.startsWith("name=") ? names : word));
          expect(singles.map((single) => withName(single.argv, ""))).toEqual(places.map(() => withName(argv, "")));
        }
      }),
    );
  });
});

describe("hostile names", () => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ["", /empty/],
    ["a b", /space/],
    ["a,b", /comma/],
    ["a=b", /'='/],
    ["a|b", /'\|'/],
    ["a'b", /quote/],
    ['a"b', /quote/],
    ["a`b", /quote/],
    ["a\\b", /backslash/],
    ["-a", /sign/],
    ["+a", /sign/],
    ["a[1-2]", /brackets/],
    ["a(b)", /brackets/],
    ["a*", /wildcard/],
    ["Alice", /folds/],
    ["a\nb", /control/],
    ["a\u0000b", /control/],
    ["\u001b[31m", /control/],
    ["ünï", /other characters/],
    ["a;b", /other characters/],
    ["$(id)", /brackets/],
    ["x".repeat(65), /longer/],
  ];
  test.each(refused)("%j is refused with the reason, everywhere", (name, why) => {
    for (const kind of ["account", "user", "qos", "cluster"] as const) expect(refuseName(kind, name)).toMatch(why);
    const changes: readonly SlurmChange[] = [
      { kind: "add-account", account: name, parent: "root", organization: "t1" },
      { kind: "add-account", account: "a", parent: name, organization: "t1" },
      { kind: "add-account", account: "a", parent: "root", organization: name },
      { kind: "add-member", account: "a", user: name },
      { kind: "add-member", account: name, user: "u" },
      { kind: "set-limits", target: { kind: "member", account: "a", user: name }, limits: { grpJobs: 1 } },
      { kind: "allow-qos", account: "a", qos: [name], defaultQos: null },
      { kind: "remove-coordinator", account: name, user: "u" },
    ];
    for (const change of changes) expect(() => commandsFor([change], "lab")).toThrow(why);
    expect(() =>
      commandsFor(
        [
          { kind: "add-qos", qos: "q" },
          { kind: "add-qos", qos: name },
        ],
        "lab",
      ),
    ).toThrow(why);
    expect(() => commandsFor([], name)).toThrow(why);
  });

  test("a name that is sacctmgr's own word is a name like any other, for it never stands alone", () => {
    expect(argvOf({ kind: "set-limits", target: { kind: "account", account: "set" }, limits: { grpJobs: 1 } })).toEqual(
      ["sacctmgr -i modify account where name=set cluster=lab set GrpJobs=1"],
    );
  });

  test("names of LDAP are taken", () => {
    expect(
      ["alice", "a.b-c_d", "alice@corp.example", "_apt", "9lives"].map((name) => refuseName("user", name)),
    ).toEqual([null, null, null, null, null]);
  });

  test("Slurm's own account is not made, moved or deleted; limits it may have: they are the cluster's", () => {
    expect(() => commandsFor([{ kind: "delete-account", account: "root" }], "lab")).toThrow(/Slurm's own/);
    expect(() => commandsFor([{ kind: "move-account", account: "root", parent: "a" }], "lab")).toThrow(/Slurm's own/);
    expect(
      argvOf({ kind: "set-limits", target: { kind: "account", account: "root" }, limits: { grpJobs: 9 } }),
    ).toHaveLength(1);
  });

  test("whatever is let through is one argument a name, and nothing but a name", () => {
    const letters = fc.constantFrom(..."abz019_.@+-", ..."A ,='\"[](;$`|\n\u0000é");
    const name = fc.oneof(fc.string(), fc.string({ unit: letters, maxLength: 4 }));
    fc.assert(
      fc.property(name, name, (account, user) => {
        const isRefused = refuseName("account", account) !== null || refuseName("user", user) !== null;
        const make = () => commandsFor([{ kind: "add-member", account, user }], "lab");
        if (isRefused) expect(make).toThrow();
        else expect(make()[0]?.argv.slice(4)).toEqual([`name=${user}`, `account=${account}`, "cluster=lab"]);
        if (!isRefused) expect(`${account}${user}`).toMatch(/^[a-z0-9_.@+-]+$/);
      }),
      { numRuns: 1000 },
    );
  });
});

test("numbers that Slurm would misread do not go out", () => {
  const limits = [1.5, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53];
  for (const count of limits) {
    expect(() => argvOf({ kind: "set-limits", target: project, limits: { grpTres: { "gres/gpu": count } } })).toThrow(
      /no limit/,
    );
    expect(() => argvOf({ kind: "set-limits", target: project, limits: { grpJobs: count } })).toThrow(/no limit/);
  }
  for (const tres of ["gres/gpu=1,cpu", "", "a b", "1001", "-x"]) {
    expect(() => argvOf({ kind: "set-limits", target: project, limits: { grpTres: { [tres]: 1 } } })).toThrow(
      /no resource/,
    );
  }
  expect(() => argvOf({ kind: "set-limits", target: project, limits: {} })).toThrow(/no limit to set/);
  expect(() => argvOf({ kind: "set-limits", target: project, limits: { maxTresPerUser: { cpu: 1 } } })).toThrow(/QOS/);
  expect(() => argvOf({ kind: "set-qos", qos: "q", flags: ["Nonsense"] })).toThrow(/no flag/);
  expect(() => argvOf({ kind: "allow-qos", account: "a", qos: ["q"], defaultQos: "r" })).toThrow(/not among/);
});

/** What sacctmgr 22.05.8 printed, word for word. */
describe("answers", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const result = (exitStatus: number | null, stdout: string, stderr = "", timedOut = false): ToolResult => ({
    stdout: bytes(stdout),
    stderr: bytes(stderr),
    exitStatus,
    timedOut,
  });
  const notFound = result(
    1,
    "",
    " Parent account 'nosuch' doesn't exist on cluster lab\n        Contact your admin to add this account.\n No associations created.\n",
  );
  const noDaemon =
    "sacctmgr: error: slurm_persist_conn_open_without_init: failed to open persistent connection to host:127.0.0.1:6819: Connection refused\nsacctmgr: error: Sending PersistInit msg: Connection refused\n";
  const noDatabase =
    "sacctmgr: error: slurm_persist_conn_open: Something happened with the receiving/processing of the persistent connection init message to 127.0.0.1:6819: Unable to connect to database\nsacctmgr: error: Sending PersistInit msg: Unable to connect to database\n";
  const lostInChange =
    "sacctmgr: error: slurm_persist_conn_open_without_init: failed to open persistent connection to host:127.0.0.1:6819: Connection refused\nsacctmgr: error: Getting response to message type: DBD_MODIFY_ASSOCS\nsacctmgr: error: DBD_MODIFY_ASSOCS failure: Connection refused\n Error with request: Connection refused\n";
  const lostInAdding =
    "sacctmgr: error: slurm_persist_conn_open_without_init: failed to open persistent connection to host:127.0.0.1:6819: Connection refused\nsacctmgr: error: Getting response to message type: DBD_ADD_ACCOUNTS\n Problem adding accounts: Unspecified error\n";
  const modified = " Modified account associations...\n  C = lab        A = t1 of root\n";

  const cases: readonly (readonly [string, SlurmChange["kind"], ToolResult, string, string | null])[] = [
    [
      "an account is made",
      "add-account",
      result(0, " Adding Account(s)\n  t1\n Settings\n  Description     = t1\n"),
      "done",
      null,
    ],
    [
      "its name was there, the association is new",
      "add-account",
      result(0, " Associations\n  A = m1         C = lab       \n"),
      "done",
      null,
    ],
    [
      "a known person joins",
      "add-member",
      result(0, " Associations =\n  U = root      A = t1_p01     C = lab       \n Non Default Settings\n"),
      "done",
      null,
    ],
    ["it was there", "add-account", result(1, " Nothing new added.\n"), "nothing-to-do", "exists"],
    ["it was gone", "delete-account", result(1, " Nothing deleted\n"), "nothing-to-do", null],
    ["it stood there already", "move-account", result(1, " Nothing modified\n"), "nothing-to-do", null],
    ["limits of what is not there", "set-limits", result(1, " Nothing modified\n"), "refused", "absent"],
    ["no such parent", "add-account", notFound, "refused", "absent"],
    ["limits are set", "set-limits", result(0, modified), "done", null],
    ["set in silence", "set-limits", result(0, ""), "done", null],
    [
      "a value was not understood, and something was set",
      "set-limits",
      result(0, modified, "sacctmgr: error: Invalid unit type 'a'. Possible options are 'KMGTP'\n"),
      "unknown",
      "partly",
    ],
    [
      "an option was not understood, and the rest was set",
      "add-qos",
      result(0, " Adding QOS(s)\n  borrow\n", "sacctmgr: error: Invalid value for GraceTime (00:00:05)\n"),
      "unknown",
      "partly",
    ],
    [
      "a resource that is not tracked",
      "set-limits",
      result(
        1,
        "",
        "sacctmgr: error: slurmdb_format_tres_str: no TRES known by type gres/nosuch\n Unknown option: GrpTRES=gres/nosuch=8\n Use keyword 'where' to modify condition\n",
      ),
      "refused",
      "bad-value",
    ],
    [
      "no such QOS",
      "allow-qos",
      result(
        1,
        "",
        "sacctmgr: error: You gave a bad qos 'nosuch'. Valid QOS's are normal\n Unknown option: qos=nosuch\n",
      ),
      "refused",
      "bad-value",
    ],
    [
      "not allowed",
      "set-limits",
      result(
        1,
        "",
        "sacctmgr: error: Your user doesn't have privilege to perform this action\n Error with request: Access/permission denied\n",
      ),
      "refused",
      "permission",
    ],
    [
      "not allowed, after it said that it adds",
      "add-account",
      result(1, " Adding Account(s)\n  zz\n", " Problem adding accounts: Access/permission denied\n"),
      "refused",
      "permission",
    ],
    [
      "jobs are in the way",
      "delete-account",
      result(
        1,
        "",
        " Error with request: Job(s) active, cancel job(s) before remove\n  JobID = 2          C = lab        A = e1_p1      U = root     \n",
      ),
      "refused",
      "jobs-active",
    ],
    [
      "somebody's default account would go, and others of that person stay",
      "delete-account",
      result(
        1,
        "",
        " Error with request: You can not remove the default account of a user\n  C = lab             A = taaaa_p01  U = alice    \n Please either remove the accounts listed above from list and resubmit,\n or change these users' default accounts to remove the account(s).\n Changes Discarded\n",
      ),
      "refused",
      "default-account",
    ],
    ["slurmdbd does not run", "set-limits", result(1, "", noDaemon), "refused", "unreachable"],
    ["its database does not run", "set-limits", result(1, "", noDatabase), "refused", "unreachable"],
    ["slurmdbd died while it changed", "set-limits", result(1, "", lostInChange), "unknown", "interrupted"],
    [
      "slurmdbd died while it added",
      "add-account",
      result(1, " Adding Account(s)\n  z1\n", lostInAdding),
      "unknown",
      "interrupted",
    ],
    ["killed", "set-limits", result(null, ""), "unknown", "interrupted"],
    ["out of time", "set-limits", result(null, modified, "", true), "unknown", "interrupted"],
    ["no sacctmgr", "set-limits", result(127, "", "sacctmgr: no such program\n"), "refused", "no-tool"],
    ["words that nobody knows", "set-limits", result(1, "", "the moon is full\n"), "unknown", "other"],
    ["success in words that nobody knows", "set-limits", result(0, " Fiat lux\n"), "unknown", "other"],
  ];
  test.each(cases)("%s", (_, kind, answer, outcome, reason) => {
    expect(readAnswer(kind, answer)).toMatchObject({ outcome, reason });
  });

  test("a joined command passes over what is not there in silence: the names are told", () => {
    const partly = result(0, " Modified account associations...\n  C = lab        A = m1 of root\n");
    expect(readAnswer("set-limits", partly, ["m1", "nosuch"])).toEqual({
      outcome: "unknown",
      reason: "partly",
      words: "Modified account associations...",
      missing: ["nosuch"],
    });
    expect(readAnswer("set-limits", partly, ["m1"]).outcome).toBe("done");
  });

  test("nothing but an answer that says so is taken for done", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.integer({ min: 1, max: 255 }), (stdout, stderr, exitStatus) => {
        expect(readAnswer("set-limits", result(exitStatus, stdout, stderr)).outcome).not.toBe("done");
        expect(readAnswer("set-limits", result(null, stdout, stderr)).outcome).toBe("unknown");
      }),
    );
  });
});
