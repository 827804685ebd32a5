import assert from "node:assert/strict";
import fc from "fast-check";
import { lemma } from "./lemma.ts";
import { wordsOf } from "./words.ts";

const CASES: Readonly<Record<string, readonly string[]>> = {
  "The faucet's dripping!": ["the", "faucet", "s", "dripping"],
  "Zoë's CAFÉ, naïve": ["zoe", "s", "cafe", "naive"],
  "parseJSONText snake_case v2": [
    ...["parsejsontext", "parse", "json", "text"],
    ...["snake", "case", "v2"],
  ],
  "ﬁne ＡＢＣ １２": ["fine", "abc", "12"],
  "東京タワー is 高": ["東京", "京タ", "タワ", "ワー", "is", "高"],
  "ΛΌΓΟΣ λόγος": ["λογοσ", "λογοσ"],
  "한국어 हिन्दी": ["한국어", "हिन्दी"],
  "  \n\t…—!?": [],
};
for (const [text, words] of Object.entries(CASES)) {
  Deno.test(`${JSON.stringify(text)} is cut into its words`, () => {
    assert.deepEqual(wordsOf(text, 100), words);
  });
}

Deno.test("only so many words are read as are asked for", () => {
  assert.deepEqual(wordsOf("one two three four", 2), ["one", "two"]);
  assert.deepEqual(wordsOf("日本語日本語", 3).length, 2);
  assert.equal(wordsOf("x ".repeat(100_000), 8_192).length, 8_192);
});

Deno.test("any text gives words without capitals, spaces or marks, the same each time", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
    const words = wordsOf(text, 50);
    assert.ok(words.length <= 50);
    assert.ok(words.every((word) => word !== "" && !/[\s.,!]/u.test(word)));
    assert.deepEqual(wordsOf(text, 50), words);
  }));
});

const LEXICON = new Set(
  "drip stop bake carry box leaf class news walk meet wish mouse go die tie bus".split(" "),
);
const FORMS: Readonly<Record<string, string>> = {
  ...{ dripping: "drip", stopped: "stop", baking: "bake", baked: "bake", carries: "carry" },
  ...{ carried: "carry", boxes: "box", leaves: "leaf", class: "class", classes: "class" },
  ...{ walks: "walk", went: "go", mice: "mouse", wishes: "wish", dies: "die", tied: "tie" },
  ...{ bus: "bus", sing: "sing", as: "as", unheardof: "unheardof", red: "red", ss: "ss" },
};
for (const [form, base] of Object.entries(FORMS)) {
  Deno.test(`the base form of "${form}" is "${base}"`, () => {
    assert.equal(lemma(form, (word) => LEXICON.has(word)), base);
  });
}
