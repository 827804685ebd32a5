/** JSON Schemas as this compiler sees them: flat, without references or conjunctions. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { isObject, type Json, type JsonObject } from "../../contracts/base/json.ts";

/** A schema as it is written: an object, or a boolean for all and nothing. */
export type Schema = JsonObject | boolean;

/** The kinds of JSON values; `integer` is a part of `number`. */
export type Kind = "null" | "boolean" | "integer" | "number" | "string" | "array" | "object";

/** One schema with every `$ref` and `allOf` merged into it. Absent: not limited. */
export interface Flat {
  readonly kinds: ReadonlySet<Kind>;
  /** Where there is a list: nothing else fits. */
  readonly values?: readonly Json[] | undefined;
  readonly not?: readonly Schema[] | undefined;
  readonly low?: Limit | undefined;
  readonly high?: Limit | undefined;
  readonly multiples?: readonly number[] | undefined;
  readonly leastLength?: number | undefined;
  readonly mostLength?: number | undefined;
  readonly leastItems?: number | undefined;
  readonly mostItems?: number | undefined;
  readonly prefix?: readonly Schema[] | undefined;
  readonly items?: Schema | undefined;
  readonly leastProperties?: number | undefined;
  readonly mostProperties?: number | undefined;
  readonly properties?: ReadonlyMap<string, Schema> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additional?: Schema | undefined;
  readonly keys?: Schema | undefined;
  /** Each a list of which one must fit (or exactly one). */
  readonly choices?: readonly Choice[] | undefined;
  /** Keywords that no grammar holds to. */
  readonly unheld?: readonly string[] | undefined;
  /** A reference that leads back to itself was followed. */
  readonly recursive?: boolean | undefined;
}

/** A bound of numbers; strict where it is itself outside. */
export interface Limit {
  readonly at: number;
  readonly strict: boolean;
}

/** Alternatives. */
export interface Choice {
  readonly of: readonly Schema[];
  readonly exactlyOne: boolean;
}

/** Every kind but `integer`, which `number` holds. */
export const ALL_KINDS: ReadonlySet<Kind> = new Set<Kind>([
  "null",
  "boolean",
  "number",
  "string",
  "array",
  "object",
]);

/** What is wrong with a schema, with its place (a JSON pointer). */
export function wrong(at: string, why: string): Fault {
  return new Fault("invalidInput", `Cannot make a grammar: ${at === "" ? "/" : at}: ${why}`, {
    detail: { path: at },
  });
}

/** A schema, or a fault that names its place. */
export function asSchema(value: Json | undefined, at: string): Schema {
  if (typeof value === "boolean" || isObject(value)) return value;
  throw wrong(at, "it is not a schema");
}

// How much a grammar lets a model write, where a schema does not say.

/** Bounds of what the grammar allows. All have defaults. */
export interface GrammarOptions {
  /** Characters of a string whose schema has no `maxLength`. 512. */
  readonly textLength?: number | undefined;
  /** Most characters of any string, whatever its schema says. 65,536. */
  readonly mostLength?: number | undefined;
  /** Items of an array whose schema has no `maxItems`, and most of any: 16 and 1,024. */
  readonly items?: number | undefined;
  /** Entries under keys that a schema does not name. 8. */
  readonly entries?: number | undefined;
  /** How often a schema that refers to itself is followed. 4. */
  readonly recursion?: number | undefined;
  /** Levels of a value of which nothing is said. 2. */
  readonly freeDepth?: number | undefined;
  /** One space is allowed after `:` and `,`. False: no white space at all. */
  readonly spaces?: boolean | undefined;
}

/** {@link GrammarOptions} with their defaults. */
export interface Bounds {
  readonly textLength: number;
  readonly mostLength: number;
  readonly items: number;
  readonly mostItems: number;
  readonly entries: number;
  readonly recursion: number;
  readonly freeDepth: number;
  readonly spaces: boolean;
}

/** Fills in what is left out. */
export function boundsOf(options: GrammarOptions): Bounds {
  return Object.freeze({
    textLength: options.textLength ?? 512,
    mostLength: options.mostLength ?? 65_536,
    items: options.items ?? 16,
    mostItems: 1_024,
    entries: options.entries ?? 8,
    recursion: options.recursion ?? 4,
    freeDepth: options.freeDepth ?? 2,
    spaces: options.spaces ?? false,
  });
}
