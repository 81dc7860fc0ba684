/** MIG as pure rules: what a GPU can be divided into, which layouts are legal, and the steps between two of them. */
export { commandsOf, newInstancePlaceholder } from "./commands.ts";
export { fillingComputeProfile } from "./compute-profiles.ts";
export { describeStep } from "./describe.ts";
export {
  type DriverComputeProfile,
  type DriverGeometry,
  type DriverProfile,
  mergeGeometry,
} from "./driver-profiles.ts";
export { type Fit, placeProfiles, whatFits } from "./fit.ts";
export {
  type GpuIdentity,
  geometryFor,
  geometryOfKey,
  isProfileIdKnown,
  knownGeometries,
  modeChangeNeedsReset,
  profileOf,
} from "./geometry.ts";
export { asWish, layoutOf, layoutVersion, sortedByStart, unknownNumber, wantedComputeInstances } from "./layout.ts";
export { type PlanOutcome, type PlanRequest, planGpu } from "./plan.ts";
export { parsePreset, profileNamed } from "./preset.ts";
export { type ProfileNameParts, parseProfileName } from "./profile-name.ts";
export { isRefusal, refuse } from "./refusal.ts";
export { checkLayout, explainPlacement, legalStarts } from "./rules.ts";
export type * from "./types.ts";
export { inverseOf, isSameDivision, undoPlan } from "./undo.ts";
