/**
 * The state of a filter run: its input with its path, its scope, and its remaining budget. @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { type Json, kindOf, LONGEST, toText } from "../values.ts";
import type { Ast, Definition } from "./syntax.ts";

/** One step of a path: a key, an index, or a slice. */
export type Step = string | number | Slice;

/** A part of an array; null is an open end. */
export interface Slice {
  readonly start: number | null;
  readonly end: number | null;
}

/** A value, and its path from where `path(…)` began; without one it is outside that input. */
export interface Spot {
  readonly value: Json;
  readonly path?: readonly Step[];
}

/** The meaning of a name: a function with its defining scope, or a filter given as an argument. */
export type Closure =
  | { readonly kind: "function"; readonly definition: Definition; readonly scope: () => Scope }
  | { readonly kind: "filter"; readonly body: Ast; readonly scope: Scope };

/** Names in scope. */
export interface Scope {
  readonly variables: Names<Json>;
  /** By `name/arity`. */
  readonly functions: Names<Closure>;
  /** Depth of enclosing function calls. */
  readonly depth: number;
  readonly budget: Budget;
}

/** A chain of names, newest first. */
export type Names<T> =
  | { readonly name: string; readonly value: T; readonly next: Names<T> }
  | undefined;

/** The latest value of a name; undefined for none. */
export function lookUp<T>(names: Names<T>, wanted: string): T | undefined {
  for (let at = names; at !== undefined; at = at.next) if (at.name === wanted) return at.value;
  return undefined;
}

/** The remaining steps of a run. */
export interface Budget {
  /** @throws {Fault} `tooLarge` once all steps are spent */
  spend(steps: number): void;
}

/** Makes a budget of `steps`. */
export function makeBudget(steps: number): Budget {
  let left = steps;
  return Object.freeze({
    spend: (spent: number) => {
      left -= spent;
      if (left < 0) {
        throw new Fault(
          "tooLarge",
          `Cannot finish the filter: it took more than ${steps} steps. Narrow the input or use limit(n; f)`,
        );
      }
    },
  });
}

/** An error of the filter language, which only `try` catches. */
export class FilterError extends Error {
  /** The value that `catch` receives. */
  readonly value: Json;

  constructor(value: Json) {
    super(typeof value === "string" ? value : toText(value).slice(0, 300));
    this.name = "FilterError";
    this.value = value;
  }
}

/** A value in an error message: its kind and its beginning. */
export function shown(value: Json): string {
  const text = toText(value);
  return `${kindOf(value)} (${text.length > 40 ? `${text.slice(0, 37)}...` : text})`;
}

/** Returns a text. @throws {Fault} `tooLarge` when it exceeds the maximum length */
export function boundedText(text: string): string {
  if (text.length <= LONGEST) return text;
  throw new Fault("tooLarge", `Cannot make a text of more than ${LONGEST} characters`);
}
