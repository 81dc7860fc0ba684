import { describe, expect, it } from "vitest";
import { levelOf, parentSubject, parseSubject, personSubject } from "./subject.ts";

describe("subjects", () => {
  it("are taken apart by level", () => {
    expect(parseSubject("cluster")).toEqual({ level: "cluster" });
    expect(parseSubject("t3f2k")).toEqual({ level: "tenant", tenantId: "t3f2k" });
    expect(parseSubject("t3f2k_p01")).toEqual({ level: "project", tenantId: "t3f2k", projectId: "t3f2k_p01" });
    expect(parseSubject(personSubject("t3f2k_p01", 12001))).toEqual({
      ...{ level: "person", tenantId: "t3f2k", projectId: "t3f2k_p01", uid: 12001 },
    });
  });

  it.each([
    "",
    "root",
    "T3F2K",
    "t3f2",
    "t3f2k_p1",
    "t3f2k_p01/",
    "t3f2k_p01/x",
    "t3f2k_p01/01",
    "t3f2k/5",
    "t3f2k_p01\n",
  ])("refuse %j", (text) => {
    expect(parseSubject(text)).toBeNull();
    expect(levelOf(text)).toBeNull();
  });

  it("lie in each other up to the cluster", () => {
    expect(["t3f2k_p01/7", "t3f2k_p01", "t3f2k", "cluster"].map(parentSubject)).toEqual([
      ...["t3f2k_p01", "t3f2k", "cluster", null],
    ]);
  });
});
