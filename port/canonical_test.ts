import assert from "node:assert/strict";
import fc from "fast-check";
import type { Json } from "../contracts/base/json.ts";
import { canonicalJson, parseJson } from "./mod.ts";

Deno.test("RFC 8785, 3.2.2 to 3.2.4: the example document becomes the example bytes", () => {
  const text = String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`;
  assert.equal(
    canonicalJson(parseJson(text)),
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],` +
      String.raw`"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
});

Deno.test("RFC 8785, 3.2.3: keys stand in order of UTF-16 code units", () => {
  const text = String.raw`{
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One",
    "\ud83d\ude00": "Emoji: Grinning Face",
    "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis"
  }`;
  const values = [...canonicalJson(parseJson(text)).matchAll(/:"([^"]*)"/g)].map(([, name]) =>
    name
  );
  assert.deepEqual(values, [
    "Carriage Return",
    "One",
    "Control",
    "Latin Small Letter O With Diaeresis",
    "Euro Sign",
    "Emoji: Grinning Face",
    "Hebrew Letter Dalet With Dagesh",
  ]);
});

/** RFC 8785, appendix B: bits of a double → its text. */
const NUMBERS: readonly (readonly [string, string])[] = [
  ["0000000000000000", "0"],
  ["8000000000000000", "0"],
  ["0000000000000001", "5e-324"],
  ["8000000000000001", "-5e-324"],
  ["7fefffffffffffff", "1.7976931348623157e+308"],
  ["ffefffffffffffff", "-1.7976931348623157e+308"],
  ["4340000000000000", "9007199254740992"],
  ["c340000000000000", "-9007199254740992"],
  ["4430000000000000", "295147905179352830000"],
  ["44b52d02c7e14af5", "9.999999999999997e+22"],
  ["44b52d02c7e14af6", "1e+23"],
  ["44b52d02c7e14af7", "1.0000000000000001e+23"],
  ["444b1ae4d6e2ef4e", "999999999999999700000"],
  ["444b1ae4d6e2ef4f", "999999999999999900000"],
  ["444b1ae4d6e2ef50", "1e+21"],
  ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
  ["3eb0c6f7a0b5ed8d", "0.000001"],
  ["41b3de4355555553", "333333333.3333332"],
  ["41b3de4355555554", "333333333.33333325"],
  ["41b3de4355555555", "333333333.3333333"],
  ["41b3de4355555556", "333333333.3333334"],
  ["41b3de4355555557", "333333333.33333343"],
  ["becbf647612f3696", "-0.0000033333333333333333"],
  ["43143ff3c1cb0959", "1424953923781206.2"],
];
for (const [bits, text] of NUMBERS) {
  Deno.test(`RFC 8785, appendix B: the double ${bits} is written ${text}`, () => {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, BigInt(`0x${bits}`));
    assert.equal(canonicalJson(view.getFloat64(0)), text);
  });
}

Deno.test("what RFC 8785 cannot write is refused: infinities, NaN, lone surrogates", () => {
  for (const value of [Infinity, -Infinity, NaN, "\ud800", ["\udead"], { "\ud800": 1 }]) {
    assert.throws(() => canonicalJson(value), { name: "Fault", code: "invalidInput" });
  }
});

Deno.test("equal values have one text, whatever the order in which they were made; it parses back", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    const json = parseJson(JSON.stringify(value));
    const text = canonicalJson(json);
    assert.deepEqual(parseJson(text), JSON.parse(text));
    assert.equal(canonicalJson(parseJson(text)), text);
    assert.equal(canonicalJson(reversed(json)), text);
  }));
});

function reversed(value: ReturnType<typeof parseJson>): ReturnType<typeof parseJson> {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Array) return value.map(reversed);
  return Object.fromEntries(Object.entries(value).reverse().map(([k, v]) => [k, reversed(v)]));
}

Deno.test("whatever is unusual in a value, its text is the one that the rules of RFC 8785 give", () => {
  // The rules again, without any shortcut.
  const spelled = (value: Json): string => {
    if (value instanceof Array) return `[${value.map(spelled).join(",")}]`;
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    const members = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1);
    return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${spelled(item)}`).join(",")}}`;
  };
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(-0, 1e21, null, true, "", "\\ud", "\\udfff", "é\u0000", "\u2028"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.uniqueArray(
        fc.tuple(
          fc.constantFrom(
            "b",
            "a",
            "10",
            "9",
            "",
            "__proto__",
            "toJSON",
            "é",
            "\uffff",
            "😀",
            "\\ud",
          ),
          tie("value"),
        ),
        { selector: ([key]) => key, maxLength: 5 },
      ).map((members) => Object.fromEntries(members)),
    ),
  }));
  fc.assert(
    fc.property(value, (given) => assert.equal(canonicalJson(given), spelled(given))),
    { numRuns: 2_000 },
  );
  const cut = Array.from({ length: 200 }).reduce<Json>((inner) => ({ b: inner, a: 1 }), null);
  assert.equal(canonicalJson(cut), spelled(cut));
});
