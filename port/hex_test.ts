import assert from "node:assert/strict";
import { bytesOfHex, writeHex } from "./hex.ts";

Deno.test("hex digits read back as what they were written from, wherever they are put", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  assert.deepEqual(bytesOfHex(bytes.toHex()), bytes);
  const into = new Uint8Array(4);
  writeHex("beef", into, 1);
  assert.deepEqual(into, Uint8Array.of(0, 0xbe, 0xef, 0));
});

Deno.test("what is not lower-case hex, or does not fit, is refused", () => {
  for (const hex of ["a", "0g", "AB", " 1", "1 ", "é0", "0\u0130", "\0\0"]) {
    assert.throws(() => bytesOfHex(hex), RangeError, hex);
  }
  assert.throws(() => writeHex("beef", new Uint8Array(2), 1), RangeError);
});
