import assert from "node:assert/strict";
import fc from "fast-check";
import { deepFreeze, parseJson } from "./mod.ts";

Deno.test("any layout of a JSON text is read as JSON.parse reads it", () => {
  const layouts = fc.constantFrom(undefined, 1, "\t", "\n \r\n");
  fc.assert(fc.property(fc.jsonValue(), layouts, (value, layout) => {
    const text = JSON.stringify(value, null, layout);
    assert.deepEqual(parseJson(text), JSON.parse(text));
  }));
});

const REPEATED = [
  '{"a":1,"a":1}',
  '{"a":1, "a":2}',
  '{ "a" : {"x":1} , "a" : 1 }',
  '{"a":1,"\\u0061":2}',
  '[{"b":{"c":1,"d":":\\"c\\":","c":2}}]',
  '{"__proto__":1,"__proto__":2}',
  '{"":1,"":2}',
];
for (const text of REPEATED) {
  Deno.test(`a repeated key is refused: ${text}`, () => {
    assert.throws(() => parseJson(text), { code: "badFrame", message: /repeats a key/ });
  });
}

Deno.test("an added member with a key that is there already is always found", () => {
  const objects = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 });
  fc.assert(
    fc.property(objects, fc.nat(), fc.constantFrom("", " ", "\n"), (object, pick, space) => {
      const keys = Object.keys(object);
      const key = JSON.stringify(keys[pick % keys.length]);
      const text = `${JSON.stringify(object).slice(0, -1)},${space}${key}${space}:${space}null}`;
      assert.throws(() => parseJson(text), { code: "badFrame" });
    }),
  );
});

Deno.test("colons, quotes and backslashes within strings do not look like members", () => {
  const value = { 'a:"\\': '":"', "\\": [":", '\\":"'], "{": { ":": "}" } };
  assert.deepEqual(parseJson(JSON.stringify(value, null, 2)), value);
});

Deno.test("syntax errors and numbers past all numbers are refused", () => {
  for (const text of ["", "{", "[1,]", "'a'", "NaN", "1e999", "[-1e999]", "\ufeff1", "01", "1 2"]) {
    assert.throws(() => parseJson(text), { code: "badFrame" });
  }
});

Deno.test("bytes, depth and nodes are bounded: the limit passes, one more is refused", () => {
  parseJson('"éé"', { frameBytes: 6 });
  assert.throws(() => parseJson('"éé"', { frameBytes: 5 }), { code: "tooLarge" });
  parseJson('[{"a":[]}]', { depth: 3 });
  assert.throws(() => parseJson('[{"a":[]}]', { depth: 2 }), { code: "tooLarge" });
  parseJson("[1, 2]", { nodes: 3 });
  assert.throws(() => parseJson("[1, 2]", { nodes: 2 }), { code: "tooLarge" });
  const deep = "[".repeat(10_000) + "]".repeat(10_000);
  assert.throws(() => parseJson(deep), { code: "tooLarge" });
});

Deno.test("a lone surrogate written as an escape is kept", () => {
  assert.equal(parseJson('"\\ud800"'), "\ud800");
});

Deno.test("__proto__ is a key of its own, and the value is frozen all through", () => {
  const value = parseJson('{"__proto__": {"admin": true}, "b": [{}]}');
  assert.deepEqual(Object.keys(Object(value)), ["__proto__", "b"]);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.ok(frozenThrough(value));
});

Deno.test("deepFreeze freezes every part and returns the value itself", () => {
  const value = { a: [{ b: {} }], c: null };
  assert.equal(deepFreeze(value), value);
  assert.ok(frozenThrough(value));
});

function frozenThrough(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(frozenThrough);
}
