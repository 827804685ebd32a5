/** Runs a filter: each node takes one input and lazily yields any number of outputs. @module */
import { isList, isObject, type Json } from "../values.ts";
import { assign } from "./assign.ts";
import { callFunction } from "./call.ts";
import { formatText } from "./formats.ts";
import { operate } from "./operators.ts";
import { bind } from "./bind.ts";
import { FilterError, lookUp, type Scope, type Spot } from "./run_state.ts";
import { atKey } from "./steps.ts";
import type { Ast } from "./syntax.ts";

type Node<K extends Ast["kind"]> = Extract<Ast, { readonly kind: K }>;

/**
 * The outputs of `ast` for one input.
 *
 * @throws {FilterError} where the filter fails, {@link Fault} where the budget ends
 */
export function* run(ast: Ast, spot: Spot, scope: Scope): Iterable<Spot> {
  scope.budget.spend(1);
  switch (ast.kind) {
    case "identity":
      yield spot;
      return;
    case "recurse":
      yield* everything(spot, scope);
      return;
    case "literal":
      yield { value: ast.value };
      return;
    case "text":
      for (const value of texts(ast, { spot, scope, at: 0 })) yield { value };
      return;
    case "format":
      yield { value: formatText(ast.name, spot.value) };
      return;
    case "index":
      for (const key of values(ast.key, spot, scope)) {
        for (const base of run(ast.of, spot, scope)) yield atKey(base, key);
      }
      return;
    case "slice":
      yield* slices(ast, spot, scope);
      return;
    case "each":
      for (const base of run(ast.of, spot, scope)) yield* each(base, scope);
      return;
    case "pipe":
      for (const middle of run(ast.left, spot, scope)) yield* run(ast.right, middle, scope);
      return;
    case "comma":
      yield* run(ast.left, spot, scope);
      yield* run(ast.right, spot, scope);
      return;
    case "alternative":
      yield* alternatives(ast, spot, scope);
      return;
    case "and":
    case "or":
      yield* logic(ast, spot, scope);
      return;
    case "binary":
      for (const right of values(ast.right, spot, scope)) {
        for (const left of values(ast.left, spot, scope)) {
          yield { value: operate(ast.op, left, right) };
        }
      }
      return;
    case "assign":
      yield* assign(ast, spot, scope);
      return;
    case "negate":
      for (const value of values(ast.of, spot, scope)) {
        if (typeof value !== "number") throw new FilterError("only numbers can be negated");
        yield { value: -value };
      }
      return;
    case "array":
      yield { value: ast.of === undefined ? [] : [...values(ast.of, spot, scope)] };
      return;
    case "object":
      for (const entries of objects(ast, { spot, scope, at: 0 })) {
        yield { value: Object.fromEntries(entries) };
      }
      return;
    case "if":
      for (const test of values(ast.test, spot, scope)) {
        const branch = truthy(test) ? ast.then : ast.otherwise;
        if (branch === undefined) yield spot;
        else yield* run(branch, spot, scope);
      }
      return;
    case "try":
      yield* attempts(ast, spot, scope);
      return;
    case "reduce":
      yield* reduced(ast, spot, scope);
      return;
    case "foreach":
      yield* folded(ast, spot, scope);
      return;
    case "as":
      for (const value of values(ast.fold.source, spot, scope)) {
        for (const inner of bind(ast.fold.pattern, value, { spot, scope })) {
          yield* run(ast.body, spot, inner);
        }
      }
      return;
    case "def": {
      const { definition } = ast;
      const name = `${definition.name}/${definition.params.length}`;
      const inner: Scope = {
        ...scope,
        functions: {
          name,
          // The function's scope includes itself, for recursion.
          value: { kind: "function", definition, scope: () => inner },
          next: scope.functions,
        },
      };
      yield* run(ast.rest, spot, inner);
      return;
    }
    case "variable": {
      const value = lookUp(scope.variables, ast.name);
      if (value === undefined) throw new FilterError(`$${ast.name} is not defined`);
      yield { value };
      return;
    }
    case "call":
      yield* callFunction(ast, spot, scope);
      return;
  }
}

/** The outputs of `ast` as values, without paths. */
export function* values(ast: Ast, spot: Spot, scope: Scope): Iterable<Json> {
  for (const { value } of run(ast, { value: spot.value }, scope)) yield value;
}

/** Everything but null and false. */
export function truthy(value: Json): boolean {
  return value !== null && value !== false;
}

/** The elements of an array or the values of an object. */
export function* each(spot: Spot, { budget }: Pick<Scope, "budget">): Iterable<Spot> {
  const { value, path } = spot;
  const keys = isList(value) ? value.keys() : isObject(value) ? Object.keys(value) : undefined;
  if (keys === undefined) throw new FilterError(`Cannot iterate over ${shownKind(value)}`);
  for (const key of keys) {
    budget.spend(1);
    const item = isList(value) ? value[Number(key)] : isObject(value) ? value[key] : null;
    yield path === undefined
      ? { value: item ?? null }
      : { value: item ?? null, path: [...path, key] };
  }
}

function shownKind(value: Json): string {
  return value === null ? "null" : `${typeof value} (${JSON.stringify(value).slice(0, 40)})`;
}

/** The input and all values below it, without recursion. */
function* everything(spot: Spot, scope: Scope): Iterable<Spot> {
  const open = [spot];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    yield at;
    if (!isList(at.value) && !isObject(at.value)) continue;
    const below = [...each(at, scope)];
    for (let last = below.pop(); last !== undefined; last = below.pop()) open.push(last);
  }
}

interface Walk {
  readonly spot: Spot;
  readonly scope: Scope;
  readonly at: number;
}

function* texts(ast: Node<"text">, { spot, scope, at }: Walk): Iterable<string> {
  const part = ast.parts[at];
  if (part === undefined) {
    yield "";
    return;
  }
  for (const tail of texts(ast, { spot, scope, at: at + 1 })) {
    if (typeof part === "string") yield part + tail;
    else {for (const value of values(part, spot, scope)) {
        yield formatText(ast.format ?? "@text", value) + tail;
      }}
  }
}

function* objects(
  ast: Node<"object">,
  { spot, scope, at }: Walk,
): Iterable<readonly (readonly [string, Json])[]> {
  const entry = ast.entries[at];
  if (entry === undefined) {
    yield [];
    return;
  }
  for (const key of values(entry[0], spot, scope)) {
    if (typeof key !== "string") throw new FilterError(`Object keys must be strings`);
    for (const value of values(entry[1], spot, scope)) {
      for (const tail of objects(ast, { spot, scope, at: at + 1 })) yield [[key, value], ...tail];
    }
  }
}

function* slices(ast: Node<"slice">, spot: Spot, scope: Scope): Iterable<Spot> {
  for (const end of ast.to === undefined ? [null] : values(ast.to, spot, scope)) {
    for (const start of ast.from === undefined ? [null] : values(ast.from, spot, scope)) {
      if (typeof start === "string" || typeof end === "string") {
        throw new FilterError("Start and end indices of an array slice must be numbers");
      }
      for (const base of run(ast.of, spot, scope)) yield atKey(base, { start, end });
    }
  }
}

function* alternatives(ast: Node<"alternative">, spot: Spot, scope: Scope): Iterable<Spot> {
  let any = false;
  try {
    for (const found of run(ast.left, spot, scope)) {
      if (!truthy(found.value)) continue;
      any = true;
      yield found;
    }
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
  }
  if (!any) yield* run(ast.right, spot, scope);
}

function* logic(ast: Node<"and"> | Node<"or">, spot: Spot, scope: Scope): Iterable<Spot> {
  for (const left of values(ast.left, spot, scope)) {
    if (truthy(left) === (ast.kind === "or")) yield { value: ast.kind === "or" };
    else for (const right of values(ast.right, spot, scope)) yield { value: truthy(right) };
  }
}

function* attempts(ast: Node<"try">, spot: Spot, scope: Scope): Iterable<Spot> {
  try {
    yield* run(ast.body, spot, scope);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    if (ast.handler !== undefined) yield* run(ast.handler, { value: error.value }, scope);
  }
}

function* reduced(ast: Node<"reduce">, spot: Spot, scope: Scope): Iterable<Spot> {
  for (const start of run(ast.init, spot, scope)) {
    let state: Spot = start;
    for (const value of values(ast.fold.source, spot, scope)) {
      for (const inner of bind(ast.fold.pattern, value, { spot, scope })) {
        let last: Spot = { value: null };
        for (const next of run(ast.update, state, inner)) last = next;
        state = last;
      }
    }
    yield state;
  }
}

function* folded(ast: Node<"foreach">, spot: Spot, scope: Scope): Iterable<Spot> {
  for (const start of run(ast.init, spot, scope)) {
    let state: Spot = start;
    for (const value of values(ast.fold.source, spot, scope)) {
      for (const inner of bind(ast.fold.pattern, value, { spot, scope })) {
        for (const next of run(ast.update, state, inner)) {
          state = next;
          if (ast.extract === undefined) yield next;
          else yield* run(ast.extract, next, inner);
        }
      }
    }
  }
}
