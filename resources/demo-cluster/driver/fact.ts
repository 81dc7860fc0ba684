/** One thing that `nvidia-smi -q` says, or a group of them: written with `label` in the text and `tag` in the XML. */
export interface Fact {
  readonly label: string | null;
  readonly tag: string | null;
  readonly value?: string;
  readonly children?: readonly Fact[];
  /** The word after `-d` that selects it. */
  readonly display?: string;
}

export const fact = (label: string | null, tag: string | null, value: string | number): Fact => ({
  label,
  tag,
  value: String(value),
});
export const group = (label: string | null, tag: string | null, children: readonly Fact[], display?: string): Fact => ({
  label,
  tag,
  children,
  ...(display === undefined ? {} : { display }),
});
export const unknown = (label: string, tag: string): Fact => fact(label, tag, "N/A");
