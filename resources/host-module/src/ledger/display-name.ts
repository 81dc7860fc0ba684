import * as z from "zod/mini";

/** In code points, after normalisation. */
const longestDisplayName = 100;

/** Controls, halves of surrogate pairs, line ends, and the marks that turn the direction of text around what follows. */
export const hiddenCharacters = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;
/** Nobody sees these: with them two names look the same, or one like none. Joiners stay, since scripts and emoji need them. */
const invisible = /[\u00AD\u115F\u1160\u180E\u200B\u2060-\u2064\u3164\uFEFF\uFFA0]/u;
const onlyJoiners = /^(?:\u200C|\u200D|\s)*$/u;

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
    z.refine((name) => !onlyJoiners.test(name), { error: "a name is needed" }),
    z.refine((name) => [...name].length <= longestDisplayName, { error: "at most 100 characters" }),
    z.refine((name) => !hiddenCharacters.test(name), {
      error: "no control characters, line ends or marks of direction",
    }),
    z.refine((name) => !invisible.test(name), { error: "no invisible characters" }),
  ),
);
