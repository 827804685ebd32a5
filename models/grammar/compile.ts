/** Compiles a JSON Schema to a grammar (GBNF) of its values. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { isList, isObject, type Json } from "../../contracts/base/json.ts";
import { arrays, objects } from "./objects.ts";
import { alternatives } from "./choices.ts";
import { decimals, integers } from "./numbers.ts";
import { type Flatten, makeFlatten, merge } from "./merge.ts";
import { alt, EMPTY, type Expr, literal, makeRules, oneOf, type Rules } from "./gbnf.ts";
import {
  ALL_KINDS,
  asSchema,
  type Flat,
  type GrammarOptions,
  type Kind,
  type Schema,
  wrong,
} from "./schema.ts";
import { string } from "./strings.ts";
import { same } from "./parse_level.ts";
import { parseJson } from "../../port/parse.ts";

/** A place where the grammar differs from the schema. */
interface Note {
  /** JSON pointer into the schema. */
  readonly path: string;
  /** `narrowed`: the grammar excludes some valid values; `widened`: it admits some invalid ones. */
  readonly how: "narrowed" | "widened";
  readonly why: string;
}

/** State and functions that the parts of the compiler share. */
export interface Compiler {
  readonly rules: Rules;
  readonly bounds: Required<GrammarOptions>;
  readonly flatten: Flatten;
  /** Expression for the schema at `at`, which may still recurse `hops` times; undefined if no value fits. */
  values(schema: Schema, at: string, hops: number): Expr | undefined;
  /** Like `values`, for a flat schema. */
  flat(flat: Flat, at: string, hops: number): Expr | undefined;
  note(note: Note): void;
}

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);
const UNBOUNDED = 10n ** 15n - 1n;
/** Schemas compiled per document; each combination of alternatives counts. */
const MAX_STEPS = 8_000;
/** How often a recursive schema is followed. */
const MAX_HOPS = 4;
/** Levels of a value that no schema constrains. */
const FREE_DEPTH = 2;
/** Multiples that are enumerated one by one. */
const MAX_LISTED = 256n;

/** A compiled schema, and whether the result depends on the hops that are left. */
interface Compiled {
  readonly expr: Expr | undefined;
  readonly hops: boolean;
}
/** Cache key of results that do not depend on the hops. */
const ANY_HOPS = -1;

function makeCompiler(
  root: Schema,
  { rules, bounds, note }: {
    readonly rules: Rules;
    readonly bounds: Compiler["bounds"];
    readonly note: (note: Note) => void;
  },
): Compiler {
  const flatten = makeFlatten(root);
  const made = new WeakMap<object, Map<number, Compiled>>();
  /** Incremented whenever a result depends on the hops that are left. */
  let hopsSeen = 0;
  let steps = 0;

  const compiler: Compiler = Object.freeze<Compiler>({
    rules,
    bounds,
    flatten,
    note,
    values(schema: Schema, at: string, hops: number): Expr | undefined {
      if (schema === false) return undefined;
      const known = (typeof schema === "object" ? made.get(schema) : undefined) ?? new Map();
      const kept = known.get(ANY_HOPS) ?? known.get(hops);
      if (kept !== undefined) {
        if (kept.hops) hopsSeen++;
        return kept.expr;
      }
      const before = hopsSeen;
      const flat = flatten(schema, at);
      const body = saysNothing(flat) ? free(FREE_DEPTH, at) : compiler.flat(flat, at, hops);
      const expr = body === undefined ? undefined : rules.rule(body);
      const ofHops = hopsSeen > before;
      known.set(ofHops ? hops : ANY_HOPS, { expr, hops: ofHops });
      if (typeof schema === "object") made.set(schema, known);
      return expr;
    },
    flat(flat: Flat, at: string, hops: number): Expr | undefined {
      if (++steps > MAX_STEPS) {
        throw new Fault("tooLarge", `Cannot make a grammar: ${at}: too many combinations`);
      }
      if (flat.recursive === true) {
        hopsSeen++;
        if (hops > 0) return compiler.flat({ ...flat, recursive: false }, at, hops - 1);
        note({ path: at, how: "narrowed", why: `followed ${MAX_HOPS} times` });
        return undefined;
      }
      for (const keyword of new Set(flat.ignored)) {
        note({ path: `${at}/${keyword}`, how: "widened", why: "this keyword is not held to" });
      }
      if (flat.values !== undefined) return listed(flat.values, flat);
      if (flat.choices !== undefined && flat.choices.length > 0) {
        return alternatives(compiler, flat, { at, hops });
      }
      if (flat.not !== undefined) {
        if (flat.not.includes(true)) return undefined;
        note({ path: `${at}/not`, how: "widened", why: "what is excluded can be written" });
      }
      return alt([...flat.kinds].map((kind) => ofKind(kind, flat, at, hops)));
    },
  });

  /** Any JSON value, nested at most `depth` levels. */
  function free(depth: number, at: string): Expr {
    const inner = depth === 0 ? undefined : rules.rule(free(depth - 1, at));
    const kinds: readonly Kind[] = ["null", "boolean", "number", "string"];
    const flat: Flat = { kinds: ALL_KINDS };
    const scalars = kinds.map((kind) => ofKind(kind, flat, at, 0));
    if (inner === undefined) return alt(scalars) ?? EMPTY;
    const within: Compiler = { ...compiler, values: () => inner };
    const place = { at, hops: 0 };
    const open: Flat = { ...flat, additional: true };
    return alt([...scalars, arrays(within, flat, place), objects(within, open, place)]) ?? EMPTY;
  }

  function listed(values: readonly Json[], flat: Flat): Expr | undefined {
    const fitting = values.filter((each) => fits(each, flat, { flatten }));
    return oneOf(rules, fitting.map((each) => [JSON.stringify(each), EMPTY]));
  }

  function ofKind(kind: Kind, flat: Flat, at: string, hops: number): Expr | undefined {
    switch (kind) {
      case "null":
        return literal("null");
      case "boolean":
        return `("true" | "false")`;
      case "integer":
        return wholeNumbers(flat, at);
      case "number":
        return numbers(flat, at);
      case "string":
        return strings(flat, at);
      case "array":
        return arrays(compiler, flat, { at, hops });
      case "object":
        return objects(compiler, flat, { at, hops });
    }
  }

  function strings({ minLength = 0, maxLength }: Flat, at: string): Expr | undefined {
    const max = maxLength ?? Math.max(minLength, bounds.textLength);
    if (minLength > max) return undefined;
    if (minLength > bounds.maxLength) {
      note({ path: `${at}/minLength`, how: "narrowed", why: "no string is so long" });
      return undefined;
    }
    if (max > bounds.maxLength) {
      const why = `at most ${bounds.maxLength} characters can be written`;
      note({ path: `${at}/maxLength`, how: "narrowed", why });
    }
    return string(rules, minLength, Math.min(max, bounds.maxLength));
  }

  function wholeNumbers({ low, high, multiples = [] }: Flat, at: string): Expr | undefined {
    const above = low === undefined ? undefined : up(low.at, low.strict);
    const below = high === undefined ? undefined : -up(-high.at, high.strict);
    const from = above ?? (below !== undefined && below < -UNBOUNDED ? -MAX_SAFE : -UNBOUNDED);
    const to = below ?? (above !== undefined && above > UNBOUNDED ? MAX_SAFE : UNBOUNDED);
    if (multiples.length === 0) return integers(from, to);
    return multiplesBetween(from, to, multiples, at);
  }

  function multiplesBetween(
    from: bigint,
    to: bigint,
    multiples: readonly number[],
    at: string,
  ): Expr | undefined {
    const step = multiples.find(Number.isSafeInteger);
    const [first = 0n, last = 0n] = step === undefined
      ? []
      : [-(-from / BigInt(step)), to / BigInt(step)];
    if (step === undefined || last - first > MAX_LISTED) {
      const trivial = multiples.every((each) => Number.isInteger(1 / each));
      if (!trivial) note({ path: `${at}/multipleOf`, how: "widened", why: "any can be written" });
      return integers(from, to);
    }
    const texts: [string, Expr][] = [];
    for (let n = first - 1n; n <= last + 1n; n++) {
      const value = n * BigInt(step);
      if (value < from || value > to) continue;
      if (multiples.every((each) => Number.isInteger(Number(value) / each))) {
        texts.push([`${value}`, EMPTY]);
      }
    }
    return oneOf(rules, texts);
  }

  function numbers(flat: Flat, at: string): Expr | undefined {
    const { low, high, multiples = [] } = flat;
    if (multiples.some(Number.isInteger)) return wholeNumbers(flat, at);
    if (multiples.length > 0) {
      note({ path: `${at}/multipleOf`, how: "widened", why: "any fraction can be written" });
    }
    return decimals(low, high);
  }

  return compiler;
}

/** The smallest integer at or above a bound (above a strict one), clamped to safe integers. */
function up(at: number, strict: boolean): bigint {
  const rounded = Math.ceil(Math.max(-Number(MAX_SAFE), Math.min(Number(MAX_SAFE), at)));
  return BigInt(rounded) + (strict && rounded === at ? 1n : 0n);
}

/** Whether a schema constrains nothing. */
export function saysNothing(flat: Flat): boolean {
  return flat.kinds === ALL_KINDS &&
    Object.values(flat).every((each) =>
      each === undefined || each === ALL_KINDS || each === false ||
      (Array.isArray(each) && each.length === 0)
    );
}

/** Nested schemas that are followed. */
const MAX_DEPTH = 40;

/** Checks a value against every keyword that the compiler enforces, and `not`. */
function fits(
  value: Json,
  schema: Schema | Flat,
  { flatten, depth = 0 }: { readonly flatten: Flatten; readonly depth?: number },
): boolean {
  // A schema that lists itself as an alternative adds no constraint.
  if (depth > MAX_DEPTH) return true;
  const inner = { flatten, depth: depth + 1 };
  const flat = isFlat(schema) ? schema : flatten(schema, "");
  const holds = (each: Schema): boolean => fits(value, each, inner);
  if (!ofKind(value, flat.kinds)) return false;
  if (flat.values !== undefined && !flat.values.some((each) => same(each, value))) return false;
  if (flat.not?.some(holds) === true) return false;
  for (const { of, exactlyOne } of flat.choices ?? []) {
    const fitting = of.filter(holds).length;
    if (fitting === 0 || (exactlyOne && fitting > 1)) return false;
  }
  if (typeof value === "number") return fitsNumber(value, flat);
  if (typeof value === "string") {
    return within([...value].length, flat.minLength, flat.maxLength);
  }
  if (isList(value)) {
    return within(value.length, flat.minItems, flat.maxItems) &&
      value.every((each, n) => fits(each, flat.prefix?.[n] ?? flat.items ?? true, inner));
  }
  return !isObject(value) || fitsObject(value, flat, inner);
}

function isFlat(schema: Schema | Flat): schema is Flat {
  return typeof schema === "object" && "kinds" in schema && schema.kinds instanceof Set;
}

function ofKind(value: Json, kinds: ReadonlySet<Kind>): boolean {
  if (value === null) return kinds.has("null");
  if (isList(value)) return kinds.has("array");
  if (typeof value === "object") return kinds.has("object");
  if (typeof value !== "number") return kinds.has(typeof value === "string" ? "string" : "boolean");
  return kinds.has("number") || (kinds.has("integer") && Number.isInteger(value));
}

function fitsNumber(value: number, { low, high, multiples = [] }: Flat): boolean {
  const above = low === undefined || value > low.at || (!low.strict && value === low.at);
  const below = high === undefined || value < high.at || (!high.strict && value === high.at);
  return above && below && multiples.every((each) => Number.isInteger(value / each));
}

function fitsObject(
  value: { readonly [key: string]: Json },
  { minProperties, maxProperties, required = [], properties, additional = true, keys }: Flat,
  inner: { readonly flatten: Flatten; readonly depth: number },
): boolean {
  return within(Object.keys(value).length, minProperties, maxProperties) &&
    required.every((name) => Object.hasOwn(value, name)) &&
    Object.entries(value).every(([name, each]) =>
      fits(each, properties?.get(name) ?? additional, inner) &&
      (keys === undefined || fits(name, keys, inner))
    );
}

function within(count: number, min = 0, max = Infinity): boolean {
  return count >= min && count <= max;
}

/** Size limits of a schema. */
const LIMITS = { frameBytes: 262_144, depth: 32, nodes: 20_000 };

/** A grammar, and the places where it differs from its schema. */
interface SchemaGrammar {
  readonly grammar: string;
  /** Empty if the grammar is exact: its texts are valid, and valid texts within the bounds can be written. */
  readonly notes: readonly Note[];
}

/**
 * The grammar (GBNF, start symbol `root`) of the JSON texts that fit a schema: keys in the schema's order, no
 * white space, no exponents. Keywords that the gate does not check are ignored (`pattern`, `format` …).
 * Throws `invalidInput` with the place for an invalid schema, an external reference or a schema that no value
 * fits, and `tooLarge`.
 */
export function schemaGrammar(schema: Json | string, options: GrammarOptions = {}): string {
  return compileSchema(schema, options).grammar;
}

/** Like {@link schemaGrammar}, with the places where grammar and schema differ. */
export function compileSchema(schema: Json | string, options: GrammarOptions = {}): SchemaGrammar {
  const rules = makeRules();
  const notes: Note[] = [];
  const root = schemaRule(rules, schema, { options, note: (note) => notes.push(note) });
  return { grammar: rules.render(root), notes };
}

/** Adds the rule of a schema's values to `rules`. */
export function schemaRule(
  rules: Rules,
  schema: Json | string,
  { options, note = () => {}, within }: {
    readonly options: GrammarOptions;
    readonly note?: Compiler["note"];
    /** A constraint beside the schema. */
    readonly within?: Flat;
  },
): Expr {
  const root = parseSchema(schema);
  const bounds = { textLength: 512, maxLength: 65_536, spaces: false, ...options };
  const compiler = makeCompiler(root, { rules, bounds, note });
  const expr = within === undefined
    ? compiler.values(root, "", MAX_HOPS)
    : compiler.flat(merge(within, compiler.flatten(root, "")), "", MAX_HOPS);
  if (expr === undefined) throw wrong("", "no value fits it");
  return expr;
}

function parseSchema(schema: Json | string): Schema {
  const text = typeof schema === "string" ? schema : JSON.stringify(schema);
  let parsed: Json;
  try {
    parsed = parseJson(text, LIMITS);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "it is not JSON";
    throw new Fault("invalidInput", `Cannot make a grammar: the schema is not taken: ${why}`, {
      cause,
    });
  }
  return asSchema(parsed, "");
}
