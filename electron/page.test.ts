import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pageAnswer } from "./page.ts";

test("every policy that the page is under takes the nonce that its style elements carry", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tessera-page-"));
  const page = await readFile(join(import.meta.dirname, "..", "renderer", "index.html"));
  await writeFile(join(directory, "index.html"), page);
  const { headers, body } = await pageAnswer(directory, "/", ["'self'"]);
  const text = new TextDecoder().decode(body);
  const [, nonce] = /<meta property="csp-nonce" nonce="([^"]+)">/.exec(text) ?? [];
  const styles = [headers["content-security-policy"], text].map((words) => /style-src [^;]*/.exec(words ?? "")?.[0]);
  expect(styles).toEqual([`style-src 'self' 'nonce-${nonce}'`, `style-src 'self' 'nonce-${nonce}'`]);
});
