import { expect, test } from "vitest";
import { gpuTypeOf } from "./gpu-type.ts";

test.each([
  ["NVIDIA H100 80GB HBM3", null, "h100"],
  ["NVIDIA H100 80GB HBM3", "3g.40gb", "h100/3g.40gb"],
  ["NVIDIA A100-SXM4-80GB", "1g.10gb+me", "a100/1g.10gb"],
  ["NVIDIA RTX PRO 6000 Blackwell Server Edition", null, "rtx_pro_6000"],
  ["Graphics Device", null, "graphics_device"],
])("%s %s is %s", (productName, profile, type) => {
  expect(gpuTypeOf(productName, profile)).toBe(type);
});
