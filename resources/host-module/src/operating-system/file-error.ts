import { AppError } from "../../../../shared/errors.ts";

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

const absences = [
  "ENOENT",
  "ENOTDIR",
  "EACCES",
  "EPERM",
  "EISDIR",
  "EINVAL",
  "ELOOP",
  "ENODEV",
  "ENXIO",
  "EIO",
  "ESRCH",
];

/** Whether reading failed because there is nothing there, or nothing for us. ESRCH: the process of a file in `/proc` ended. */
export function isAbsence(error: unknown): boolean {
  return absences.includes(codeOf(error));
}

/** A failed write as AppError: `disk-full`, `permission`, or `internal` with the system's words. */
export function writeError(error: unknown, path: string): AppError {
  const words = error instanceof Error ? error.message : String(error);
  const evidence = { details: words };
  switch (codeOf(error)) {
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return new AppError(
        {
          code: "disk-full",
          message: `There is no room left to write ${path}.`,
          remedy: "Free space on that file system, then try again.",
          evidence,
        },
        { cause: error },
      );
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new AppError(
        {
          code: "permission",
          message: `${path} may not be written by this user.`,
          remedy: "Run tessera-host as root or through its sudo rule, on a file system that is writable.",
          evidence,
        },
        { cause: error },
      );
    default:
      return new AppError(
        {
          code: "internal",
          message: `${path} could not be written: ${words}`,
          remedy: "Check the file system and the kernel log.",
          evidence,
        },
        { cause: error },
      );
  }
}
