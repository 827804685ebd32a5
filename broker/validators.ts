/** Argument checkers, built once for a schema. @module */
import { Ajv, type ErrorObject } from "ajv";
import { Fault, type Json } from "../contracts/mod.ts";
import { sha256Hex } from "../port/digest.ts";
import { parseJson } from "../port/mod.ts";

/** Undefined when the value fits, else why not, in words for the agent. */
export type Validator = (value: Json) => string | undefined;

/** Keeps one validator for each descriptor digest. */
export interface Validators {
  /** @throws {Fault} `refused` for a schema that cannot be checked safely. */
  of(digest: string, paramSchema: string): Validator;
}

/** Keywords whose value is data or a number: nothing below them is a schema. */
const PLAIN = new Set(
  ("type enum const title description default examples deprecated readOnly writeOnly $comment " +
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems " +
    "maxItems minProperties maxProperties required dependentRequired $schema minContains " +
    "maxContains").split(" "),
);
const ONE = new Set(
  "items additionalProperties additionalItems not contains propertyNames if then else".split(" "),
);
const NAMED = new Set("properties $defs definitions dependentSchemas".split(" "));
const LISTED = new Set("allOf anyOf oneOf prefixItems".split(" "));

const MOST_NODES = 2_000;
const KEPT = 1_024;

/** Makes an empty keep of validators. */
export function makeValidators(): Validators {
  const kept = new Map<string, Validator | Fault>();
  const of = (digest: string, paramSchema: string): Validator => {
    let made = kept.get(digest);
    if (made === undefined) {
      made = build(paramSchema);
      if (kept.size >= KEPT) kept.clear();
      kept.set(digest, made);
    }
    if (made instanceof Fault) throw made;
    return made;
  };
  return Object.freeze({ of });
}

/** Says why a value does not fit a schema that was given as JSON text; undefined when it does. */
export function makeMisfits(): (schema: string, value: Json) => string | undefined {
  const validators = makeValidators();
  return (schema, value) => validators.of(sha256Hex(schema), schema)(value);
}

function build(paramSchema: string): Validator | Fault {
  try {
    const schema = parseJson(paramSchema, { frameBytes: 65_536, depth: 24, nodes: MOST_NODES });
    refuseUnsafe(schema, "");
    if (!isObject(schema)) throw new Fault("refused", "the schema is not an object");
    // A fresh instance each: ids and definitions of one schema must not name those of another.
    const ajv = new Ajv({ strict: false, allErrors: false, addUsedSchema: false, logger: false });
    const check = ajv.compile({ ...schema });
    return (value) => check(value) ? undefined : words(check.errors);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "it cannot be compiled";
    return new Fault("refused", `Cannot check arguments against the tool's schema: ${why}`, {
      cause,
    });
  }
}

function refuseUnsafe(schema: Json, at: string): void {
  if (typeof schema === "boolean") return;
  if (!isObject(schema)) throw new Fault("refused", `${at || "/"} is not a schema`);
  for (const [key, value] of Object.entries(schema)) {
    const here = `${at}/${key}`;
    if (PLAIN.has(key)) continue;
    if (key === "$ref") {
      if (typeof value !== "string" || !/^#(\/[\w$-]+)*$/.test(value)) {
        throw new Fault("refused", `${here} refers outside the schema`);
      }
    } else if (ONE.has(key)) {
      for (const inner of isList(value) ? value : [value]) refuseUnsafe(inner, here);
    } else if (LISTED.has(key) && isList(value)) {
      for (const inner of value) refuseUnsafe(inner, here);
    } else if (NAMED.has(key) && isObject(value)) {
      for (const [name, inner] of Object.entries(value)) refuseUnsafe(inner, `${here}/${name}`);
    } else {
      // `pattern` and `format` run regular expressions of the tool's author on a model's text.
      throw new Fault("refused", `${here} is a keyword that is not taken`);
    }
  }
}

function words(errors: readonly ErrorObject[] | null | undefined): string {
  const error = errors?.[0];
  if (error === undefined) return "they do not fit";
  const params: Readonly<Record<string, unknown>> = error.params;
  const extra = params["additionalProperty"] ?? params["allowedValues"];
  const more = extra === undefined ? "" : `: ${JSON.stringify(extra).slice(0, 256)}`;
  return `${error.instancePath.slice(0, 256) || "the object"} ${
    error.message ?? "is wrong"
  }${more}`;
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
