/** What is asked of a program's tree by who analyses it and who runs it. @module */
import type { Statement } from "../contracts/exchange/planned.ts";

/** The blocks within a statement. */
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

/** Whether some of these statements end their function, or a round of a loop around them. */
export function leaves(statements: readonly Statement[]): boolean {
  return statements.some((each) =>
    each.s === "return" || each.s === "break" || each.s === "continue" || each.s === "fail" ||
    inside(each).some(leaves)
  );
}

/** Variables that these statements change. */
export function changedBy(statements: readonly Statement[]): readonly number[] {
  return statements.flatMap((each) => [
    ...(each.s === "set" ? [each.id] : []),
    ...inside(each).flatMap(changedBy),
  ]);
}
