/** Catalogs may be written by area, `{ board: { title } }`; they are looked up as `board.title`. */

type Areas = Readonly<Record<string, Readonly<Record<string, string>>>>;

export type Flat<Nested extends Areas> = {
  readonly [Key in {
    [Area in keyof Nested & string]: `${Area}.${keyof Nested[Area] & string}`;
  }[keyof Nested & string]]: string;
};

export function flatten<const Nested extends Areas>(nested: Nested): Flat<Nested> {
  const entries = Object.entries(nested).flatMap(([area, messages]) =>
    Object.entries(messages).map(([name, message]) => [`${area}.${name}`, message] as const),
  );
  // The keys are those of the type above by construction.
  return Object.fromEntries(entries) as Flat<Nested>;
}
