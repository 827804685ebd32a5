import assert from "node:assert/strict";
import fc from "fast-check";
import { clustersOf, isEmoji } from "./_piece.ts";

// Signs of the plain sets, and what they may not be taken for: keycaps, marks, flags, pairs, halves of pairs.
const SIGNS = [
  ...["a", "1", "#", "é", "©", "…", "↔", "│", "▶", "⟨", "漢", "ℹ"],
  ...["\u0301", "\ufe0f", "\u20e3", "\u200d", "👩", "💻", "🏽", "🇩", "🇪", "\ud83d", "\n", "\0"],
];

Deno.test("alice's plain texts are cut as all others are", () => {
  const texts = fc.array(fc.constantFrom(...SIGNS), { maxLength: 12 }).map((all) => all.join(""));
  fc.assert(fc.property(texts, (text) => {
    assert.deepEqual([...clustersOf(text)], text.match(/\p{RGI_Emoji}|[\s\S]/gv) ?? []);
  }));
});

Deno.test("no plain sign is an emoji, a mark or half of a pair", () => {
  for (let code = 0; code <= 0xffff; code++) {
    const sign = String.fromCharCode(code);
    // A plain text comes back as it is.
    if (clustersOf(sign) !== sign) continue;
    assert.doesNotMatch(sign, /^(?:\p{RGI_Emoji}|\p{M}|\p{Cs}|\p{Emoji_Modifier}|\u200d)$/v);
  }
  assert.equal(isEmoji("1"), false);
  assert.equal(isEmoji("1\ufe0f\u20e3"), true);
});
