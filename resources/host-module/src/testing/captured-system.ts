/** The replayed host, for tests: the same that opens support bundles. */
export { type CapturedRun, type CapturedSystem, capturedSystem } from "../inventory/captured-system.ts";
