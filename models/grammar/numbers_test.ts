import fc from "fast-check";
import assert from "node:assert/strict";
import { accepts, readGrammar } from "./_fixture/gbnf_reader.ts";
import { schemaGrammar } from "./compile.ts";

const takes = (schema: Parameters<typeof schemaGrammar>[0]): (text: string) => boolean => {
  const grammar = readGrammar(schemaGrammar(schema));
  return (text) => accepts(grammar, text);
};

Deno.test("an integer range takes every number in it, none outside, and no other writing", () => {
  for (
    const [minimum, maximum] of [[1, 2_000], [-12, 7], [0, 0], [995, 1_005], [-105, -95], [
      37,
      1_999,
    ]]
  ) {
    const take = takes({ type: "integer", minimum: minimum ?? 0, maximum: maximum ?? 0 });
    for (let n = -2_200; n <= 2_200; n++) {
      assert.equal(take(`${n}`), n >= (minimum ?? 0) && n <= (maximum ?? 0), `${n}`);
    }
    for (const text of ["", "-", "01", "00", "+1", "1.0", "1e2", " 1", "-0"]) {
      assert.ok(!take(text));
    }
  }
});

Deno.test("integer bounds hold at the ends of what a double can count", () => {
  const most = Number.MAX_SAFE_INTEGER;
  const take = takes({ type: "integer", minimum: most - 5 });
  assert.ok(take(`${most}`) && take(`${most - 5}`));
  assert.ok(!take(`${most - 6}`) && !take("9007199254740992"));
  const free = takes({ type: "integer" });
  assert.ok(free("999999999999999") && free("-999999999999999") && !free("1000000000000000"));
});

Deno.test("a number fits its bounds, however many digits are written", () => {
  const at = fc.oneof(
    fc.integer({ min: -30, max: 30 }),
    fc.integer({ min: -4_000, max: 4_000 }).map((each) => each / 100),
    fc.constantFrom(0, 0.1, -0.1, 1e-7, 1.5e-5, 99.999, 1e21, 123_456.789),
  );
  fc.assert(
    fc.property(at, at, fc.boolean(), fc.boolean(), at, (a, b, openLow, openHigh, value) => {
      const [low, high] = a < b ? [a, b] : [b, a];
      const schema = {
        type: "number",
        [openLow ? "exclusiveMinimum" : "minimum"]: low,
        [openHigh ? "exclusiveMaximum" : "maximum"]: high,
      };
      const fits = (each: number): boolean =>
        (openLow ? each > low : each >= low) && (openHigh ? each < high : each <= high);
      if (low === high && (openLow || openHigh)) {
        assert.throws(() => schemaGrammar(schema), /no value fits/);
        return;
      }
      const take = takes(schema);
      const texts = [`${value}`, value.toFixed(2), value.toFixed(5), `${low}`, `${high}`];
      for (const text of texts.filter((each) => /^-?\d{1,9}(\.\d{1,6})?$/.test(each))) {
        // Minus nothing is nothing, and is written so.
        if (/^-0(\.0*)?$/.test(text)) continue;
        assert.equal(take(text), fits(Number(text)), text);
      }
    }),
    { numRuns: 300 },
  );
});

Deno.test("a string has as many characters as its schema says, at every length up to 300", () => {
  for (
    const [minLength, maxLength] of [[0, 5], [3, 3], [60, 130], [64, 128], [63, 65], [130, 140]]
  ) {
    const take = takes({ type: "string", minLength: minLength ?? 0, maxLength: maxLength ?? 0 });
    for (let n = 0; n <= 300; n++) {
      const within = n >= (minLength ?? 0) && n <= (maxLength ?? 0);
      assert.equal(take(`"${"😀".repeat(n)}"`), within, `${n}`);
    }
  }
  const take = takes({ type: "string", minLength: 5_000, maxLength: 5_000 });
  assert.ok(take(`"${"a".repeat(5_000)}"`) && !take(`"${"a".repeat(4_999)}"`));
});

Deno.test("escapes are those of JSON, and halves of a pair come together", () => {
  const take = takes({ type: "string", maxLength: 2 });
  for (const text of ['"\\n\\""', '"\\u00e9"', '"\\ud83d\\ude00"', '"\\uE000\\/"', '"\x7f"']) {
    assert.ok(take(text), text);
    JSON.parse(text);
  }
  for (const text of ['"\\x"', '"\\ud83d"', '"\\ude00"', '"\\ud83d\\n"', '"\n"', '"\\u12"', '"a']) {
    assert.ok(!take(text), text);
  }
});
