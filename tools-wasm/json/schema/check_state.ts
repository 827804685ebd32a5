/** What a check of a value against a schema carries along and brings back. @module */
import type { Json } from "../values.ts";
import type { SchemaIndex } from "./schema_index.ts";

/** One thing that is wrong. */
export interface SchemaError {
  /** JSON Pointer into the value; empty for the whole. */
  readonly at: string;
  /** JSON Pointer into the schema. */
  readonly rule: string;
  readonly message: string;
}

/** What was wrong, and which parts of the value were looked at by some rule. */
export interface Outcome {
  readonly errors: readonly SchemaError[];
  /** Keys of the object. */
  readonly keys: ReadonlySet<string>;
  /** Indexes of the array. */
  readonly items: ReadonlySet<number>;
}

/** Where a check stands. */
export interface Place {
  readonly at: string;
  readonly rule: string;
  readonly depth: number;
}

/** What all checks of one call share. */
export interface CheckState {
  readonly index: SchemaIndex;
  spend(steps: number): void;
}

/** Checks a value against a schema. */
export type Check = (schema: Json, value: Json, place: Place) => Outcome;

/** Nothing wrong, nothing looked at. */
export const NOTHING: Outcome = Object.freeze({
  errors: [],
  keys: new Set<string>(),
  items: new Set<number>(),
});

/** A place one key further down the value. */
export function below(place: Place, key: string | number, rule: string): Place {
  return {
    at: `${place.at}/${escape(String(key))}`,
    rule: `${place.rule}/${rule}`,
    depth: place.depth,
  };
}

/** The same place, another rule. */
export function ruled(place: Place, rule: string): Place {
  return { ...place, rule: `${place.rule}/${rule}` };
}

/** One segment of a JSON Pointer. */
export function escape(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** All that several checks brought. */
export function together(outcomes: readonly Outcome[]): Outcome {
  return {
    errors: outcomes.flatMap(({ errors }) => errors),
    keys: new Set(outcomes.flatMap(({ keys }) => [...keys])),
    items: new Set(outcomes.flatMap(({ items }) => [...items])),
  };
}

/** One error. */
export function wrong(place: Place, message: string): Outcome {
  return { ...NOTHING, errors: [{ at: place.at, rule: place.rule, message }] };
}
