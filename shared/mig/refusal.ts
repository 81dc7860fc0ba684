import type { Refusal, RuleViolation } from "./types.ts";

const list = (items: readonly (string | number)[], none: string): string =>
  items.length === 0 ? none : items.join(", ");

const times = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

function sentenceOf(violation: RuleViolation): string {
  switch (violation.rule) {
    case "unknown-profile":
      return `This GPU has no GPU instance profile ${violation.profileId}; it knows ${list(violation.known, "none")}.`;
    case "unknown-profile-name":
      return `This GPU has no GPU instance profile ${violation.profile}; it knows ${list(violation.known, "none")}.`;
    case "illegal-start":
      return `${violation.profile} cannot start at memory slice ${violation.start}; it may start at ${list(violation.legalStarts, "no slice that is known")}.`;
    case "overlap":
      return `${violation.profile} at memory slice ${violation.start} overlaps ${violation.otherProfile} at ${violation.otherStart}${violation.otherInUse ? ", which is in use" : ""}.`;
    case "too-many":
      return violation.wanted === undefined
        ? `At most ${violation.maxInstances} of ${violation.profile} can exist at the same time.`
        : `${violation.wanted} of ${violation.profile} would be needed; at most ${violation.maxInstances} can exist at the same time.`;
    case "media-engines":
      return violation.profile === violation.otherProfile
        ? `There are not enough media engines for another ${violation.profile}.`
        : `There are not enough media engines for ${violation.profile} beside ${violation.otherProfile}.`;
    case "compute-slices":
      return `${times(violation.wanted, "compute slice")} would be needed, and the GPU has ${violation.available}.`;
    case "unknown-compute-profile":
      return `${violation.profile} has no compute instance profile ${violation.profileId}; it knows ${list(violation.known, "none")}.`;
    case "illegal-compute-start":
      return `${violation.profile} cannot start at compute slice ${violation.start}; the driver would place it at ${list(violation.legalStarts, "no slice")}.`;
    case "compute-overlap":
      return `${violation.profile} at compute slice ${violation.start} overlaps another compute instance of the same GPU instance.`;
    case "instance-in-use":
      return `${violation.profile} at memory slice ${violation.start}${violation.gpuInstanceId === null ? "" : ` (GPU instance ${violation.gpuInstanceId})`} is in use and would have to go.`;
    case "mig-mode-in-use":
      return violation.instances === 0
        ? "MIG mode cannot change while the GPU is in use."
        : `MIG mode cannot be disabled while ${times(violation.instances, "instance")} ${violation.instances === 1 ? "is" : "are"} in use.`;
    case "mig-mode-off":
      return `${times(violation.instances, "instance")} cannot exist on a GPU with MIG mode disabled.`;
    case "no-room":
      return violation.fits === 0
        ? `There is no room for ${violation.profile}.`
        : `There is room for ${violation.fits} of the ${violation.wanted} ${violation.profile} that are wanted.`;
    case "not-mig-capable":
      return `${violation.model} cannot be divided into GPU instances.`;
  }
}

/** The words of `nvidia-smi mig` 550 for the same fault. */
function driverWordsOf(violation: RuleViolation): string {
  switch (violation.rule) {
    case "unknown-profile":
    case "unknown-profile-name":
    case "illegal-start":
    case "unknown-compute-profile":
    case "illegal-compute-start":
      return "Invalid Argument";
    case "overlap":
    case "too-many":
    case "media-engines":
    case "compute-slices":
    case "compute-overlap":
    case "no-room":
      return "Insufficient Resources";
    case "instance-in-use":
    case "mig-mode-in-use":
      return "In use by another client";
    case "mig-mode-off":
      return "No MIG-enabled devices found.";
    case "not-mig-capable":
      return "Not Supported";
  }
}

/** A refusal with its sentence in English and the driver's words; `instead` is what would be legal, closest first. */
export function refuse(violation: RuleViolation, instead: Refusal["instead"] = []): Refusal {
  const offer = instead[0];
  const sentence = sentenceOf(violation);
  return {
    violation,
    sentence: offer === undefined ? sentence : `${sentence} ${offer.profile} at ${offer.start} would fit.`,
    driverWords: driverWordsOf(violation),
    instead,
  };
}

/** Tells a refusal from what would have come in its place. */
export function isRefusal(value: object): value is Refusal {
  return "violation" in value;
}
