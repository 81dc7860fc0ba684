/** The first file of a bundle: whose it is. */

export interface BundleMark {
  readonly hostName: string;
  readonly architecture: string;
  /** ISO 8601. */
  readonly takenAt: string;
}

const mark = /^### tessera-bundle 1 host=(\S+) architecture=(\S*) taken=(\S+)$/m;

export function bundleMarkText({ hostName, architecture, takenAt }: BundleMark): string {
  return `### tessera-bundle 1 host=${hostName} architecture=${architecture} taken=${takenAt}\n`;
}

/** Null where the text is no mark of a bundle. */
export function bundleMarkOf(text: string): BundleMark | null {
  const match = text.length > 2000 ? null : mark.exec(text);
  if (match === null || Number.isNaN(Date.parse(match[3] ?? ""))) return null;
  return { hostName: match[1] ?? "", architecture: match[2] ?? "", takenAt: match[3] ?? "" };
}
