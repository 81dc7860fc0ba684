/**
 * The console in a browser: `node electron/web.ts`, and `startWeb` for tests. Only this file may look at
 * `import.meta.main`: bundled into another program it would be true there as well.
 */
import { runWeb } from "./web/console.ts";

export { startWeb, type Web, type WebOptions } from "./web/console.ts";

if (import.meta.main) process.exitCode = await runWeb(process.argv.slice(2));
