import assert from "node:assert/strict";
import { digestOf, sha256Hex } from "./digest.ts";

Deno.test("sha256Hex hashes its parts laid end to end, texts as UTF-8", () => {
  const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  assert.equal(sha256Hex("abc"), abc);
  assert.equal(sha256Hex("a", new Uint8Array([0x62]), "", "c"), abc);
  assert.equal(sha256Hex("é"), sha256Hex(new Uint8Array([0xc3, 0xa9])));
});

Deno.test("digestOf is the same for every order of keys, and only for equal values", () => {
  assert.equal(digestOf({ a: 1, b: [2] }), digestOf({ b: [2], a: 1 }));
  assert.equal(digestOf({ a: 1 }), sha256Hex('{"a":1}'));
  assert.notEqual(digestOf({ a: 1 }), digestOf({ a: "1" }));
});
