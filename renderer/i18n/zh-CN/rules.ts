import type { rules as english } from "../en/rules.ts";
import type { Translated } from "./translated.ts";

export const rules: Translated<typeof english> = {
  "rule.slices_other": "切片 {{list}}",
  "rule.someone": "其他人",
  "rule.placement": "{{profile}}（起点 {{start}}）",
  "rule.instead": "可行的放置：{{list}}。",
  "rule.driverWords": "nvidia-smi 会报：{{words}}",
  "rule.undivided": "整卡，MIG 关闭",
  "rule.no-instances": "MIG 已开，没有实例",
  "rule.unknown-profile": "{{model}} 没有这种规格。它支持 {{known}}。",
  "rule.unknown-profile-name": "{{model}} 没有 {{profile}}。它支持 {{known}}。",
  "rule.illegal-start": "{{profile}} 不能从 {{start}} 开始：只能从{{slices}} 开始。",
  "rule.overlap": "{{profile}}（起点 {{start}}）会与 {{other}}（起点 {{otherStart}}）重叠。",
  "rule.overlap-held":
    "{{profile}}（起点 {{start}}）会与 {{other}}（起点 {{otherStart}}）重叠，后者由 {{holder}} 占用。",
  "rule.too-many_other": "一块 GPU 最多 {{count}} 个 {{profile}}，已经占满。",
  "rule.asks-too-many": "该预设要 {{wanted}} 个 {{profile}}，而一块 GPU 最多 {{count}} 个。",
  "rule.media-engines": "{{profile}} 需要的媒体引擎已归 {{other}}。",
  "rule.compute-slices": "总共需要 {{wanted}} 个计算切片，而 GPU 只有 {{available}} 个。",
  "rule.unknown-compute-profile": "{{profile}} 没有编号为 {{id}} 的计算实例规格。它支持 {{known}}。",
  "rule.illegal-compute-start": "计算实例 {{profile}} 不能从 {{start}} 开始：只能从{{slices}} 开始。",
  "rule.compute-overlap": "计算实例 {{profile}}（起点 {{start}}）会与另一个重叠。",
  "rule.instance-in-use": "{{profile}}（起点 {{start}}）正由 {{holder}} 使用，保持不动。",
  "rule.mig-mode-in-use_other": "还有 {{count}} 个实例在用，不能关闭 MIG。",
  "rule.held-whole": "{{holder}} 正在使用整卡，此时不能开启 MIG。",
  "rule.mig-mode-off_other": "MIG 关闭时不能有实例（{{count}} 个）。",
  "rule.no-room": "放不下 {{profile}}。",
  "rule.room-for": "{{profile}} 要 {{wanted}} 个，只放得下 {{fits}} 个。",
  "rule.not-mig-capable": "{{model}} 不支持 MIG，无法切分。",
  "rule.nowhere": "{{profile}} 只能从{{slices}} 开始，已经放不下。",
  "rule.nowhere-held_other": "{{profile}} 只能从{{slices}} 开始，被 {{holders}} 占用。",
};
