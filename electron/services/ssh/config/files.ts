export async function keywordsFromFiles(..._: unknown[]): Promise<Map<string, string[]>> {
  return new Map();
}
