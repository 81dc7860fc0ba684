import { expect, test } from "vitest";
import { textIn } from "../i18n/index.ts";
import { objectInWords, objectNames, valueInWords } from "./names.ts";

const t = textIn("en");
const member = { uid: 12001, user: "li.wei", version: 3 };
const names = objectNames([
  {
    ...{ id: "t3f2k", displayName: "NLP", createdAt: "", version: 1, leads: [member] },
    projects: [{ id: "t3f2k_p01", displayName: "chat", createdAt: "", version: 2, members: [member] }],
  },
]);

test("objects are called by the names of the ledger, and by their ids where it has none", () => {
  expect(objectInWords(t, "tenant/t3f2k", names)).toBe("tenant NLP");
  expect(objectInWords(t, "member/t3f2k_p01/12001", names)).toBe("member NLP / chat / li.wei");
  expect(objectInWords(t, "limits/t3f2k_p01/12001", names)).toBe("limits of NLP / chat / li.wei");
  expect(objectInWords(t, "project/t0000_p01", names)).toBe("project t0000_p01");
  expect(objectInWords(t, "person/12001", names)).toBe("person li.wei");
  expect(objectInWords(t, "limits/cluster", names)).toBe("limits of the cluster");
  expect(objectInWords(textIn("zh-CN"), "limits/cluster", names)).toBe("限额 集群");
  expect(objectInWords(t, "constructor/x", names)).toBe("constructor x");
  expect(objectInWords(t, "setting/engine", names)).toBe("setting engine");
  expect(objectInWords(t, null, names)).toBe("");
});

test("values read as people write them", () => {
  expect(valueInWords('{"numerator":7,"denominator":2}')).toBe("7/2");
  expect(valueInWords('{"cards":{"numerator":3,"denominator":1}}')).toBe('{"cards":3}');
  expect(valueInWords('"NLP"')).toBe("NLP");
  expect(valueInWords(null)).toBe("–");
});
