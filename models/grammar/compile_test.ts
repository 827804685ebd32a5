import { Ajv } from "ajv";
import fc from "fast-check";
import assert from "node:assert/strict";
import { accepts, draw, readGrammar } from "./_fixture/gbnf_reader.ts";
import { anySchema, valueOf } from "./_fixture/schemas.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type { Json, JsonObject } from "../../contracts/base/json.ts";
import { compileSchema } from "./compile.ts";

const ajv = new Ajv({ strict: false, ownProperties: true, addUsedSchema: false, logger: false });

/** Numbers between 0 and 1, the same for the same seed. */
function randoms(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Alternatives are merged: the order of keys that two of them name is then that of the first. */
function ordered(schema: Json): boolean {
  return !/"(any|one|all)Of"/.test(JSON.stringify(schema)) || !manyKeys(schema);
}

function manyKeys(schema: Json): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  if (
    !Array.isArray(schema) && Object.keys((schema as JsonObject)["properties"] ?? {}).length > 1
  ) {
    return true;
  }
  return Object.values(schema).some(manyKeys);
}

/** An object that names keys and says nothing of others is written with those alone: so it is read here. */
function closed(schema: Json): Json {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(closed);
  const said = Object.fromEntries(
    Object.entries(schema as JsonObject).map(([key, each]) => [key, closed(each)]),
  );
  const names = said["type"] === "object" && said["properties"] !== undefined;
  return names ? { additionalProperties: false, ...said } : said;
}

function compiled(schema: Json): ReturnType<typeof compileSchema> | undefined {
  try {
    return compileSchema(schema);
  } catch (error) {
    assert.ok(error instanceof Fault && error.code === "invalidInput", String(error));
    assert.match(error.message, /no value fits it/);
    return undefined;
  }
}

Deno.test("every sentence of a random schema's grammar is JSON, and fits unless a note says so", () => {
  let drawn = 0;
  fc.assert(
    fc.property(anySchema, fc.integer(), (schema, seed) => {
      const made = compiled(schema);
      if (made === undefined) return;
      const validate = ajv.compile(structuredClone(schema) as object);
      const grammar = readGrammar(made.grammar);
      const random = randoms(seed);
      for (let n = 0; n < 4; n++) {
        const sentence = draw(grammar, random);
        const value: unknown = JSON.parse(sentence);
        assert.ok(accepts(grammar, sentence), sentence);
        const widened = made.notes.some(({ how }) => how === "widened");
        assert.ok(widened || validate(value), `${sentence} ${ajv.errorsText(validate.errors)}`);
        drawn++;
      }
    }),
    { numRuns: 400 },
  );
  assert.ok(drawn > 800, `${drawn} sentences were drawn`);
});

Deno.test("a value that fits can be written, unless a note says so", () => {
  let written = 0;
  fc.assert(
    fc.property(anySchema, fc.integer(), (schema, seed) => {
      fc.pre(ordered(schema) && !JSON.stringify(schema).includes("__proto__"));
      const made = compiled(schema);
      const validate = ajv.compile(structuredClone(schema) as object);
      const validateClosed = ajv.compile(closed(schema) as object);
      const random = randoms(seed);
      for (let n = 0; n < 6; n++) {
        const value = valueOf(schema, random);
        if (!validate(value) || !validateClosed(value)) continue;
        assert.ok(made !== undefined, `nothing can be written, and ${JSON.stringify(value)} fits`);
        if (made.notes.some(({ how }) => how === "narrowed")) return;
        assert.ok(accepts(readGrammar(made.grammar), JSON.stringify(value)), JSON.stringify(value));
        written++;
      }
    }),
    { numRuns: 400 },
  );
  assert.ok(written > 400, `${written} values were tried`);
});
