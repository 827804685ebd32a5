import { deepEqual, equal, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import type { Json, JsonObject } from "../contracts/base/mod.ts";
import { canonicalJson, parseJson } from "../port/mod.ts";
import { argumentsText, parseArguments } from "./arguments.ts";

interface Outcome {
  readonly text: string;
  readonly args: Json;
}

/** What the long way alone comes to. */
function long(text: string): Outcome | "refused" {
  try {
    const args = parseJson(text, { frameBytes: 1 << 20, depth: 32, nodes: 50_000 });
    if (args === null) return { args: {}, text: "{}" };
    // A string is read once more: the examples below say how.
    if (typeof args === "string") return short(text);
    if (typeof args !== "object" || args === null || Array.isArray(args)) return "refused";
    return { args, text: canonicalJson(args) };
  } catch {
    return "refused";
  }
}

function short(text: string): Outcome | "refused" {
  try {
    return parseArguments(text);
  } catch {
    return "refused";
  }
}

const key = fc.oneof(
  fc.string({ maxLength: 3 }),
  fc.constantFrom(
    "__proto__",
    "0",
    "9",
    "10",
    "-1",
    "constructor",
    "toJSON",
    "é",
    "\ud800",
    "a",
    "b",
  ),
);
const { value, object } = fc.letrec<{ value: Json; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(null, true, 0, -0, 1e21, 1.5, "", "a\\ud800", "\ud800", "ü\u2028"),
    fc.string({ maxLength: 5 }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(key, tie("value"), { maxKeys: 4 }),
  ),
  // Written by hand, so that keys may repeat and spaces stand where a model puts them.
  object: fc.tuple(
    fc.array(fc.tuple(key, tie("value")), { maxLength: 5 }),
    fc.constantFrom("", " "),
  )
    .map(([entries, space]) =>
      `{${entries.map(([k, v]) => `${JSON.stringify(k)}:${space}${JSON.stringify(v)}`).join(",")}}`
    ),
}));

Deno.test("the short way and the long way come to the same", () => {
  fc.assert(
    fc.property(fc.oneof(object, value.map((v) => JSON.stringify(v)), fc.string()), (text) => {
      deepEqual(short(text), long(text));
    }),
    { numRuns: 10_000 },
  );
});

Deno.test("arguments are frozen to their depths, however they were read", () => {
  for (const text of ['{"a":{"b":[{"c":1}]}}', '{ "a": {"b": [{"c": 1}]} }']) {
    const { args } = parseArguments(text);
    const frozen = (item: Json): boolean =>
      typeof item !== "object" || item === null ||
      (Object.isFrozen(item) && Object.values(item as JsonObject).every(frozen));
    ok(frozen(args));
  }
});

Deno.test("arguments that came as a string of their JSON are read once, and null is none", () => {
  const twice = (text: string): string => JSON.stringify(text);
  equal(parseArguments(twice('{"b": 1, "a": "x"}')).text, '{"a":"x","b":1}');
  equal(parseArguments(twice('\n{"a":[{"b":"\\"c\\""}]} ')).text, '{"a":[{"b":"\\"c\\""}]}');
  for (const text of ["null", " null ", twice("null")]) equal(parseArguments(text).text, "{}");
  throws(() => parseArguments(twice("desk/plan.md")), /encoded twice/);
});

Deno.test("arguments past a limit, of another type or with tricks are refused", () => {
  const deep = (n: number): string => `{"a":${"[".repeat(n)}${"]".repeat(n)}}`;
  equal(parseArguments(deep(31)).text, deep(31));
  for (
    const text of [
      deep(32),
      deep(100_000),
      `{"a":"${"x".repeat(1 << 20)}"}`,
      `{"a":[${"1,".repeat(60_000)}1]}`,
      '{"a":1,"a":1}',
      '{"a":1,"\\u0061":2}',
      '{"a":1e999}',
      '{"a":"\\ud800"}',
      "[1]",
      "",
      '""',
      '"[1]"',
      '"not JSON"',
      // A string in a string is no model's slip any more.
      JSON.stringify(JSON.stringify('{"a":1}')),
      JSON.stringify('{"a":1,"a":2}'),
      JSON.stringify('{"a":1} {"b":2}'),
    ]
  ) throws(() => parseArguments(text), { name: "Fault" }, text.slice(0, 40));
});

Deno.test("the text of arguments is that of what they hold, however often it is asked for", () => {
  for (const text of ['{"b":[{"c":1}],"a":2}', `{"b":"${"x".repeat(60_000)}","a":{"c":[]}}`]) {
    const { args, text: canonical } = parseArguments(text);
    equal(argumentsText(args), canonical);
    equal(argumentsText({ ...args }), canonical);
    equal(argumentsText({ ...args, a: 3 }), canonicalJson({ ...args, a: 3 }));
    // What was remembered stays true, because nothing within can be changed.
    throws(() => Object.assign(args, { a: 3 }), TypeError);
    for (const inner of Object.values(args)) {
      if (typeof inner === "object") throws(() => Object.assign(inner ?? {}, { 0: 3 }), TypeError);
    }
  }
});
