/** Names in a program, and the errors for programs that are refused. Used by _expressions.ts and parse.ts. @module */
import type * as acorn from "acorn";
import { Fault } from "../contracts/base/fault.ts";

/** The meaning of a name. `of`: id of the function that declares the variable. */
export type Bound =
  | { readonly kind: "variable"; readonly id: number; readonly fixed: boolean; readonly of: number }
  | { readonly kind: "function"; readonly id: number };

/** A function that is being parsed. */
export interface Frame {
  readonly id: number;
  /** Number of loops around the current statement, within the function. */
  loops: number;
  /** Inside a `forEach` callback: the number of loops around the callback's body. */
  readonly each?: number;
}

/** The names visible at a place. */
export interface Scope {
  readonly names: Map<string, Bound>;
  readonly above: Scope | undefined;
  readonly frame: Frame;
}

/** Makes the scope of an inner block. */
export function below(above: Scope): Scope {
  return { names: new Map(), above, frame: above.frame };
}

/** Looks a name up, from the inside out. */
export function find(scope: Scope, name: string): Bound | undefined {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.above) {
    const found = at.names.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Names with a special meaning on JavaScript objects: no variable and no field may have them. */
const RESERVED: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** Declares a name in its scope. @throws Fault `invalidInput` for a reserved or repeated name */
export function name(node: acorn.Identifier, { names }: Scope, bound: Bound): void {
  checkName(node, node.name);
  if (names.has(node.name)) throw refusedAt(node, `${node.name} is declared twice`);
  names.set(node.name, bound);
}

/** Refuses reserved names. @throws Fault `invalidInput` */
export function checkName(node: acorn.Node, given: string): void {
  if (RESERVED.has(given)) throw refusedAt(node, "nothing is called so");
}

type Node = { readonly loc?: acorn.SourceLocation | null | undefined };

/** Makes the fault for a program that is refused, naming the line of `node`. */
export function refusedAt(node: Node, why: string): Fault {
  return refused(`line ${node.loc?.start.line ?? 0}: ${why}`);
}

/** Makes the fault for a program that is refused. */
export function refused(why: string): Fault {
  return new Fault("invalidInput", `Cannot take the program: ${why}`);
}
