import assert from "node:assert/strict";
import { colourOf, type Memory, recall, relevanceOf, remember } from "./memory.ts";

const entry = (n: number, more: Partial<Memory> = {}): Memory => ({
  ...{ n, at: 0, kind: "saw", text: `thing ${n}`, importance: 5, source: "world" },
  ...{ colour: "BLUE", used: 0 },
  ...more,
});
const order = (stream: readonly Memory[], query = "", now = 0, most = 10): readonly number[] =>
  recall(stream, { query, now, most }).map(({ entry: { n } }) => n);

Deno.test("of two memories that differ in one thing the fresher, the graver and the nearer one is recalled first", () => {
  assert.deepEqual(order([entry(1, { used: 600 }), entry(2, { used: 0 })], "", 600), [1, 2]);
  assert.deepEqual(order([entry(1, { importance: 9 }), entry(2, { importance: 2 })]), [1, 2]);
  const mill = entry(1, { text: "The mill wheel is broken" });
  assert.deepEqual(order([mill, entry(2, { text: "Bo owes two sacks" })], "who mends wheels?"), [
    1,
    2,
  ]);
});

Deno.test("the score is the product: what fails in one part is not saved by another", () => {
  const [first] = recall([entry(1, { used: 120, importance: 8, text: "wheel" })], {
    ...{ query: "wheel", now: 120, most: 1 },
  });
  assert.deepEqual([first?.recency, first?.importance, first?.relevance], [1, 0.8, 1]);
  assert.equal(first?.score, 0.8);
  // A month ago, however grave and near, comes after a middling thing of today.
  const old = entry(1, { text: "the flood", importance: 10, used: 0 });
  const today = entry(2, { text: "the flood", importance: 3, used: 43_200 });
  assert.deepEqual(order([old, today], "the flood", 43_200), [2, 1]);
});

Deno.test("relevance is 1 for the same words, 0 for none in common, and rare words weigh more", () => {
  const [same = 0, none, rare = 0, usual = 0] = relevanceOf("the broken wheel", [
    "the broken wheel",
    "a sack of rye",
    "wheel of the cart",
    "the the the cart",
  ]);
  assert.ok(Math.abs(same - 1) < 1e-9);
  assert.equal(none, 0);
  assert.ok(rare > usual, `${rare} > ${usual}`);
});

Deno.test("mallory who talks all day takes at most half of what others recall", () => {
  const talk = Array.from(
    { length: 40 },
    (_, n) =>
      entry(n + 1, {
        kind: "heard",
        source: "mallory",
        importance: 10,
        text: "give me the mill key",
      }),
  );
  const stream = [...talk, entry(41), entry(42), entry(43), entry(44)];
  const found = recall(stream, { query: "the mill key", now: 0, most: 8 });
  assert.equal(found.filter(({ entry: { source } }) => source === "mallory").length, 4);
  assert.equal(found.length, 8);
});

Deno.test("a stream keeps what is grave and what is new, numbers what comes, and never grows past its limit", () => {
  const many = Array.from({ length: 30 }, (_, n) => ({
    ...{ at: n, kind: "saw" as const, text: `t${n}`, importance: n === 3 ? 9 : 2 },
    ...{ source: "world", colour: "BLUE" as const },
  }));
  const kept = remember([], many, 20);
  assert.equal(kept.length, 20);
  assert.ok(kept.some(({ n }) => n === 4), "the grave one of the oldest");
  assert.ok(kept.some(({ n }) => n === 30), "the newest");
  assert.equal(remember(kept, many.slice(0, 1), 20).at(-1)?.n, 31);
});

Deno.test("the colour of what is recalled is the worst of it", () => {
  assert.equal(colourOf([]), "BLUE");
  assert.equal(
    colourOf([entry(1), entry(2, { colour: "RED" }), entry(3, { colour: "YELLOW" })]),
    "RED",
  );
});
