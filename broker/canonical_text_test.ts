import { equal, throws } from "node:assert/strict";
import fc from "fast-check";
import type { Json, JsonObject } from "../contracts/mod.ts";
import { canonicalJson } from "../port/mod.ts";
import { canonicalText } from "./canonical_text.ts";

function outcome(f: () => string): string {
  try {
    return f();
  } catch (error) {
    return String(error);
  }
}

Deno.test("the fast way and the long way write the same text, or refuse alike", () => {
  const key = fc.oneof(
    fc.string({ maxLength: 3 }),
    fc.constantFrom("__proto__", "0", "9", "10", "-1", "constructor", "é", "\ud800"),
  );
  const { value } = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Json>(null, true, 0, -0, 1e21, 1.5, "", "a\\ud800", "\ud800", "ü\u2028"),
      fc.string({ maxLength: 5 }),
      fc.array(tie("value"), { maxLength: 3 }),
      tie("object"),
    ),
    object: fc.array(fc.tuple(key, tie("value")), { maxLength: 4 }).map((entries) =>
      Object.fromEntries(entries)
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(key, value, { maxKeys: 5 }), (object) => {
      // As a parser makes it: __proto__ is an own key.
      const parsed: JsonObject = JSON.parse(JSON.stringify(object));
      equal(outcome(() => canonicalText(parsed)), outcome(() => canonicalJson(parsed)));
    }),
    { numRuns: 5_000 },
  );
});

Deno.test("a lone surrogate and a number that is none are refused", () => {
  throws(() => canonicalText({ a: "\ud800" }), /surrogate/);
  throws(() => canonicalText({ a: Infinity }), /number/);
});
