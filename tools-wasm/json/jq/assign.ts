/** Assignments, and the functions over paths. @module */
import type { Json } from "../values.ts";
import { run, truthy, values } from "./evaluate.ts";
import { operate } from "./operators.ts";
import { FilterError, type Scope, shown, type Spot, type Step } from "./run_state.ts";
import { makeEditor } from "./steps.ts";
import type { Assignment, Ast } from "./syntax.ts";

/** The paths of the outputs of `ast`. @throws {FilterError} for an output outside the input */
export function* pathsOf(ast: Ast, value: Json, scope: Scope): Iterable<readonly Step[]> {
  for (const found of run(ast, { value, path: [] }, scope)) {
    if (found.path === undefined) {
      throw new FilterError(`Invalid path expression with result ${shown(found.value)}`);
    }
    yield found.path;
  }
}

type Assign = Extract<Ast, { readonly kind: "assign" }>;

/** `left = right`, `left |= right` and the other assignments. */
export function* assign(ast: Assign, spot: Spot, scope: Scope): Iterable<Spot> {
  if (ast.op === "|=") {
    yield { value: modify(ast, spot.value, scope) };
    return;
  }
  for (const right of values(ast.right, spot, scope)) {
    const editor = makeEditor(spot.value);
    for (const path of pathsOf(ast.left, spot.value, scope)) {
      editor.set(path, changed(ast.op, editor.get(path), right));
    }
    yield { value: editor.finish() };
  }
}

function changed(op: Assignment, old: Json, right: Json): Json {
  switch (op) {
    case "=":
    case "|=":
      return right;
    case "//=":
      return truthy(old) ? old : right;
    case "+=":
      return operate("+", old, right);
    case "-=":
      return operate("-", old, right);
    case "*=":
      return operate("*", old, right);
    case "/=":
      return operate("/", old, right);
    case "%=":
      return operate("%", old, right);
  }
}

/** The filter's first output replaces the old value; without output, the old value goes. */
function modify(ast: Assign, value: Json, scope: Scope): Json {
  const editor = makeEditor(value);
  const gone: (readonly Step[])[] = [];
  for (const path of pathsOf(ast.left, value, scope)) {
    let given = false;
    for (const next of values(ast.right, { value: editor.get(path) }, scope)) {
      editor.set(path, next);
      given = true;
      break;
    }
    if (!given) gone.push(path);
  }
  editor.remove(gone);
  return editor.finish();
}
