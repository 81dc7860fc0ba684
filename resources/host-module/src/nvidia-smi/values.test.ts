import { expect, test } from "vitest";
import { textOf } from "./text.ts";
import { normalBusId, percentLimits, ValueReader } from "./values.ts";

const absentWords = ["N/A", "[N/A]", "[Not Supported]", "Not Supported", "-", "", "None"];
const errorWords = [
  "ERR!",
  "[Unknown Error]",
  "[GPU is lost]",
  "[Insufficient Permissions]",
  "[Invalid Argument]",
  "[GPU requires reset]",
];
const sentinels = ["9223372036854775807", "18446744073709551615", "18446744073709551615 %", "4294967295 MiB"];

test.each(absentWords)("%j is null, and no fault", (raw) => {
  const reader = new ValueReader();
  expect([reader.number("x", raw), reader.mebibytes("x", raw), reader.flag("x", raw), reader.text("x", raw)]).toEqual([
    null,
    null,
    null,
    null,
  ]);
  expect(reader.unread).toEqual([]);
});

test.each([...errorWords, ...sentinels, "101 %", "twelve"])("%j is null and listed, never zero", (raw) => {
  const reader = new ValueReader();
  expect(reader.number("x", raw, percentLimits)).toBeNull();
  expect(reader.unread).toEqual([{ field: "x", reason: expect.any(String), raw }]);
});

test("sizes in every unit", () => {
  const reader = new ValueReader();
  const sizes = ["512 MiB", "512", "1 GiB", "2048 KiB", "24576MiB"].map((raw) => reader.mebibytes("x", raw));
  expect(sizes).toEqual([512, 512, 1024, 2, 24576]);
});

test("bus ids of every width are one", () => {
  const ids = ["0000:1a:00.0", "00000000:1A:00.0", "0x0000:1A:00.0", "1A:00.0", null].map(normalBusId);
  expect(ids).toEqual(["00000000:1A:00.0", "00000000:1A:00.0", "00000000:1A:00.0", null, null]);
});

test("bytes become text: UTF-16 of PowerShell, line ends, escape sequences, what is no UTF-8", () => {
  const utf16 = new Uint8Array([0xff, 0xfe, 0x47, 0, 0x50, 0, 0x55, 0, 0x0d, 0, 0x0a, 0]);
  expect(textOf(utf16)).toBe("GPU\n");
  expect(textOf("\u001b[4mGPU0\u001b[0m\r\n")).toBe("GPU0\n");
  expect(textOf(new Uint8Array([0x41, 0xff, 0x42]))).toBe("A\ufffdB");
});
