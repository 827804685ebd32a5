import { deepEqual, equal, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import { Fault } from "../contracts/base/fault.ts";
import type { Json } from "../contracts/base/json.ts";
import { canonicalJson } from "./canonical.ts";
import { parseJson } from "./parse.ts";
import { decodeXJson, encodeXJson, type XJson, xjsonSource } from "./xjson.ts";

const text = fc.oneof(
  fc.string(),
  fc.tuple(fc.constantFrom("!", "#", "+", "-", "!#", "+5", "#undefined", "__proto__"), fc.string())
    .map(([mark, rest]) => mark + rest),
);
const value: fc.Arbitrary<XJson> = fc.letrec<{ any: XJson }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<XJson>(null, undefined, NaN, Infinity, -Infinity, true, false),
    fc.double({ noNaN: true }).map((each) => each === 0 ? 0 : each),
    fc.bigInt(),
    text,
    fc.array(tie("any"), { maxLength: 4 }),
    fc.dictionary(text.filter((key) => key !== "__proto__"), tie("any"), { maxKeys: 4 })
      .map((each): XJson => ({ ...each })),
  ),
})).any;

Deno.test("every extended value comes back as it went, through JSON text as well", () => {
  fc.assert(fc.property(value, (each) => {
    const json = encodeXJson(each);
    deepEqual(decodeXJson(json), each);
    deepEqual(decodeXJson(parseJson(canonicalJson(json))), each);
  }));
});

Deno.test("every extended value is made anew by its source", () => {
  fc.assert(fc.property(value, (each) => {
    deepEqual(new Function(`return (${xjsonSource(each)})`)(), each);
  }));
});

Deno.test("what a model writes is read as extended JSON", () => {
  const read: readonly (readonly [Json, XJson])[] = [
    ["+5", 5n],
    ["-5", -5n],
    ["#undefined", undefined],
    ["#NaN", NaN],
    ["#Infinity", Infinity],
    ["#-Infinity", -Infinity],
    ["!#undefined", "#undefined"],
    ["!+5", "+5"],
    ["!!", "!"],
    ["- a line of a list", "- a line of a list"],
    ["# A title", "# A title"],
    [{ "!#key": ["+1"] }, { "#key": [1n] }],
  ];
  for (const [json, expected] of read) deepEqual(decodeXJson(json), expected);
});

Deno.test("what is nearly a mark is refused as invalid arguments, and so are keys that become one", () => {
  for (const bad of ["#Nothing", "+5.5", "-1n", `+${"1".repeat(5_000)}`, { "!a": 1, a: 2 }]) {
    throws(() => decodeXJson(bad), (error) => {
      ok(error instanceof Fault);
      equal(error.code, "invalidArguments");
      return true;
    });
  }
});
