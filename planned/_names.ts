/** Names of a program, and why one is not taken. @module */
import type * as acorn from "acorn";
import { Fault } from "../contracts/base/fault.ts";

/** What a name stands for. `of`: the function whose variable it is. */
export type Bound =
  | { readonly kind: "variable"; readonly id: number; readonly fixed: boolean; readonly of: number }
  | { readonly kind: "function"; readonly id: number };

/** A function that is being read. */
export interface Frame {
  readonly id: number;
  /** How many loops stand around the statement, within the function. */
  loops: number;
  /** Within the function of a `forEach`, as many loops as stand around that. */
  readonly each?: number;
}

/** Names that can be seen at a place. */
export interface Scope {
  readonly names: Map<string, Bound>;
  readonly above: Scope | undefined;
  readonly frame: Frame;
}

/** A block within. */
export function below(above: Scope): Scope {
  return { names: new Map(), above, frame: above.frame };
}

/** What a name stands for there. */
export function find(scope: Scope, name: string): Bound | undefined {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.above) {
    const found = at.names.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Names that stand for something else in an object of JavaScript: no data is called so. */
const NO_NAMES: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** Gives a name its meaning. @throws Fault `invalidInput` */
export function name(node: acorn.Identifier, { names }: Scope, bound: Bound): void {
  checkName(node, node.name);
  if (names.has(node.name)) throw no(node, `${node.name} is declared twice`);
  names.set(node.name, bound);
}

/** @throws Fault `invalidInput` for a name that would mean more than itself */
export function checkName(node: acorn.Node, given: string): void {
  if (NO_NAMES.has(given)) throw no(node, "nothing is called so");
}

type Node = { readonly loc?: acorn.SourceLocation | null | undefined };

/** Why a program is not taken, with the line. */
export function no(node: Node, why: string): Fault {
  return refused(`line ${node.loc?.start.line ?? 0}: ${why}`);
}

/** Why a program is not taken. */
export function refused(why: string): Fault {
  return new Fault("invalidInput", `Cannot take the program: ${why}`);
}
