import assert from "node:assert/strict";
import { makeBudget } from "../jq/run_state.ts";
import type { Json } from "../values.ts";
import { checkSchema } from "./check_schema.ts";

const errors = (schema: Json, value: Json) => checkSchema(schema, value, makeBudget(200_000));
const at = (schema: Json, value: Json) =>
  errors(schema, value).map((error) => `${error.at} ${error.rule}`);

const TREE: Json = {
  $defs: {
    node: {
      type: "object",
      properties: { next: { $ref: "#/$defs/node" }, v: { type: "integer" } },
    },
  },
  $ref: "#/$defs/node",
};

/** Schema, a value that fits, a value that does not, and where and why not. */
const TABLE:
  readonly (readonly [schema: Json, good: Json, bad: Json, broken: readonly string[]])[] = [
    [{ type: ["integer", "null"] }, null, 1.5, [" /type"]],
    [{ const: { a: [1] } }, { a: [1] }, { a: [2] }, [" /const"]],
    [{ enum: [1, "a"] }, "a", "b", [" /enum"]],
    [{ multipleOf: 0.01 }, 4.35, 4.355, [" /multipleOf"]],
    [{ minimum: 1, exclusiveMaximum: 3 }, 1, 3, [" /exclusiveMaximum"]],
    [{ maxLength: 2 }, "😀😀", "abc", [" /maxLength"]],
    [{ pattern: "^a+$" }, "aa", "ab", [" /pattern"]],
    [{ uniqueItems: true }, [1, "1", [1]], [{ a: 1, b: 2 }, { b: 2, a: 1 }], [" /uniqueItems"]],
    [
      { properties: { "a/b": { type: "string" } }, required: ["a/b"] },
      { "a/b": "" },
      { "a/b": 1 },
      ["/a~1b /properties/a~1b/type"],
    ],
    [{ patternProperties: { "^x": { type: "number" } }, additionalProperties: false }, { xa: 1 }, {
      xa: "",
      y: 1,
    }, [
      "/xa /patternProperties/^x/type",
      "/y /additionalProperties",
    ]],
    [{ propertyNames: { maxLength: 1 } }, { a: 1 }, { ab: 1 }, ["/ab /propertyNames/maxLength"]],
    [{ prefixItems: [{ type: "string" }], items: { type: "number" } }, ["a", 1], [1, "a"], [
      "/0 /prefixItems/0/type",
      "/1 /items/type",
    ]],
    [{ contains: { type: "number" }, maxContains: 1 }, ["a", 1], [1, 2], [" /contains"]],
    [{ dependentRequired: { a: ["b"] } }, { b: 1 }, { a: 1 }, [" /dependentRequired"]],
    [{ dependentSchemas: { a: { required: ["b"] } } }, { a: 1, b: 1 }, { a: 1 }, [
      " /dependentSchemas/a/required",
    ]],
    [{ if: { required: ["a"] }, then: { required: ["b"] }, else: { required: ["c"] } }, { c: 1 }, {
      a: 1,
    }, [" /then/required"]],
    [{ not: { type: "string" } }, 1, "a", [" /not"]],
    [{ anyOf: [{ type: "string" }, { required: ["a"], type: "object" }] }, "x", 1, [
      " /anyOf",
      " /anyOf/0/type",
    ]],
    [{ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 1, 3, [" /oneOf"]],
    [{ allOf: [{ properties: { a: true } }], unevaluatedProperties: false }, { a: 1 }, { b: 1 }, [
      "/b /unevaluatedProperties",
    ]],
    [{ prefixItems: [true], unevaluatedItems: false }, [1], [1, 2], ["/1 /unevaluatedItems"]],
    [TREE, { next: { next: { v: 1 } } }, { next: { next: { v: "x" } } }, [
      "/next/next/v /$ref/properties/next/$ref/properties/next/$ref/properties/v/type",
    ]],
    [{ $anchor: "top", properties: { a: { $ref: "#top" } }, type: "object" }, { a: {} }, { a: 1 }, [
      "/a /properties/a/$ref/type",
    ]],
    [false, [], 1, [" "]],
  ];

for (const [schema, good, bad, broken] of TABLE) {
  Deno.test(`the schema ${JSON.stringify(schema).slice(0, 70)} tells good from bad and says where`, () => {
    if (schema !== false) assert.deepEqual(at(schema, good), []);
    assert.deepEqual(at(schema, bad), broken);
  });
}

Deno.test("properties of a member are not properties of the object around it", () => {
  const schema: Json = {
    properties: { a: { properties: { b: true } } },
    unevaluatedProperties: false,
  };
  assert.deepEqual(at(schema, { a: { b: 1 }, b: 1 }), ["/b /unevaluatedProperties"]);
});

Deno.test("keys that every object seems to have are missing unless they are there", () => {
  assert.deepEqual(at({ required: ["toString", "__proto__"] }, {}), [" /required"]);
  assert.deepEqual(at({ properties: { constructor: { type: "number" } } }, {}), []);
});

for (
  const [what, schema, value, why] of [
    ["goes round", { $ref: "#" }, 1, /refers to itself/],
    ["refers outside", { $ref: "https://example.org/x.json" }, 1, /others are not fetched/],
    [
      "has several documents in one",
      { $defs: { a: { $id: "a", $ref: "#/x" } } },
      1,
      /write it as one document/,
    ],
    ["has a pattern that looks ahead", { pattern: "(?=a)" }, "a", /not supported/],
    ["is no schema", { properties: { a: 3 } }, { a: 1 }, /"\/properties\/a" is not a schema/],
    ["names no type", { type: "nonsense" }, {}, /"\/type" is not one of null, /],
    [
      "names one deep within",
      { items: [{ anyOf: [{ $defs: { "a/b": { type: ["string", "strng"] } } }] }] },
      [],
      /"\/items\/0\/anyOf\/0\/\$defs\/a~1b\/type" is not/,
    ],
    ["requires no list", { required: "a" }, {}, /"\/required" is not a list of names/],
    ["has a text for a bound", { minimum: "1" }, 0, /"\/minimum" is not a number/],
    ["has a list of properties", { properties: [] }, {}, /"\/properties" is not an object/],
    [
      "doubles at every level",
      {
        $defs: Object.fromEntries(Array.from({ length: 40 }, (_, n) => [
          `d${n}`,
          n === 39
            ? true
            : { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
        ])),
        $ref: "#/$defs/d0",
      },
      1,
      /steps/,
    ],
  ] as const satisfies readonly (readonly [string, Json, Json, RegExp])[]
) {
  Deno.test(`mallory's schema that ${what} is refused with the reason`, () => {
    assert.throws(() => errors(schema, value), why);
  });
}

Deno.test("what only looks like a keyword is data, and an unknown keyword says nothing", () => {
  const schema: Json = {
    properties: { type: { const: { type: "nonsense" } }, required: true },
    examples: [{ type: "nonsense" }],
    "x-required": "a",
    toString: 1,
  };
  assert.deepEqual(at(schema, { type: { type: "nonsense" }, required: 1 }), []);
});
