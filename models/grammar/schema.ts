/** Types of the grammar compiler: JSON Schemas without references or conjunctions, and bounds. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { isObject, type Json, type JsonObject } from "../../contracts/base/json.ts";

/** A schema as written. `true` fits everything, `false` nothing. */
export type Schema = JsonObject | boolean;

/** Kinds of JSON values; `integer` is a subset of `number`. */
export type Kind = "null" | "boolean" | "integer" | "number" | "string" | "array" | "object";

/** A schema with every `$ref` and `allOf` merged into it. An absent member does not constrain. */
export interface Flat {
  readonly kinds: ReadonlySet<Kind>;
  /** `enum` and `const`: nothing else fits. */
  readonly values?: readonly Json[] | undefined;
  readonly not?: readonly Schema[] | undefined;
  readonly low?: Limit | undefined;
  readonly high?: Limit | undefined;
  readonly multiples?: readonly number[] | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly prefix?: readonly Schema[] | undefined;
  readonly items?: Schema | undefined;
  readonly minProperties?: number | undefined;
  readonly maxProperties?: number | undefined;
  readonly properties?: ReadonlyMap<string, Schema> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additional?: Schema | undefined;
  readonly keys?: Schema | undefined;
  /** Of each choice at least one alternative must fit, or exactly one. */
  readonly choices?: readonly Choice[] | undefined;
  /** Keywords that the grammar does not enforce. */
  readonly ignored?: readonly string[] | undefined;
  /** The schema was reached by a reference that leads back to itself. */
  readonly recursive?: boolean | undefined;
}

/** A bound of numbers; strict bounds exclude themselves. */
export interface Limit {
  readonly at: number;
  readonly strict: boolean;
}

export interface Choice {
  readonly of: readonly Schema[];
  readonly exactlyOne: boolean;
}

/** Every kind but `integer`, which `number` includes. */
export const ALL_KINDS: ReadonlySet<Kind> = new Set<Kind>([
  "null",
  "boolean",
  "number",
  "string",
  "array",
  "object",
]);

/** The fault for an invalid schema at a place (a JSON pointer). */
export function wrong(at: string, why: string): Fault {
  return new Fault("invalidInput", `Cannot make a grammar: ${at === "" ? "/" : at}: ${why}`, {
    detail: { path: at },
  });
}

/** Parses a schema. Throws `invalidInput` with the place. */
export function asSchema(value: Json | undefined, at: string): Schema {
  if (typeof value === "boolean" || isObject(value)) return value;
  throw wrong(at, "it is not a schema");
}

/** Bounds of what a grammar admits where a schema sets none. */
export interface GrammarOptions {
  /** Characters of a string whose schema has no `maxLength`. 512. */
  readonly textLength?: number;
  /** Maximum characters of any string, whatever its schema says. 65,536. */
  readonly maxLength?: number;
  /** Whether one space may follow `:` and `,`. False: no white space at all. */
  readonly spaces?: boolean;
}
