import type { ledger as english } from "../en/ledger.ts";
import type { Translated } from "./translated.ts";

export const ledger: Translated<typeof english> = {
  "ledger.noCluster": "没有打开的集群",
  "ledger.noHost": "没有控制主机",
  "ledger.noHostText": "请先连接集群：租户、限额、申请及其修改记录都保存在控制主机上。",
  "ledger.connecting": "正在连接控制主机",
  "ledger.failed": "控制主机没有应答",
  "ledger.missing": "这里还没有账本",
  "ledger.missingText":
    "账本是一台主机上的文件，记录租户、人员、限额以及由谁更改。没有账本时，所有获准进入的人都可做任何操作。",
  "ledger.missingAsk": "管理员可以创建账本。",
  "ledger.make": "将 {{host}} 设为控制主机",
  "ledger.engine": "限额由谁执行",
  "ledger.engine-auto": "自动选择",
  "ledger.engine-local": "内置引擎",
  "ledger.engine-slurm": "Slurm",
  "ledger.noRole": "你还不在任何项目中",
  "ledger.noRoleText": "请团队负责人把你加入项目，之后这里会显示你的内容。",
};
