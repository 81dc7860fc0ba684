import { en } from "../en.ts";
import { flatten } from "../flatten.ts";
import { common } from "./common.ts";

export const english = { ...flatten(en), ...common } as const;
