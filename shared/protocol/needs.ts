/**
 * What a command of the host needs of whoever calls it. Each entry of the contract declares it, a command without a
 * declaration does not compile, and `tessera-host` decides by it before the command's own code runs.
 *
 * The caller is who the operating system says (`SUDO_UID`), never an argument. An administrator may everything.
 */
export type Needs<Input> =
  /** Everybody whom the host lets in; answers hold no more than who asks may see. */
  | { readonly role: "anyone" }
  /** Everybody who has some role here; answers hold no more than who asks may see. */
  | { readonly role: "participant" }
  | { readonly role: "administrator" }
  /** A lead of the tenant that this subject lies in or is; of the cluster nobody is lead. */
  | { readonly role: "lead"; readonly of: (input: Input) => readonly string[] }
  /** A member of the project that this subject lies in or is, or a lead of its tenant; a person only by that person. */
  | { readonly role: "member"; readonly of: (input: Input) => readonly string[] };

export const anyone = { role: "anyone" } as const;
export const participant = { role: "participant" } as const;
export const administrator = { role: "administrator" } as const;

/** A lead of the tenants of all these subjects (`t3f2k`, `t3f2k_p01`, `t3f2k_p01/12001`); `cluster` needs an administrator. */
export function leadOf<Input>(of: (input: Input) => string | readonly string[]): Needs<Input> {
  return { role: "lead", of: (input) => [of(input)].flat() };
}

/** A member of the projects of all these subjects. */
export function memberOf<Input>(of: (input: Input) => string | readonly string[]): Needs<Input> {
  return { role: "member", of: (input) => [of(input)].flat() };
}
