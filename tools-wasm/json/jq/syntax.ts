/** The syntax tree of a filter. @module */
import type { Json } from "../values.ts";

/** Operators on two values. */
export type Operator = "+" | "-" | "*" | "/" | "%" | "==" | "!=" | "<" | "<=" | ">" | ">=";

/** Assignments: plain, by a filter, or by an operator. */
export type Assignment = "=" | "|=" | "+=" | "-=" | "*=" | "/=" | "%=" | "//=";

/** A pattern behind `as`: a name, or parts of an array or object. */
export type Pattern =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "list"; readonly items: readonly Pattern[] }
  | { readonly kind: "object"; readonly entries: readonly PatternEntry[] };

/** One entry of an object pattern. */
export interface PatternEntry {
  readonly key: Ast;
  /** Present for `$name` and `$name: pattern`. */
  readonly name?: string;
  readonly pattern?: Pattern;
}

/** A function defined in a filter. Parameters that begin with `$` are values. */
export interface Definition {
  readonly name: string;
  readonly params: readonly string[];
  readonly body: Ast;
}

/** One node. */
export type Ast =
  | { readonly kind: "identity" | "recurse" }
  | { readonly kind: "literal"; readonly value: Json }
  | { readonly kind: "text"; readonly parts: readonly (string | Ast)[]; readonly format?: string }
  | { readonly kind: "format"; readonly name: string }
  | { readonly kind: "index"; readonly of: Ast; readonly key: Ast }
  | { readonly kind: "slice"; readonly of: Ast; readonly from?: Ast; readonly to?: Ast }
  | { readonly kind: "each"; readonly of: Ast }
  | { readonly kind: "pipe" | "comma"; readonly left: Ast; readonly right: Ast }
  | { readonly kind: "alternative"; readonly left: Ast; readonly right: Ast }
  | { readonly kind: "and"; readonly left: Ast; readonly right: Ast }
  | { readonly kind: "or"; readonly left: Ast; readonly right: Ast }
  | { readonly kind: "binary"; readonly op: Operator; readonly left: Ast; readonly right: Ast }
  | { readonly kind: "assign"; readonly op: Assignment; readonly left: Ast; readonly right: Ast }
  | { readonly kind: "negate"; readonly of: Ast }
  | { readonly kind: "array"; readonly of?: Ast }
  | { readonly kind: "object"; readonly entries: readonly (readonly [Ast, Ast])[] }
  | { readonly kind: "if"; readonly test: Ast; readonly then: Ast; readonly otherwise?: Ast }
  | { readonly kind: "try"; readonly body: Ast; readonly handler?: Ast }
  | { readonly kind: "reduce"; readonly fold: Fold; readonly init: Ast; readonly update: Ast }
  | {
    readonly kind: "foreach";
    readonly fold: Fold;
    readonly init: Ast;
    readonly update: Ast;
    readonly extract?: Ast;
  }
  | { readonly kind: "as"; readonly fold: Fold; readonly body: Ast }
  | { readonly kind: "def"; readonly definition: Definition; readonly rest: Ast }
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "call"; readonly name: string; readonly args: readonly Ast[] };

/** `SOURCE as PATTERN`. */
export interface Fold {
  readonly source: Ast;
  readonly pattern: Pattern;
}

/** The node `.`. */
export const IDENTITY: Ast = Object.freeze({ kind: "identity" });
