/** What a run of a filter carries along: its input with the way there, its scope, and what it may still spend. @module */
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

/** A value, and the path to it from where `path(…)` began; without one it is no part of that input. */
export interface Spot {
  readonly value: Json;
  readonly path?: readonly Step[];
}

/** What a name stands for: a function with the scope it was defined in, or a filter given as an argument. */
export type Closure =
  | { readonly kind: "function"; readonly definition: Definition; readonly scope: () => Scope }
  | { readonly kind: "filter"; readonly body: Ast; readonly scope: Scope };

/** Names in force at a place. */
export interface Scope {
  readonly variables: Names<Json>;
  /** By `name/arity`. */
  readonly functions: Names<Closure>;
  /** How many calls of functions lie around it. */
  readonly depth: number;
  readonly budget: Budget;
}

/** A chain of names, newest first. */
export type Names<T> =
  | { readonly name: string; readonly value: T; readonly next: Names<T> }
  | undefined;

/** What a name was last given; undefined when it was not. */
export function lookUp<T>(names: Names<T>, wanted: string): T | undefined {
  for (let at = names; at !== undefined; at = at.next) if (at.name === wanted) return at.value;
  return undefined;
}

/** What a run may spend. */
export interface Budget {
  /** @throws {Fault} `tooLarge` once all steps are spent. */
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

/** An error of the filter language: `try` catches it, and nothing else. */
export class FilterError extends Error {
  /** What `catch` sees. */
  readonly value: Json;

  constructor(value: Json) {
    super(typeof value === "string" ? value : toText(value).slice(0, 300));
    this.name = "FilterError";
    this.value = value;
  }
}

/** A value in an error's words: its kind and its beginning. */
export function shown(value: Json): string {
  const text = toText(value);
  return `${kindOf(value)} (${text.length > 40 ? `${text.slice(0, 37)}...` : text})`;
}

/** Passes a text on. @throws {Fault} `tooLarge` when it is longer than any text may be. */
export function boundedText(text: string): string {
  if (text.length <= LONGEST) return text;
  throw new Fault("tooLarge", `Cannot make a text of more than ${LONGEST} characters`);
}
