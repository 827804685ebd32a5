import { equal, match, throws } from "node:assert/strict";
import { makeMisfits } from "./validators.ts";

const fits = (schema: object, value: object): boolean =>
  makeMisfits()(JSON.stringify(schema), JSON.parse(JSON.stringify(value))) === undefined;
const refuses = (schema: object, why: RegExp): void =>
  throws(() => fits(schema, {}), (error) => error instanceof Error && why.test(error.message));

Deno.test("an optional property that every object inherits is not found where nobody wrote it", () => {
  for (const name of ["constructor", "toString", "hasOwnProperty", "valueOf"]) {
    const properties = Object.fromEntries([[name, { type: "string" }]]);
    const schema = { type: "object", properties, additionalProperties: false };
    equal(fits(schema, {}), true, name);
    equal(fits(schema, { [name]: "yes" }), true, name);
    equal(fits(schema, { [name]: 1 }), false, name);
    equal(fits({ ...schema, required: [name] }, {}), false, name);
  }
});

Deno.test("keywords of 2020-12 are checked, with its name and without", () => {
  const tuple = {
    type: "object",
    properties: { at: { prefixItems: [{ type: "string" }, { type: "number" }], items: false } },
    dependentRequired: { at: ["by"] },
  };
  const named = { $schema: "https://json-schema.org/draft/2020-12/schema", ...tuple };
  for (const schema of [tuple, named]) {
    equal(fits(schema, { at: ["a", 1], by: "alice" }), true);
    equal(fits(schema, { at: ["a", "b"], by: "alice" }), false);
    equal(fits(schema, { at: ["a", 1, 2], by: "alice" }), false);
    equal(fits(schema, { at: ["a", 1] }), false);
  }
});

Deno.test("tuples of draft-07 are checked, with its name and without", () => {
  const tuple = {
    properties: { at: { items: [{ type: "string" }], additionalItems: false } },
  };
  const named = { $schema: "http://json-schema.org/draft-07/schema#", ...tuple };
  for (const schema of [tuple, named]) {
    equal(fits(schema, { at: ["a"] }), true);
    equal(fits(schema, { at: [1] }), false);
    equal(fits(schema, { at: ["a", 1] }), false);
  }
});

Deno.test("a keyword that the schema's dialect would pass over in silence is refused, as is any other dialect", () => {
  const draft7 = "http://json-schema.org/draft-07/schema#";
  refuses({ $schema: draft7, properties: { a: { prefixItems: [{}] } } }, /prefixItems is not/);
  refuses({ properties: { a: { items: [{}] }, b: { prefixItems: [{}] } } }, /prefixItems is not/);
  refuses({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    properties: { a: { items: [{}] } },
  }, /items as a list.* is not a keyword of 2020-12/);
  refuses({ $schema: "https://json-schema.org/draft/2019-09/schema" }, /neither 2020-12 nor/);
  refuses({ properties: { a: { pattern: "(a+)+" } } }, /\/pattern is a keyword that is not taken/);
});

Deno.test("mallory's schema whose numbers are program text is no schema", () => {
  const misfits = makeMisfits();
  for (const minimum of ["0); globalThis.mallory = 1; (0", null, {}, []]) {
    throws(() => misfits(JSON.stringify({ minimum }), {}), /no schema of 2020-12/);
  }
  equal("mallory" in globalThis, false);
  match(misfits(JSON.stringify({ type: "object", required: ["a"] }), {}) ?? "", /required/);
});

Deno.test("mallory's schema refers to itself without end: arguments are refused, and nothing ends", () => {
  const same = { properties: { a: { anyOf: [{ $ref: "#/properties/a" }] } } };
  match(makeMisfits()(JSON.stringify(same), { a: 1 }) ?? "", /refers to itself without end/);
  for (const schema of [{ $ref: "#" }, { properties: { a: { $ref: "#/properties/a" } } }]) {
    refuses(schema, /Cannot check arguments/);
  }
  const $defs = { list: { properties: { next: { $ref: "#/$defs/list" } }, required: ["id"] } };
  const list = { $defs, properties: { list: { $ref: "#/$defs/list" } } };
  equal(fits(list, { list: { id: 1, next: { id: 2 } } }), true, "one that ends is followed");
  equal(fits(list, { list: { id: 1, next: {} } }), false);
});
