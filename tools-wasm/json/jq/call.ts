/** Calls: first of definitions and arguments in scope, then of built-in functions. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import type { Json } from "../values.ts";
import { withVariable } from "./bind.ts";
import { run, values } from "./evaluate.ts";
import { FLOWS } from "./flows.ts";
import { FUNCTIONS } from "./functions.ts";
import { type Closure, FilterError, lookUp, type Scope, type Spot } from "./run_state.ts";
import type { Ast, Definition } from "./syntax.ts";
import { parseDefinitions } from "./parse.ts";

/** Maximum depth of calls, limited by the engine's stack. */
const DEEPEST_CALL = 60;

type Call = Extract<Ast, { readonly kind: "call" }>;

/** The outputs of a call. @throws {FilterError} for an unknown function */
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
    throw new Fault("invalidArguments", `Cannot run the filter: ${key} is not defined`);
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

/** Binds arguments: filters with their own scope, `$names` to each of their values. */
function* apply(
  definition: Definition,
  args: readonly Ast[],
  { spot, scope, inner }: Place & { readonly inner: Scope },
): Iterable<Spot> {
  const depth = scope.depth + 1;
  if (depth > DEEPEST_CALL) {
    throw new Fault(
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

// Built-in functions written as filters.

const SOURCE = `
def map(f): [.[] | f];
def map_values(f): .[] |= f;
def values: select(. != null);
def nulls: select(. == null);
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def strings: select(type == "string");
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type | . == "array" or . == "object");
def scalars: select(type | . != "array" and . != "object");
def with_entries(f): to_entries | map(f) | from_entries;
def add(f): [f] | add;
def in(o): . as $key | o | has($key);
def inside(b): . as $part | b | contains($part);
def while(test; update): recurse(if test then update else empty end) | select(test);
def until(test; update): first(recurse(if test then empty else update end) | select(test));
def repeat(f): recurse(f);
def recurse(f; test): recurse(f | select(test));
def recurse: ..;
def any: any(.[]; .);
def all: all(.[]; .);
def any(f): any(.[]; f);
def all(f): all(.[]; f);
def any(g; f): isempty(first(g | f | if . then . else empty end)) | not;
def all(g; f): isempty(first(g | f | if . then empty else true end));
def first: .[0];
def last: .[-1];
def nth($n): .[$n];
def nth($n; f): if $n < 0 then error("Out of bounds negative array index") else last(limit($n + 1; f)) end;
def paths: path(..) | select(length > 0);
def paths(f): path(.. | select(f)) | select(length > 0);
def leaf_paths: paths(scalars);
def del(f): delpaths([path(f)]);
def to_array: if type == "array" then . else [.] end;
def pick(f): . as $top | reduce path(f) as $p (null; setpath($p; $top | getpath($p)));
def range($to): range(0; $to; 1);
def range($from; $to): range($from; $to; 1);
def combinations: if length == 0 then [] else .[0][] as $x | (.[1:] | combinations) as $rest | [$x] + $rest end;
def combinations($n): . as $all | [range($n) | $all] | combinations;
def IN(g): any(. == g; .);
def IN(source; g): any(source == g; .);
def INDEX(f): INDEX(.[]; f);
def INDEX(source; f): reduce source as $row ({}; .[$row | f | tostring] = $row);
def ascii: [.] | implode;
def finites: select(isinfinite or isnan | not);
def test(re): test(re; null);
def match(re): match(re; null);
def capture(re): capture(re; null);
def capture(re; flags): match(re; flags) | [.captures[] | select(.name != null) | {key: .name, value: .string}] | from_entries;
def scan(re): scan(re; null);
def scan(re; $flags): match(re; "g" + $flags) | if (.captures | length) > 0 then [.captures[].string] else .string end;
def splits(re): split(re; null) | .[];
def splits(re; flags): split(re; flags) | .[];
def sub(re; f): sub(re; f; "");
def gsub(re; f): sub(re; f; "g");
def gsub(re; f; $flags): sub(re; f; "g" + $flags);
`;

/** By `name/arity`. */
const DEFINED: ReadonlyMap<string, Definition> = new Map(
  parseDefinitions(SOURCE).map((definition) => [
    `${definition.name}/${definition.params.length}`,
    definition,
  ]),
);
