/** The state and the outcomes of checking a value against a schema. @module */
import type { Json } from "../values.ts";
import type { SchemaIndex } from "./schema_index.ts";

/** One error. */
export interface SchemaError {
  /** JSON Pointer into the value; empty for the whole. */
  readonly at: string;
  /** JSON Pointer into the schema. */
  readonly rule: string;
  readonly message: string;
}

/** Errors, and the parts of the value that some rule evaluated. */
export interface Outcome {
  readonly errors: readonly SchemaError[];
  /** Keys of the object. */
  readonly keys: ReadonlySet<string>;
  /** Indexes of the array. */
  readonly items: ReadonlySet<number>;
}

/** The current place of a check. */
export interface Place {
  readonly at: string;
  readonly rule: string;
  readonly depth: number;
}

/** State shared by all checks of one call. */
export interface CheckState {
  readonly index: SchemaIndex;
  spend(steps: number): void;
}

/** Checks a value against a schema. */
export type Check = (schema: Json, value: Json, place: Place) => Outcome;

/** No errors, nothing evaluated. */
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

/** The same place under another rule. */
export function ruled(place: Place, rule: string): Place {
  return { ...place, rule: `${place.rule}/${rule}` };
}

/** One segment of a JSON Pointer. */
export function escape(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The combined outcomes of several checks. */
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
