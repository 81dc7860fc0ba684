import type { common as english } from "../en/common.ts";
import type { Translated } from "./translated.ts";

export const common: Translated<typeof english> = {
  "common.unknown": "未知",
  "common.none": "无",
  "common.cancel": "取消",
  "common.save": "保存",
  "common.remove": "移除",
  "common.edit": "编辑",
  "common.separator": "，",
  "common.listSeparator": "、",
  "common.copied": "已复制",
  "common.hosts_other": "{{count}} 台主机",
  "common.gpus_other": "{{count}} 块 GPU",
  "common.ago": "{{duration}}前",
  "time.day": "{{value}} 天",
  "time.hour": "{{value}} 小时",
  "time.minute": "{{value}} 分钟",
  "time.second": "{{value}} 秒",
  "common.evidence": "执行的命令与返回内容",
  "common.exitStatus": "退出码 {{status}}",
  "common.noExitStatus": "没有退出码：进程被杀或连接中断",
};
