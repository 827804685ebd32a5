import assert from "node:assert/strict";
import fc from "fast-check";
import { Fault } from "../../../contracts/fault.ts";
import { smallLexicon } from "./_fixture/small_lexicon.ts";
import { parseLexicon, writeLexicon } from "./lexicon_file.ts";

const SMALL = {
  words: ["ab", "b"],
  dimensions: 8,
  steps: new Float32Array([0.5, 0.25]),
  vectors: Int8Array.from({ length: 16 }, (_, n) => n - 8),
  notice: "Ünïcode\n",
};

function changed(bytes: Uint8Array, change: (view: DataView) => void): Uint8Array {
  const copy = bytes.slice();
  change(new DataView(copy.buffer));
  return copy;
}

const isBad = (error: unknown): boolean =>
  error instanceof Fault && error.code === "invalidInput" &&
  error.message.startsWith("Cannot read the lexicon: ");

Deno.test("what is written is read again, wherever the bytes lie in memory", () => {
  const bytes = writeLexicon(SMALL);
  const shifted = new Uint8Array(bytes.length + 3);
  shifted.set(bytes, 3);
  for (const each of [bytes, shifted.subarray(3)]) {
    const lexicon = parseLexicon(each);
    assert.deepEqual([lexicon.size, lexicon.dimensions, lexicon.notice], [2, 8, "Ünïcode\n"]);
    assert.deepEqual(["ab", "b", "c", "__proto__"].map(lexicon.find), [0, 1, undefined, undefined]);
    const sum = new Float64Array(8);
    lexicon.addTo(sum, 1, 2);
    assert.deepEqual([...sum], [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5]);
  }
  assert.deepEqual(writeLexicon(SMALL), bytes);
});

const HEAD = 8;
const LIST = HEAD + 16 + new TextEncoder().encode(SMALL.notice).length;
const HOSTILE: Readonly<Record<string, (view: DataView) => void>> = {
  "another beginning": (view) => view.setUint8(0, 0),
  "more words than there are": (view) => view.setUint32(HEAD, 3, true),
  "no words": (view) => view.setUint32(HEAD, 0, true),
  "four thousand million words": (view) => view.setUint32(HEAD, 0xffff_ffff, true),
  "no dimensions": (view) => view.setUint32(HEAD + 4, 0, true),
  "a list beyond the end": (view) => view.setUint32(HEAD + 8, 0xffff_ffff, true),
  "a notice beyond the end": (view) => view.setUint32(HEAD + 12, 0xffff_fff0, true),
  "a notice that takes from the list": (view) => {
    view.setUint32(HEAD + 8, 4, true);
    view.setUint32(HEAD + 12, LIST - HEAD - 15, true);
  },
  "a capital letter": (view) => view.setUint8(LIST, 0x41),
  "words out of order": (view) => view.setUint8(LIST, 0x63),
  "a list without an end": (view) => view.setUint8(LIST + 4, 0x62),
  "a notice that is no UTF-8": (view) => view.setUint8(HEAD + 16, 0xff),
  "a step that is no number": (view) => view.setFloat32(view.byteLength - 24, NaN, true),
  "a step without measure": (view) => view.setFloat32(view.byteLength - 24, 1e30, true),
  "a negative step": (view) => view.setFloat32(view.byteLength - 24, -0.1, true),
};
for (const [what, change] of Object.entries(HOSTILE)) {
  Deno.test(`mallory's lexicon with ${what} is refused`, () => {
    assert.throws(() => parseLexicon(changed(writeLexicon(SMALL), change)), isBad);
  });
}

Deno.test("a lexicon that is cut off anywhere, or goes on after its end, is refused", () => {
  const bytes = writeLexicon(SMALL);
  for (let length = 0; length < bytes.length; length++) {
    assert.throws(() => parseLexicon(bytes.subarray(0, length)), isBad);
  }
  assert.throws(() => parseLexicon(new Uint8Array([...bytes, 0])), isBad);
  assert.throws(() => parseLexicon(new Uint8Array(64_000_001)), isBad);
});

Deno.test("bytes changed at random are refused or read, and nothing else happens", () => {
  const bytes = smallLexicon();
  const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255));
  fc.assert(fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), (changes) => {
    const hostile = bytes.slice();
    for (const [at, value] of changes) hostile[at] = value;
    try {
      const lexicon = parseLexicon(hostile);
      const sum = new Float64Array(lexicon.dimensions);
      for (let n = 0; n < lexicon.size; n++) lexicon.addTo(sum, n, 1);
      assert.ok(sum.every(Number.isFinite));
    } catch (error) {
      assert.ok(isBad(error), String(error));
    }
  }));
});
