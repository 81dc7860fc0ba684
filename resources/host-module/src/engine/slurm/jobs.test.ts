import { expect, test } from "vitest";
import { readJobs } from "../../slurm/jobs.ts";
import { allocationsOf } from "./jobs.ts";
import { resourcesOf } from "./limit-mapping.ts";

const resources = resourcesOf(["cpu", "mem", "gres/cardshare"], []);

test.each([
  ["UNLIMITED", "2027-12-03T06:00:00", null],
  ["Partition_Limit", "2027-12-03T06:00:00", null],
  ["01:00:00", "2026-12-03T07:00:00", "2026-12-03T07:00:00.000Z"],
])("a running job with the time limit %s, of which Slurm says %s, ends at %s", (limit, end, endsAt) => {
  const { facts } = readJobs(
    `JobId=7 JobName=train\n   UserId=ada(7) GroupId=ada(7)\n   Account=taaaa_p01 QOS=normal\n` +
      `   JobState=RUNNING Reason=None\n   RunTime=00:00:09 TimeLimit=${limit} TimeMin=N/A\n` +
      `   StartTime=2026-12-03T06:00:00 EndTime=${end} Deadline=N/A\n   TRES=cpu=1,gres/cardshare=56\n`,
  );
  const [job] = allocationsOf(facts, [], resources);
  expect([job?.state, job?.startedAt, job?.endsAt]).toEqual(["running", "2026-12-03T06:00:00.000Z", endsAt]);
});
