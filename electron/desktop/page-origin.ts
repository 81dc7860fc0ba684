/** The page's own origin. A scheme of ours instead of `file://`, which would reach every file of the disk. */
export const pageScheme = "app";
export const pageUrl = "app://tessera/";

/** Whether a frame shows our page and is the top one of its window: the only one that may speak to us. */
export function isTrustedFrame(
  frame: { readonly url: string; readonly parent: unknown; readonly detached?: boolean } | null,
): boolean {
  if (frame === null || frame.parent !== null || frame.detached === true) return false;
  const url = URL.parse(frame.url);
  // The origin of a scheme that is not the web's own reads "null" in Node, so its parts are compared.
  return url !== null && url.protocol === `${pageScheme}:` && url.host === "tessera";
}
