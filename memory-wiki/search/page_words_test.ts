import fc from "fast-check";
import assert from "node:assert/strict";
import { END, makeShares } from "./page_words.ts";
import { RANKING } from "./ranking.ts";

Deno.test("a word's share is the same, however many words of its passage were asked for before", () => {
  const word = fc.constantFrom("a", "aa", "b", "ab", "lease", "leases", "茶");
  fc.assert(fc.property(
    fc.constantFrom("body", "title"),
    fc.array(word, { maxLength: 12 }),
    fc.array(word, { maxLength: 12 }),
    (field, words, asked) => {
      const shares = makeShares(field, () => words.join(" "), RANKING);
      const all = { ...makeShares(field, () => words.join(" "), RANKING)[7] };
      assert.deepEqual(Object.keys(all).sort(), [...new Set(words)].map((one) => one + END).sort());
      for (const one of asked) assert.equal(shares[7]?.[one + END], all[one + END], one);
      assert.equal(shares[7]?.["lease"], undefined);
    },
  ));
});
