import assert from "node:assert/strict";
import { makeWeightsFile } from "./load.ts";

const pieces = (): Uint8Array<ArrayBuffer>[] =>
  [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9, 10]].map((bytes) => Uint8Array.from(bytes));

Deno.test("a file is read across its pieces, and no further than its end", () => {
  const file = makeWeightsFile(pieces());
  assert.equal(file.length, 11);
  assert.deepEqual([...file.read(2, 6)], [2, 3, 4, 5, 6, 7]);
  assert.deepEqual([...file.read(9, 100)], [9, 10]);
  assert.deepEqual([...file.read(11, 4)], []);
});

Deno.test("a piece goes when its last reader lets go of it, at once, for everyone who knows it", () => {
  const given = pieces();
  const file = makeWeightsFile(given);
  file.hold(0, 5);
  file.hold(5, 11);
  file.letGo(0, 5);
  assert.deepEqual(given.map(({ length }) => length), [0, 3, 4]);
  assert.deepEqual([...file.read(4, 3)], [4, 5, 6]);
  assert.throws(() => file.read(3, 2), RangeError);
  file.letGo(5, 11);
  assert.deepEqual(given.map(({ length }) => length), [0, 0, 0]);
});

Deno.test("a view of something larger is let go of without harm to the rest of it", () => {
  const whole = Uint8Array.from([1, 2, 3, 4]);
  const file = makeWeightsFile([whole.subarray(0, 2)]);
  file.close();
  assert.throws(() => file.read(0, 1), RangeError);
  assert.deepEqual([...whole], [1, 2, 3, 4]);
});
