import ssh2 from "ssh2";
import { expect, it } from "vitest";
import { newKeyPair } from "./keys.ts";

it("throws away a key that cannot be read, and gives the next", () => {
  const good = newKeyPair();
  const lines = good.privateKey.split("\n");
  const cut = { private: [...lines.slice(0, 2), ...lines.slice(3)].join("\n"), public: good.publicKey };
  const offered = [cut, cut, { private: good.privateKey, public: good.publicKey }];
  expect(newKeyPair(() => offered.shift() ?? cut)).toEqual(good);
  expect(offered).toEqual([]);
  expect(ssh2.utils.parseKey(good.privateKey)).not.toBeInstanceOf(Error);
});
