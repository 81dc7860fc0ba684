/**
 * An argument vector as the one string that SSH's exec request carries. The login shell on the other side takes it
 * apart again; single quotes mean the same to sh, bash, zsh, csh and fish as long as the word holds no backslash,
 * exclamation mark or newline, which is why scripts of ours avoid those three.
 */
export function quoteArguments(argv: readonly string[]): string {
  return argv.map(quoteArgument).join(" ");
}

const plain = /^[A-Za-z0-9_/.,:@%+-][A-Za-z0-9_/.,:@%+=-]*$/;

function quoteArgument(argument: string): string {
  if (argument.includes("\0")) throw new RangeError("an argument cannot hold a NUL byte");
  return plain.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}
