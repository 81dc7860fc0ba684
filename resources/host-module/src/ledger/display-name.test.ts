import fc from "fast-check";
import { expect, test } from "vitest";
import { displayNameSchema } from "./display-name.ts";

const parse = (name: unknown) => {
  const parsed = displayNameSchema.safeParse(name);
  return parsed.success ? parsed.data : parsed.error.issues.map(({ message }) => message).join("; ");
};

test("free text in any script, in one form", () => {
  expect(
    ["Vision", "  a  b ", "Cafe\u0301", "视觉组", "=HYPERLINK()", "👩‍🔬", "x".repeat(100), "👩".repeat(100)].map(parse),
  ).toEqual(["Vision", "a  b", "Caf\u00e9", "视觉组", "=HYPERLINK()", "👩‍🔬", "x".repeat(100), "👩".repeat(100)]);
});

test("what cannot be a name says why", () => {
  const controls = "no control characters, line ends or marks of direction";
  expect(
    ["", "   ", "x".repeat(101), "a\nb", "a\0", "\u001b[31m", "a\u2028b", "\u202etxt", "a\ud800"].map(parse),
  ).toEqual([...["a name is needed", "a name is needed", "at most 100 characters"], ...Array(6).fill(controls)]);
});

test("a name that nobody can see is none, and nothing unseen stands in one", () => {
  expect(["\u200c", "\u200d \u200d", "\u200b", "a\u200bb", "o\ufeffps", "\u3164", "so\u00adft"].map(parse)).toEqual([
    ...Array(2).fill("a name is needed"),
    ...Array(5).fill("no invisible characters"),
  ]);
  expect(parse("می\u200cخواهم")).toBe("می\u200cخواهم");
});

test("a name that was taken is taken again as it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 120 }), (text) => {
      const parsed = displayNameSchema.safeParse(text);
      if (parsed.success) expect(parse(parsed.data)).toBe(parsed.data);
    }),
  );
});
