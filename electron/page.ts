/**
 * The page and how it is fenced in: one set of files and headers for the browser and for Electron's `app://`.
 * The policy stands in the answer, not in the page, so that no build can lose it.
 */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { extname, join, normalize, sep } from "node:path";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
};

/** Everything is denied but what the console's own files need. An empty nonce is none: a redirect has no page to carry one. */
export function contentSecurityPolicy(nonce: string, connect: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    // react-aria and react-virtual add small style elements; they take the nonce from the page.
    nonce === "" ? "style-src 'self'" : `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src ${connect.length === 0 ? "'none'" : connect.join(" ")}`,
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "object-src 'none'",
  ].join("; ");
}

export function securityHeaders(nonce: string, connect: readonly string[]): Readonly<Record<string, string>> {
  return {
    "content-security-policy": contentSecurityPolicy(nonce, connect),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "permissions-policy":
      "camera=(), microphone=(), geolocation=(), usb=(), serial=(), hid=(), payment=(), clipboard-read=()",
  };
}

export interface PageAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** The answer to a GET of `path` (as it stands in the URL) from the files under `directory`, and nothing outside it. */
export async function pageAnswer(directory: string, path: string, connect: readonly string[]): Promise<PageAnswer> {
  const nonce = randomBytes(16).toString("base64");
  const headers = securityHeaders(nonce, connect);
  const file = fileOf(directory, path);
  const content = file === null ? null : await readFile(file).catch(() => null);
  if (file === null || content === null) {
    return {
      status: 404,
      headers: { ...headers, "content-type": "text/plain; charset=utf-8" },
      body: bytes("Not found\n"),
    };
  }
  const type = types[extname(file)] ?? "application/octet-stream";
  if (extname(file) === ".html") {
    // The file brings the same policy for where it is opened without these headers. Both hold, so both take the nonce.
    const page = content
      .toString("utf8")
      .replace("style-src 'self'", `style-src 'self' 'nonce-${nonce}'`)
      .replace("<head>", `<head><meta property="csp-nonce" nonce="${nonce}">`);
    return {
      status: 200,
      headers: { ...headers, "content-type": type, "cache-control": "no-store" },
      body: bytes(page),
    };
  }
  // Vite puts a hash into the names under assets/.
  const cache = path.startsWith("/assets/") ? "private, max-age=31536000, immutable" : "no-cache";
  return {
    status: 200,
    headers: { ...headers, "content-type": type, "cache-control": cache },
    body: new Uint8Array(content),
  };
}

function fileOf(directory: string, path: string): string | null {
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    return null;
  }
  if (decoded.includes("\0") || decoded.includes("\\")) return null;
  const file = normalize(join(directory, decoded === "/" ? "/index.html" : decoded));
  return file.startsWith(normalize(directory) + sep) ? file : null;
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, "utf8"));
}
