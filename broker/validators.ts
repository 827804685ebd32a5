/**
 * Argument checkers, built once for a schema. Two dialects of JSON Schema: 2020-12, which MCP means when
 * nothing is said, and draft-07, by its `$schema` or by its tuples (`items` as a list).
 * @module
 */
import { Ajv, type ErrorObject, type Options } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { Fault } from "../contracts/base/fault.ts";
import { isList, isObject, type Json } from "../contracts/base/json.ts";
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

/** What only one of the dialects knows: the other would let everything through there. */
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
  // Else an optional `constructor` is found in every object, on its prototype.
  ownProperties: true,
};
const MAX_NODES = 2_000;
const KEPT = 1_024;

/** Makes an empty keep of validators. */
export function makeValidators(): Validators {
  const kept = new Map<string, Validator | Fault>();
  const metas: Metas = new Map();
  const of = (digest: string, paramSchema: string): Validator => {
    let made = kept.get(digest);
    if (made === undefined) {
      made = build(paramSchema, metas);
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
        // A schema that refers to itself at the same place compiles, and is followed until the stack is full.
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

/** The schemas of schemas: compiling one takes longer than all the rest, so they are kept. */
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
  // A fresh instance each: ids and definitions of one schema must not name those of another.
  return new Engine({ ...OPTIONS, meta: false, validateSchema: false }).compile(schema);
}

/** Which dialect a schema is written in; throws where it mixes them. */
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

/** How `items` as a list is noted among the keywords that are used. */
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
