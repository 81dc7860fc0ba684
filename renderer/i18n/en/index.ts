import { common } from "./common.ts";
import { shell } from "./shell.ts";

export const english = { ...common, ...shell } as const;
