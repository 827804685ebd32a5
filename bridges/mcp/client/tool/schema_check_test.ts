import assert from "node:assert/strict";
import type { Json } from "../../../../contracts/base/json.ts";
import { misfit } from "./schema_check.ts";

const WEATHER = {
  type: "object",
  properties: {
    place: { $ref: "#/$defs/name" },
    degrees: { type: "number", minimum: -90, maximum: 60 },
    sky: { enum: ["clear", "cloudy"] },
    hours: { type: "array", items: { type: "integer" }, maxItems: 3, uniqueItems: true },
  },
  required: ["place"],
  additionalProperties: false,
  $defs: { name: { type: "string", minLength: 1, maxLength: 8 } },
};

const FITS: readonly Json[] = [
  { place: "Bergen" },
  { place: "Bergen", degrees: 4.5, sky: "cloudy", hours: [1, 2, 3] },
];
const DIFFERS: Readonly<Record<string, readonly [Json, RegExp]>> = {
  "a missing member": [{}, /needs "place"/],
  "a wrong type behind a reference": [{ place: 5 }, /"\/place": must be string/],
  "a text that is too long": [{ place: "a town in the north" }, /maxLength is 8/],
  "a number out of range": [{ place: "a", degrees: 61 }, /"\/degrees": maximum is 60/],
  "a value that is not listed": [{ place: "a", sky: "green" }, /must be one of the listed values/],
  "a further member": [{ place: "a", more: 1 }, /"\/more": nothing may stand here/],
  "a list that is too long": [{ place: "a", hours: [1, 2, 3, 4] }, /maxItems is 3/],
  "an item of a wrong type": [{ place: "a", hours: [1.5] }, /"\/hours\/0": must be integer/],
  "an item twice": [{ place: "a", hours: [1, 1] }, /holds an item twice/],
  "no object": [[], /must be object/],
};

Deno.test("alice holds a result against its schema", () => {
  for (const value of FITS) assert.equal(misfit(WEATHER, value), undefined);
  for (const [what, [value, why]] of Object.entries(DIFFERS)) {
    assert.match(misfit(WEATHER, value) ?? "", why, what);
  }
});

Deno.test("forms are joined as JSON Schema joins them", () => {
  const either = { anyOf: [{ type: "string" }, { type: "integer" }] };
  assert.equal(misfit(either, 5), undefined);
  assert.match(misfit(either, 5.5) ?? "", /none of its forms/);
  const exactly = { oneOf: [{ minimum: 0 }, { maximum: 10 }] };
  assert.equal(misfit(exactly, 11), undefined);
  assert.match(misfit(exactly, 5) ?? "", /exactly one/);
  assert.match(misfit({ not: { type: "string" } }, "x") ?? "", /must not/);
  assert.match(misfit({ allOf: [{ type: "string" }, { maxLength: 1 }] }, "xy") ?? "", /maxLength/);
  const turn = { if: { type: "string" }, then: { minLength: 2 }, else: { const: 7 } };
  assert.equal(misfit(turn, "ab"), undefined);
  assert.match(misfit(turn, "a") ?? "", /minLength/);
  assert.match(misfit(turn, 8) ?? "", /listed/);
  const pair = { prefixItems: [{ type: "string" }, { type: "number" }], items: false };
  assert.equal(misfit(pair, ["a", 1]), undefined);
  assert.match(misfit(pair, ["a", 1, 2]) ?? "", /"\/2": nothing/);
});

Deno.test("mallory's regular expression is never run, her references lead nowhere", () => {
  const bomb = { type: "string", pattern: "^(a+)+$", format: "(a+)+" };
  assert.equal(misfit(bomb, `${"a".repeat(50_000)}!`), undefined);
  const names = { patternProperties: { "^(a+)+$": false }, additionalProperties: false };
  assert.equal(misfit(names, { ["a".repeat(5_000)]: 1 }), undefined);
  for (
    const $ref of ["https://evil.example/schema", "other.json", "#anchor", "#/$defs/__proto__"]
  ) {
    assert.equal(misfit({ $ref }, 5), undefined);
  }
});

Deno.test("mallory's schema that never ends is refused, not run", () => {
  const round = { $ref: "#" };
  const wide = (depth: number): Json =>
    depth === 0 ? { type: "string" } : { anyOf: Array(10).fill(wide(depth - 1)) };
  for (const schema of [round, wide(6)]) {
    assert.throws(() => misfit(schema, 5), { code: "tooLarge" });
  }
});
