import { flatten } from "../flatten.ts";
import { zhCN } from "../zh-CN.ts";
import { common } from "./common.ts";

export const chinese = { ...flatten(zhCN), ...common };
