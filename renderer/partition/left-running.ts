/** Operations that this page began, kept for the page that comes after it when it is loaded anew before they end. */
const key = "tessera.running";

/** By host, of this cluster. */
export function leftRunning(clusterId: string | null): ReadonlyMap<string, string> {
  try {
    const kept: unknown = JSON.parse(window.sessionStorage.getItem(key) ?? "null");
    if (typeof kept !== "object" || kept === null || !("clusterId" in kept) || !("operations" in kept))
      return new Map();
    const { clusterId: keptOf, operations } = kept;
    if (keptOf !== clusterId || typeof operations !== "object" || operations === null) return new Map();
    return new Map(
      Object.entries(operations).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    );
  } catch {
    return new Map();
  }
}

export function rememberRunning(clusterId: string, hostId: string, operationId: string): void {
  const known = leftRunning(clusterId);
  if (known.get(hostId) === operationId) return;
  const operations = Object.fromEntries([...known, [hostId, operationId]]);
  window.sessionStorage.setItem(key, JSON.stringify({ clusterId, operations }));
}

export function forgetRunning(): void {
  window.sessionStorage.removeItem(key);
}
