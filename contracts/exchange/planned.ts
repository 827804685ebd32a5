/**
 * Planned programs: the syntax tree of a program that a planner's model wrote, as the kernel parses
 * it and a worker interprets it. Separate from all schemas so that a worker loads none.
 * docs/planned_programs.md.
 * @module
 */

/** `program` of a task whose model writes one program, which then makes the calls. */
export const PLANNED_PROGRAM = "remit:planned";

/** The tool that takes a program, and the tool by which a program asks a model without tools. */
export const PLAN_RUN = "plan_run", PLAN_ASK = "plan_ask";

/** Maximum UTF-16 units of a program, and maximum call sites in it. */
export const PROGRAM_CHARS = 65_536, MAX_SITES = 100;

/**
 * Id of a call that a program makes: the plan, the call site, and the count of calls from that
 * site, from 1.
 */
export function siteCallId(plan: number, site: number, nth: number): string {
  return `plan-${plan}-${site}-${nth}`;
}

const SITE_CALL = /^plan-\d{1,4}-(\d{1,3})-(\d{1,4})$/;

/** Parses an id of {@link siteCallId}; undefined for any other id. */
export function siteOfCall(
  id: string,
): { readonly site: number; readonly nth: number } | undefined {
  const found = SITE_CALL.exec(id);
  return found === null ? undefined : { site: Number(found[1]), nth: Number(found[2]) };
}

/** Binary operators; both operands are always computed. */
export const BINARY = ["+", "-", "*", "/", "%", "===", "!==", "<", "<=", ">", ">="] as const;
/** One of {@link BINARY}. */
export type Binary = typeof BINARY[number];

/** A variable, numbered over the whole program. */
export type Variable = number;

/** A function of the program: called, or passed to a list's method; never a value. */
export interface PlanFunction {
  readonly id: number;
  /** Id of the enclosing function. */
  readonly within: number;
  readonly params: readonly Variable[];
  readonly body: readonly Statement[];
}

/** An expression. */
export type Expression =
  /** No `value`: `undefined`. */
  | { readonly k: "literal"; readonly value?: null | boolean | number | string }
  | { readonly k: "variable"; readonly id: Variable }
  /** `texts` has one entry more than `of`; they alternate. */
  | {
    readonly k: "template";
    readonly texts: readonly string[];
    readonly of: readonly Expression[];
  }
  | { readonly k: "list"; readonly items: readonly Item[] }
  | { readonly k: "record"; readonly fields: readonly Field[] }
  | {
    readonly k: "get";
    readonly of: Expression;
    readonly key: Expression;
    readonly optional?: true;
  }
  /** The rest of a list from an index, or of a record without some fields. */
  | { readonly k: "rest"; readonly of: Expression; readonly from: number | readonly string[] }
  | { readonly k: "not" | "minus" | "typeof"; readonly of: Expression }
  | { readonly k: "binary"; readonly op: Binary; readonly a: Expression; readonly b: Expression }
  | { readonly k: "and" | "or" | "else"; readonly a: Expression; readonly b: Expression }
  | {
    readonly k: "choose";
    readonly test: Expression;
    readonly yes: Expression;
    readonly no: Expression;
  }
  /** A function of the program. */
  | { readonly k: "call"; readonly id: number; readonly args: readonly Expression[] }
  /** A method of a text or list, or a built-in function (no `on`). */
  | {
    readonly k: "method";
    readonly name: string;
    readonly on?: Expression;
    readonly args: readonly (Expression | PlanFunctionRef)[];
    readonly optional?: true;
  }
  /** A call of a tool: `args` is always a record with known names. */
  | {
    readonly k: "tool";
    readonly site: number;
    readonly tool: string;
    readonly args: Extract<Expression, { k: "record" }>;
  };

/** A function handed to a method. */
export interface PlanFunctionRef {
  readonly k: "function";
  readonly id: number;
}

/** An item of a list. */
export interface Item {
  readonly spread?: true;
  readonly value: Expression;
}

/** A field of a record; no `key`: a spread record. */
export interface Field {
  readonly key?: Expression;
  readonly value: Expression;
}

/** A statement. */
export type Statement =
  | {
    readonly s: "let";
    readonly id: Variable;
    readonly value: Expression;
    readonly fixed: boolean;
  }
  /** `path`: keys to the changed place. Values are not shared, so no other variable changes. */
  | {
    readonly s: "set";
    readonly id: Variable;
    readonly path: readonly Expression[];
    readonly push?: true;
    readonly value: Expression;
  }
  | {
    readonly s: "if";
    readonly test: Expression;
    readonly yes: readonly Statement[];
    readonly no: readonly Statement[];
  }
  | {
    readonly s: "for";
    readonly id: Variable;
    readonly of: Expression;
    readonly body: readonly Statement[];
  }
  | {
    readonly s: "while";
    readonly test: Expression;
    readonly body: readonly Statement[];
    /** The update of a `for (;;)`, run after each round and after `continue`. */
    readonly after: readonly Statement[];
  }
  | { readonly s: "do"; readonly value: Expression }
  | { readonly s: "say"; readonly value: Expression }
  | { readonly s: "fail"; readonly value: Expression }
  | { readonly s: "return"; readonly value?: Expression }
  | { readonly s: "break" | "continue" };

/** A program; its first function is the entry. */
export interface PlanProgram {
  readonly functions: readonly PlanFunction[];
}
