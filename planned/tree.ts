/** Queries on a program's tree that the analysis and the interpreter share. @module */
import type { Statement } from "../contracts/exchange/planned.ts";

/** Returns the blocks within a statement. */
export function inside(statement: Statement): readonly (readonly Statement[])[] {
  switch (statement.s) {
    case "if":
      return [statement.yes, statement.no];
    case "for":
      return [statement.body];
    case "while":
      return [statement.body, statement.after];
    default:
      return [];
  }
}

/** Whether one of these may leave its function, or an iteration of a loop around. */
export function leaves(statements: readonly Statement[]): boolean {
  return statements.some((each) =>
    each.s === "return" || each.s === "break" || each.s === "continue" || each.s === "fail" ||
    inside(each).some(leaves)
  );
}

/** Returns the variables that these statements change. */
export function changedBy(statements: readonly Statement[]): readonly number[] {
  return statements.flatMap((each) => [
    ...(each.s === "set" ? [each.id] : []),
    ...inside(each).flatMap(changedBy),
  ]);
}
