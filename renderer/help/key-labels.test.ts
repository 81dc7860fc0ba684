import { expect, test } from "vitest";
import { keyLabels } from "./key-labels.ts";

test.each([
  ["ctrl+shift+z", ["Ctrl", "Shift", "Z"]],
  ["?", ["?"]],
  ["+", ["+"]],
  ["arrowleft", ["←"]],
])("%s is printed as %j", (keys, labels) => {
  expect(keyLabels(keys)).toEqual(labels);
});
