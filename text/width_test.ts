import assert from "node:assert/strict";
import fc from "fast-check";
import { cut, width } from "./mod.ts";

Deno.test("CJK and emoji take two columns, combining marks none", () => {
  assert.equal(width("abc"), 3);
  assert.equal(width("漢字かな한글"), 12);
  assert.equal(width("ｱｲ"), 2);
  assert.equal(width("e\u0301"), 1);
  assert.equal(width("👨‍👩‍👧❤️🇩🇪"), 6);
});

Deno.test("a cut text fits, is a beginning of the text, and says that it was cut", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 0, max: 30 }), (text, n) => {
      const kept = cut(text, n);
      assert.ok(width(kept) <= n);
      assert.ok(
        kept === text || kept === "" || kept.endsWith("…") && text.startsWith(kept.slice(0, -1)),
      );
    }),
  );
  assert.equal(cut("漢字かな", 5), "漢字…");
  assert.equal(cut("abcd", 3), "ab…");
  assert.equal(cut("abc", 3), "abc");
  assert.equal(cut("abc", 0), "");
});
