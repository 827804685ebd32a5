import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { Fault, type Json, type JsonObject } from "../../../contracts/base/mod.ts";
import { makeMisfits } from "../../../broker/mod.ts";
import { schemaArbitrary } from "./_fixture/arbitrary.ts";
import { safeSchema } from "./mod.ts";

const misfit = makeMisfits();
const made = (schema: JsonObject): JsonObject => JSON.parse(safeSchema(schema).schema);
const takes = (schema: JsonObject, args: Json): boolean =>
  misfit(safeSchema(schema).schema, args) === undefined;
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  ...more,
});

Deno.test("what the server takes the gate takes, too: a schema is loosened, never narrowed", () => {
  const args = fc.dictionary(fc.constantFrom("a", "b", "path"), fc.jsonValue({ maxDepth: 2 }), {
    maxKeys: 3,
  }) as fc.Arbitrary<JsonObject>;
  const ajv = new Ajv2020({
    strict: false,
    logger: false,
    ownProperties: true,
    addUsedSchema: false,
  });
  let held = 0;
  fc.assert(
    fc.property(schemaArbitrary, fc.array(args, { minLength: 1, maxLength: 6 }), (schema, all) => {
      let mine: string, accepts: (value: Json) => boolean;
      try {
        mine = safeSchema(schema).schema;
        const check = ajv.compile(
          schema,
        );
        accepts = (value) => {
          try {
            return check(value) === true;
          } catch {
            // It refers to itself without end: no value fits.
            return false;
          }
        };
      } catch {
        // Refused here, or no schema to whoever speaks the dialect.
        return;
      }
      for (const each of all) {
        if (!accepts(each)) continue;
        held += 1;
        assert.equal(misfit(mine, each), undefined);
      }
    }),
    { numRuns: 250 },
  );
  assert.ok(held > 30, String(held));
});

Deno.test("no regular expression of a server's gets to the gate; the model is told of it", () => {
  const schema = object({
    a: { type: "string", pattern: "^(a+)+$", format: "uri", description: "A." },
  });
  assert.deepEqual(
    made(schema),
    object({ a: { type: "string", description: "A. (format: uri) (pattern: ^(a+)+$)" } }),
  );
  assert.deepEqual(safeSchema(schema).notes, [
    '"pattern" is told, not checked: a',
    '"format" is told, not checked: a',
  ]);
});

Deno.test("references within the schema are written out, also escaped ones and chains", () => {
  const schema = object({
    a: { $ref: "#/$defs/x~1y", description: "Mine." },
    b: { $ref: "#/$defs/z" },
  }, {
    $defs: { "x/y": { type: "integer", description: "Theirs." }, z: { $ref: "#/$defs/x~1y" } },
  });
  assert.deepEqual(made(schema)["properties"], {
    a: { type: "integer", description: "Mine." },
    b: { type: "integer", description: "Theirs." },
  });
  assert.deepEqual(safeSchema(schema).tricks, []);
});

Deno.test("a parameter that several parts describe must match each of them", () => {
  const part = (path: JsonObject): JsonObject => object({ path });
  const [text, long] = [{ type: "string" }, { type: "string", minLength: 3 }];
  const schema = { ...part(text), allOf: [part(text), part(long), part({ maxLength: 5 })] };
  assert.deepEqual(safeSchema(schema).notes, []);
  assert.equal(takes(schema, { path: "a/b" }), true);
  for (const path of ["a", "a/b/c/d", 3]) assert.equal(takes(schema, { path }), false, `${path}`);
  assert.deepEqual(made({ allOf: [part(text), part(text)] }), part(text), "once, where they agree");
  const most = Array.from({ length: 32 }, (_, n) => part({ type: "integer", minimum: n }));
  const many = safeSchema({ type: "object", allOf: most });
  assert.deepEqual([many.tricks, many.notes], [[], []], "the parts stand beside each other");
  assert.equal(takes({ type: "object", allOf: most }, { path: 30 }), false);
  assert.equal(takes({ type: "object", allOf: most }, { path: 31 }), true);
});

Deno.test("a tree of any depth is taken, checked as far as it was written out, and told to be so", () => {
  const schema = object({ root: { $ref: "#/$defs/node" } }, {
    $defs: {
      node: object({
        name: { type: "string" },
        children: { type: "array", items: { $ref: "#/$defs/node" } },
      }, {
        required: ["name"],
      }),
    },
  });
  const { notes, tricks } = safeSchema(schema);
  assert.deepEqual([notes.length, tricks], [1, []]);
  assert.match(notes[0] ?? "", /^it is recursive, .*: root\.children\[\]\.children\[\]$/);
  assert.equal(
    takes(schema, { root: { name: "a", children: [{ name: "b", children: [{ any: 1 }] }] } }),
    true,
  );
  assert.equal(takes(schema, { root: { name: "a", children: [{}] } }), false);
});

Deno.test("a reference that leads elsewhere, nowhere or round in a circle is a trick or a note, and loads nothing", () => {
  const at = ($ref: string) => object({ a: { $ref } }, { $defs: { b: { $ref: "#/$defs/b" } } });
  for (
    const ref of ["https://evil.io/s", "other.json#/a", "#anchor", "#/$defs/none", "#/constructor"]
  ) {
    assert.deepEqual(made(at(ref))["properties"], { a: {} }, ref);
    assert.equal(safeSchema(at(ref)).tricks.length, 1, ref);
  }
  assert.deepEqual(made(at("#/$defs/b"))["properties"], { a: {} });
  assert.match(safeSchema(at("#/$defs/b")).notes[0] ?? "", /recursive/);
});

Deno.test("bombs end within limits: doubling references, depth, width, and all at once", () => {
  const defs: Record<string, Json> = { d0: { type: "string" } };
  for (let n = 1; n < 60; n++) {
    defs[`d${n}`] = object({ a: { $ref: `#/$defs/d${n - 1}` }, b: { $ref: `#/$defs/d${n - 1}` } });
  }
  let deep: JsonObject = {};
  for (let n = 0; n < 3_000; n++) deep = object({ a: deep });
  const wide = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, n) => [`p${n}`, { enum: [n] }]),
  );
  const all = { anyOf: Array.from({ length: 32 }, () => ({ $ref: "#" })) };
  for (
    const bomb of [object({ x: { $ref: "#/$defs/d59" } }, { $defs: defs }), deep, object(wide), all]
  ) {
    try {
      const { schema, tricks } = safeSchema(bomb);
      assert.ok(schema.length <= 32_768);
      assert.ok(tricks.length > 0);
    } catch (error) {
      assert.ok(error instanceof Fault && error.code === "refused");
    }
  }
});

Deno.test("alternatives at the top become one object that every provider takes", () => {
  const schema: JsonObject = {
    type: "object",
    oneOf: [
      object({ kind: { const: "file" }, path: { type: "string" } }, { required: ["kind", "path"] }),
      object({ kind: { const: "url" }, url: { type: "string" } }, { required: ["kind", "url"] }),
    ],
  };
  assert.deepEqual(made(schema), {
    type: "object",
    properties: {
      kind: { anyOf: [{ const: "file" }, { const: "url" }] },
      path: { type: "string" },
      url: { type: "string" },
    },
    required: ["kind"],
  });
});

Deno.test("both dialects' lists, OpenAPI's null and odd keywords come out as the one that is checked", () => {
  assert.deepEqual(
    made(object({
      pair: {
        type: "array",
        items: [{ type: "string" }, { type: "number" }],
        additionalItems: false,
      },
      maybe: { type: "string", nullable: true },
      any: true,
      none: false,
      odd: { "x-ui": "wide", $comment: "hm", type: ["string", "string"], enum: [] },
    }))["properties"],
    {
      pair: {
        type: "array",
        prefixItems: [{ type: "string" }, { type: "number" }],
        items: { not: {} },
      },
      maybe: { type: ["string", "null"] },
      any: {},
      none: { not: {} },
      odd: { type: "string" },
    },
  );
});

Deno.test("a parameter that no model could name is left out, or the tool refused where it needs it", () => {
  assert.deepEqual(made(object({ "a b": {}, "ä": {}, ok: {} }))["properties"], { ok: {} });
  assert.match(safeSchema(object({ "a b": {} })).notes[0] ?? "", /cannot name is left out: "a b"$/);
  assert.throws(
    () => safeSchema(object({ "a b": {} }, { required: ["a b"] })),
    /its parameter "a b" cannot be named/,
  );
  assert.throws(() => safeSchema({ type: "string" }), /its arguments are not an object/);
});
