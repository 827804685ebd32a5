/** Calls: of definitions and arguments in force, then of built-in functions. @module */
import { Refusal } from "../refusal.ts";
import type { Json } from "../values.ts";
import { withVariable } from "./bind.ts";
import { DEFINED } from "./defined.ts";
import { run, values } from "./evaluate.ts";
import { FLOWS } from "./flows.ts";
import { FUNCTIONS } from "./functions.ts";
import { type Closure, FilterError, lookUp, type Scope, type Spot } from "./run_state.ts";
import type { Ast, Definition } from "./syntax.ts";

/** Most calls within calls: what the engine's stack holds. */
const DEEPEST_CALL = 60;

type Call = Extract<Ast, { readonly kind: "call" }>;

/** The outputs of a call. @throws {FilterError} when nothing is called so. */
export function* callFunction({ name, args }: Call, spot: Spot, scope: Scope): Iterable<Spot> {
  const key = `${name}/${args.length}`;
  const closure = lookUp(scope.functions, key);
  if (closure !== undefined) {
    yield* enter(closure, args, { spot, scope });
    return;
  }
  const flow = FLOWS.get(key);
  if (flow !== undefined) {
    yield* flow({ args, spot, scope });
    return;
  }
  const compute = FUNCTIONS.get(key);
  if (compute !== undefined) {
    for (const given of argumentLists(args, spot, scope)) {
      yield { value: compute(spot.value, given, scope.budget) };
    }
    return;
  }
  const definition = DEFINED.get(key);
  if (definition === undefined) {
    throw new Refusal("invalidArguments", `Cannot run the filter: ${key} is not defined`);
  }
  const inner: Scope = { ...scope, variables: undefined, functions: undefined };
  yield* apply(definition, args, { spot, scope, inner });
}

interface Place {
  readonly spot: Spot;
  readonly scope: Scope;
}

function* enter(closure: Closure, args: readonly Ast[], { spot, scope }: Place): Iterable<Spot> {
  if (closure.kind === "filter") {
    yield* run(closure.body, spot, { ...closure.scope, depth: scope.depth });
    return;
  }
  yield* apply(closure.definition, args, { spot, scope, inner: closure.scope() });
}

/** Binds arguments: filters with the scope they stand in, `$names` to each of their values. */
function* apply(
  definition: Definition,
  args: readonly Ast[],
  { spot, scope, inner }: Place & { readonly inner: Scope },
): Iterable<Spot> {
  const depth = scope.depth + 1;
  if (depth > DEEPEST_CALL) {
    throw new Refusal(
      "tooLarge",
      `Cannot finish the filter: functions call each other more than ${DEEPEST_CALL} deep`,
    );
  }
  let scopes: Iterable<Scope> = [{ ...inner, depth }];
  for (const [at, param] of definition.params.entries()) {
    const body = args[at];
    if (body === undefined) throw new FilterError(`${definition.name} lacks an argument`);
    scopes = withArgument(scopes, param, { body, spot, scope });
  }
  for (const bound of scopes) yield* run(definition.body, spot, bound);
}

function* withArgument(
  scopes: Iterable<Scope>,
  param: string,
  { body, spot, scope }: Place & { readonly body: Ast },
): Iterable<Scope> {
  const name = param.replace("$", "");
  for (const inner of scopes) {
    if (!param.startsWith("$")) {
      yield withFilter(inner, name, { kind: "filter", body, scope });
      continue;
    }
    for (const value of values(body, spot, scope)) {
      const named = withVariable(inner, name, value);
      yield withFilter(named, name, { kind: "filter", body: { kind: "literal", value }, scope });
    }
  }
}

function withFilter(scope: Scope, name: string, value: Closure): Scope {
  return { ...scope, functions: { name: `${name}/0`, value, next: scope.functions } };
}

/** Every combination of the arguments' values; the last argument changes slowest. */
function* argumentLists(args: readonly Ast[], spot: Spot, scope: Scope): Iterable<readonly Json[]> {
  const last = args[args.length - 1];
  if (last === undefined) {
    yield [];
    return;
  }
  for (const value of values(last, spot, scope)) {
    for (const before of argumentLists(args.slice(0, -1), spot, scope)) yield [...before, value];
  }
}
