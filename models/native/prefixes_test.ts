import assert from "node:assert/strict";
import { BLOCK, blockEnds, makePrefixes as make, type Place } from "./prefixes.ts";

const tokens = (length: number, end = 0): Uint32Array =>
  Uint32Array.from({ length }, (_, n) => n < length - end ? n : 100_000 + n);

/** Blocks of one size, as of a prompt without ends of messages. */
function makePrefixes(sequences: number) {
  const { place, hold } = make(sequences);
  return { hold, place: (all: Uint32Array): Place => place(all, blockEnds(all, () => false)) };
}

Deno.test("blocks end where messages end, and after so many tokens; what follows moves no end", () => {
  const isEnd = (token: number): boolean => token === 7;
  const all = new Uint32Array(400).fill(1);
  for (const at of [20, 22, 60, 250]) all[at] = 7;
  // The message of two tokens is too short to end a block.
  assert.deepEqual(blockEnds(all, isEnd), [21, 61, 61 + BLOCK, 251, 251 + BLOCK]);
  for (let length = 0; length <= all.length; length++) {
    const part = blockEnds(all.subarray(0, length), isEnd);
    assert.deepEqual(part, blockEnds(all, isEnd).filter((end) => end <= length));
  }
  const { place, hold } = make(2);
  const ends = blockEnds(all, isEnd);
  hold(0, all, 251);
  assert.equal(place(all.subarray(0, 260), ends.filter((end) => end <= 260)).kept, 251);
});

Deno.test("whole blocks are kept, and never the whole prompt", () => {
  const prefixes = makePrefixes(3);
  assert.deepEqual(prefixes.place(tokens(300)), { sequence: 0, copy: undefined, kept: 0 });
  prefixes.hold(0, tokens(300), 2 * BLOCK);
  const again = prefixes.place(tokens(300));
  assert.deepEqual(again, { sequence: 0, copy: undefined, kept: 2 * BLOCK });
  prefixes.hold(0, tokens(300), 2 * BLOCK);
  assert.equal(prefixes.place(tokens(2 * BLOCK)).kept, BLOCK);
});

Deno.test("a prompt that turns off elsewhere copies, and the first keeps its own", () => {
  const prefixes = makePrefixes(3);
  prefixes.place(tokens(600));
  prefixes.hold(0, tokens(600), 4 * BLOCK);
  const fork = prefixes.place(tokens(600, 300));
  assert.deepEqual(fork, { sequence: 1, copy: 0, kept: 2 * BLOCK });
  prefixes.hold(1, tokens(600, 300), 4 * BLOCK);
  assert.equal(prefixes.place(tokens(600)).kept, 4 * BLOCK);
});

Deno.test("the longest unused goes first, and one sequence alone serves too", () => {
  const prefixes = makePrefixes(2);
  const other = (n: number): Uint32Array => Uint32Array.from({ length: 200 }, () => n);
  for (const n of [1, 2, 1, 3]) {
    const { sequence } = prefixes.place(other(n));
    prefixes.hold(sequence, other(n), BLOCK);
  }
  assert.equal(prefixes.place(other(2)).kept, 0);
  const alone = makePrefixes(1);
  alone.place(tokens(600));
  alone.hold(0, tokens(600), 4 * BLOCK);
  const turned = alone.place(tokens(600, 300));
  assert.deepEqual(turned, { sequence: 0, copy: undefined, kept: 2 * BLOCK });
});

Deno.test("what a sequence holds is unknown until it is told", () => {
  const prefixes = makePrefixes(2);
  const { sequence } = prefixes.place(tokens(300));
  prefixes.hold(sequence, tokens(300), 2 * BLOCK);
  prefixes.place(tokens(300));
  // Interrupted before any block: nothing of it may be used.
  assert.equal(prefixes.place(tokens(300)).kept, 0);
});
