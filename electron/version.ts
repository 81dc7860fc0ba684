/** The console's version, as package.json says it. Bundled, so that it needs no file at run time. */
import packageJson from "../package.json" with { type: "json" };

export const version: string = packageJson.version;
