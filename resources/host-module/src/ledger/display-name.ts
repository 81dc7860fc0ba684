import * as z from "zod/mini";

/** In code points, after normalisation. */
const longestDisplayName = 100;

/** Controls, halves of surrogate pairs, line ends, and the marks that turn the direction of text around what follows. */
export const hiddenCharacters = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;

/**
 * A name for people, in any script. It comes out in NFC without blanks at its ends, so that two names that look the same
 * are the same; it never goes to Slurm or to a shell.
 */
export const displayNameSchema = z.pipe(
  z.pipe(
    z.string().check(z.maxLength(1_000)),
    z.transform((text: string) => text.normalize("NFC").trim()),
  ),
  z.string().check(
    z.refine((name) => name.length > 0, { error: "a name is needed" }),
    z.refine((name) => [...name].length <= longestDisplayName, { error: "at most 100 characters" }),
    z.refine((name) => !hiddenCharacters.test(name), {
      error: "no control characters, line ends or marks of direction",
    }),
  ),
);
