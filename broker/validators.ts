/**
 * Argument validators, built once for each schema. Two dialects of JSON Schema: 2020-12, which MCP
 * implies by default, and draft-07, recognised by `$schema` or by tuples (`items` as a list).
 * @module
 */
import { Ajv, type ErrorObject, type Options } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { Fault } from "../contracts/base/fault.ts";
import { isList, isObject, type Json } from "../contracts/base/json.ts";
import { sha256Hex } from "../port/digest.ts";
import { parseJson } from "../port/mod.ts";

/** Returns undefined for a valid value, else the reason, for the agent. */
export type Validator = (value: Json) => string | undefined;

/** A cache of validators by descriptor digest. */
export interface Validators {
  /** @throws {Fault} `refused` for a schema that cannot be checked safely. */
  of(digest: string, paramSchema: string): Validator;
}

/** Keywords whose value is data or a number: nothing below them is a schema (their value is not traversed). */
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

/** Keywords of 2020-12 only: draft-07 would ignore them and accept everything. */
const ONLY_2020 = new Set(
  "prefixItems dependentRequired dependentSchemas minContains maxContains".split(" "),
);
const DIALECTS: Readonly<Record<string, Dialect>> = {
  "https://json-schema.org/draft/2020-12/schema": "2020-12",
  "http://json-schema.org/draft-07/schema": "draft-07",
  "https://json-schema.org/draft-07/schema": "draft-07",
};
type Dialect = "2020-12" | "draft-07";

const OPTIONS: Options = {
  ...{ strict: false, allErrors: false, addUsedSchema: false, logger: false },
  // Otherwise an optional `constructor` would be found on every object's prototype.
  ownProperties: true,
};
const MAX_NODES = 2_000;
const MAX_KEPT = 1_024;

/** An empty cache of validators. */
export function makeValidators(): Validators {
  const kept = new Map<string, Validator | Fault>();
  const metas: Metas = new Map();
  const of = (digest: string, paramSchema: string): Validator => {
    let made = kept.get(digest);
    if (made === undefined) {
      made = build(paramSchema, metas);
      if (kept.size >= MAX_KEPT) kept.clear();
      kept.set(digest, made);
    }
    if (made instanceof Fault) throw made;
    return made;
  };
  return Object.freeze({ of });
}

/** Makes a function that says why a value does not match a schema (JSON text); undefined if it matches. */
export function makeMisfits(): (schema: string, value: Json) => string | undefined {
  const validators = makeValidators();
  return (schema, value) => validators.of(sha256Hex(schema), schema)(value);
}

function build(paramSchema: string, metas: Metas): Validator | Fault {
  try {
    const schema = parseJson(paramSchema, { frameBytes: 65_536, depth: 24, nodes: MAX_NODES });
    if (!isObject(schema)) throw new Fault("refused", "the schema is not an object");
    const used = new Set<string>();
    refuseUnsafe(schema, "", used);
    const check = compile(schema, { dialect: dialectOf(schema, used), metas });
    return (value) => {
      try {
        return check(value) ? undefined : words(check.errors);
      } catch (cause) {
        // A schema that refers to itself at the same place compiles, and recurses until the stack overflows.
        if (!(cause instanceof RangeError)) throw cause;
        return "they cannot be checked: the tool's schema refers to itself without end";
      }
    };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "it cannot be compiled";
    return new Fault("refused", `Cannot check arguments against the tool's schema: ${why}`, {
      cause,
    });
  }
}

/** Meta-schemas by dialect, cached because compiling one takes longer than everything else. */
type Metas = Map<Dialect, Ajv | Ajv2020>;

function compile(
  { $schema: _named, ...schema }: { readonly [key: string]: Json },
  { dialect, metas }: { readonly dialect: Dialect; readonly metas: Metas },
): ReturnType<Ajv["compile"]> {
  const Engine = dialect === "2020-12" ? Ajv2020 : Ajv;
  const meta = metas.get(dialect) ?? new Engine({ strict: false, logger: false });
  metas.set(dialect, meta);
  if (meta.validateSchema(schema) !== true) {
    throw new Fault("refused", `it is no schema of ${dialect}: ${meta.errorsText(meta.errors)}`);
  }
  // A new instance for each schema, so that ids and definitions of different schemas cannot collide.
  return new Engine({ ...OPTIONS, meta: false, validateSchema: false }).compile(schema);
}

/** The dialect of a schema; throws if it mixes dialects. */
function dialectOf(schema: { readonly [key: string]: Json }, used: ReadonlySet<string>): Dialect {
  const named = schema["$schema"];
  const said = typeof named === "string" ? named.replace(/#$/, "") : undefined;
  const known = said !== undefined && Object.hasOwn(DIALECTS, said) ? DIALECTS[said] : undefined;
  if (named !== undefined && known === undefined) {
    throw new Fault("refused", "/$schema is neither 2020-12 nor draft-07");
  }
  const older = used.has(TUPLE) || used.has("additionalItems");
  const dialect = known ?? (older ? "draft-07" : "2020-12");
  const alien = dialect === "2020-12"
    ? older ? "items as a list, or additionalItems," : undefined
    : [...used].find((key) => ONLY_2020.has(key));
  if (alien === undefined) return dialect;
  throw new Fault("refused", `${alien} is not a keyword of ${dialect}`);
}

/** Stands for `items` as a list among the used keywords. */
const TUPLE = "items[]";

function refuseUnsafe(schema: Json, at: string, used: Set<string>): void {
  if (typeof schema === "boolean") return;
  if (!isObject(schema)) throw new Fault("refused", `${at || "/"} is not a schema`);
  for (const [key, value] of Object.entries(schema)) {
    const here = `${at}/${key}`;
    used.add(key === "items" && isList(value) ? TUPLE : key);
    if (PLAIN.has(key)) continue;
    if (key === "$ref") {
      if (typeof value !== "string" || !/^#(\/[\w$-]+)*$/.test(value)) {
        throw new Fault("refused", `${here} refers outside the schema`);
      }
    } else if (ONE.has(key)) {
      for (const inner of isList(value) ? value : [value]) refuseUnsafe(inner, here, used);
    } else if (LISTED.has(key) && isList(value)) {
      for (const inner of value) refuseUnsafe(inner, here, used);
    } else if (NAMED.has(key) && isObject(value)) {
      for (const [name, inner] of Object.entries(value)) {
        refuseUnsafe(inner, `${here}/${name}`, used);
      }
    } else {
      // `pattern` and `format` would run the tool author's regular expressions on a model's text.
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
