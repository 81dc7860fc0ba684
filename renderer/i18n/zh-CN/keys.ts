import type { keys as english } from "../en/keys.ts";
import type { Translated } from "./translated.ts";

export const keys: Translated<typeof english> = {
  "keys.title": "快捷键",
  "keys.close": "关闭",
  "keys.group-go": "查找与跳转",
  "keys.group-change": "修改布局",
  "keys.group-held": "拿起之后",
  "keys.move": "移动选中的实例，或选择规格",
  "keys.moveTo": "列出放得下的位置",
  "keys.undo": "撤销草稿改动",
  "keys.redo": "重做草稿改动",
  "keys.plan": "转到计划",
  "keys.apply": "应用计划",
  "keys.help": "显示快捷键",
  "keys.aim": "转到下一个放得下的位置",
  "keys.aimGpu": "转到下一块放得下的 GPU",
  "keys.drop": "放在这里",
  "keys.putBack": "放回原处",
  "keys.menu": "打开草稿中实例的菜单",
  "keys.delete": "从草稿移除实例",
};
