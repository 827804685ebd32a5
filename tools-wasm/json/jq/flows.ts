/** Built-in functions that take filters, or yield any number of outputs. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { compare, isList, isObject, type Json } from "../values.ts";
import { pathsOf } from "./assign.ts";
import { each, run, values } from "./evaluate.ts";
import { matches } from "./match.ts";
import { boundedText, FilterError, type Scope, shown, type Spot, type Step } from "./run_state.ts";
import { getAt, stepOf, stepToJson } from "./steps.ts";
import { type Ast, IDENTITY } from "./syntax.ts";

/** A call: its unevaluated arguments, its input, its scope. */
export interface FlowCall {
  readonly args: readonly Ast[];
  readonly spot: Spot;
  readonly scope: Scope;
}

/** A function over filters. */
export type Flow = (call: FlowCall) => Iterable<Spot>;

/** The filter given as argument `at`. */
function arg({ args }: FlowCall, at: number): Ast {
  return args[at] ?? IDENTITY;
}

function* numbers(call: FlowCall, at: number): Iterable<number> {
  for (const value of values(arg(call, at), call.spot, call.scope)) {
    if (typeof value !== "number") throw new FilterError(`${shown(value)} is not a number`);
    yield value;
  }
}

function* select(call: FlowCall): Iterable<Spot> {
  for (const test of values(arg(call, 0), call.spot, call.scope)) {
    if (test !== null && test !== false) yield call.spot;
  }
}

/** Each level holds its pending outputs. */
const DEEPEST_RECURSION = 20_000;

/** The input, the outputs of `f` for it, and so on, without recursion. */
function* recurse(call: FlowCall): Iterable<Spot> {
  const open: Iterator<Spot>[] = [[call.spot].values()];
  while (true) {
    const top = open[open.length - 1];
    if (top === undefined) return;
    const next = top.next();
    if (next.done === true) {
      open.pop();
      continue;
    }
    call.scope.budget.spend(1);
    yield next.value;
    if (open.length > DEEPEST_RECURSION) {
      throw new Fault(
        "tooLarge",
        `Cannot finish the filter: it recurses more than ${DEEPEST_RECURSION} deep`,
      );
    }
    open.push(run(arg(call, 0), next.value, call.scope)[Symbol.iterator]());
  }
}

function* limit(call: FlowCall): Iterable<Spot> {
  for (const count of numbers(call, 0)) {
    let left = count;
    if (left <= 0) continue;
    for (const found of run(arg(call, 1), call.spot, call.scope)) {
      yield found;
      left -= 1;
      if (left <= 0) break;
    }
  }
}

function* skip(call: FlowCall): Iterable<Spot> {
  for (const count of numbers(call, 0)) {
    let left = count;
    for (const found of run(arg(call, 1), call.spot, call.scope)) {
      if (left > 0) left -= 1;
      else yield found;
    }
  }
}

function* first(call: FlowCall): Iterable<Spot> {
  for (const found of run(arg(call, 0), call.spot, call.scope)) {
    yield found;
    return;
  }
}

function* last(call: FlowCall): Iterable<Spot> {
  let found: Spot | undefined;
  for (const next of run(arg(call, 0), call.spot, call.scope)) found = next;
  if (found !== undefined) yield found;
}

function* isEmpty(call: FlowCall): Iterable<Spot> {
  let empty = true;
  for (const _ of run(arg(call, 0), call.spot, call.scope)) {
    empty = false;
    break;
  }
  yield { value: empty };
}

function* range(call: FlowCall): Iterable<Spot> {
  for (const from of numbers(call, 0)) {
    for (const to of numbers(call, 1)) {
      for (const by of numbers(call, 2)) {
        if (by === 0) continue;
        for (let at = from; by > 0 ? at < to : at > to; at += by) {
          call.scope.budget.spend(1);
          yield { value: at };
        }
      }
    }
  }
}

function* path(call: FlowCall): Iterable<Spot> {
  for (const found of pathsOf(arg(call, 0), call.spot.value, call.scope)) {
    yield { value: found.map(stepToJson) };
  }
}

function* getPath(call: FlowCall): Iterable<Spot> {
  for (const wanted of values(arg(call, 0), call.spot, call.scope)) {
    const steps = stepsOf(wanted);
    let value: Json = null;
    try {
      value = getAt(call.spot.value, steps);
    } catch (error) {
      if (!(error instanceof FilterError) || call.spot.path === undefined) throw error;
    }
    yield call.spot.path === undefined ? { value } : { value, path: [...call.spot.path, ...steps] };
  }
}

/** The steps of a path in JSON. @throws {FilterError} for an invalid path */
export function stepsOf(path: Json): readonly Step[] {
  if (!isList(path)) throw new FilterError("Path must be specified as an array");
  return path.map((key) => {
    const step = stepOf(key);
    if (step === undefined) throw new FilterError(`Invalid path component: ${shown(key)}`);
    return step;
  });
}

/** Bottom-up: rebuilds every value from the outputs of `f` below it, then applies `f`. */
function* walk(call: FlowCall): Iterable<Spot> {
  const walked = (value: Json): readonly Json[] => {
    call.scope.budget.spend(1);
    if (isList(value)) {
      return [...values(arg(call, 0), { value: value.flatMap(walked) }, call.scope)];
    }
    if (!isObject(value)) return [...values(arg(call, 0), { value }, call.scope)];
    const entries = Object.entries(value).flatMap(([key, item]): (readonly [string, Json])[] => {
      const [made] = walked(item);
      return made === undefined ? [] : [[key, made]];
    });
    return [...values(arg(call, 0), { value: Object.fromEntries(entries) }, call.scope)];
  };
  for (const value of walked(call.spot.value)) yield { value };
}

interface Keyed {
  readonly key: Json;
  readonly value: Json;
}

function keyed(call: FlowCall): readonly Keyed[] {
  const { value } = call.spot;
  if (!isList(value)) {
    throw new FilterError(`${shown(value)} cannot be sorted, as it is not an array`);
  }
  return [...each({ value }, call.scope)].map((item) => ({
    value: item.value,
    key: [...values(arg(call, 0), item, call.scope)],
  }));
}

const byKey = (one: Keyed, other: Keyed): number => compare(one.key, other.key);

function groups(call: FlowCall): readonly (readonly Keyed[])[] {
  const found: Keyed[][] = [];
  for (const item of [...keyed(call)].sort(byKey)) {
    const group = found[found.length - 1];
    const head = group?.[0];
    if (group !== undefined && head !== undefined && byKey(head, item) === 0) group.push(item);
    else found.push([item]);
  }
  return found;
}

/** The smallest by `sign` times the order; among equals the first, or the last for the greatest. */
function extreme(call: FlowCall, sign: 1 | -1): Json {
  let best: Keyed | undefined;
  for (const item of keyed(call)) {
    const order = best === undefined ? -1 : byKey(item, best) * sign;
    if (order < 0 || (order === 0 && sign === -1)) best = item;
  }
  return best?.value ?? null;
}

/** A function with one output. */
const one = (compute: (call: FlowCall) => Json): Flow => (call) => [{ value: compute(call) }];

function* substitute(call: FlowCall): Iterable<Spot> {
  const { value: text } = call.spot;
  for (const flags of values(arg(call, 2), call.spot, call.scope)) {
    for (const pattern of values(arg(call, 0), call.spot, call.scope)) {
      if (typeof text !== "string") {
        throw new FilterError(`${shown(text)} cannot be matched, as it is not a string`);
      }
      const points = [...text];
      let outs: readonly string[] | undefined;
      let done = 0;
      for (const found of matches(text, { pattern, flags, budget: call.scope.budget })) {
        const made = [...values(arg(call, 1), { value: found.named }, call.scope)];
        if (made.length === 0 || (outs !== undefined && outs.length !== made.length)) {
          throw new FilterError(
            `a replacement gives ${made.length} texts for one match, which leaves another without`,
          );
        }
        const gap = points.slice(done, found.offset).join("");
        done = found.offset + found.length;
        // The n-th output has the n-th text at every match, as in jq 1.7 and later.
        outs = made.map((each, at) => {
          if (typeof each !== "string") {
            throw new FilterError(`${shown(each)} cannot be added to a string`);
          }
          return boundedText((outs?.[at] ?? "") + gap + each);
        });
      }
      const rest = points.slice(done).join("");
      for (const out of outs ?? [""]) yield { value: out + rest };
    }
  }
}

function* match(call: FlowCall): Iterable<Spot> {
  for (const flags of values(arg(call, 1), call.spot, call.scope)) {
    for (const pattern of values(arg(call, 0), call.spot, call.scope)) {
      const wanted = { pattern, flags, budget: call.scope.budget };
      for (const { offset, length, string, captures } of matches(call.spot.value, wanted)) {
        yield { value: { offset, length, string, captures } };
      }
    }
  }
}

/** By `name/arity`. */
export const FLOWS: ReadonlyMap<string, Flow> = new Map<string, Flow>([
  ["empty/0", () => []],
  ["select/1", select],
  ["recurse/1", recurse],
  ["limit/2", limit],
  ["skip/2", skip],
  ["first/1", first],
  ["last/1", last],
  ["isempty/1", isEmpty],
  ["range/3", range],
  ["path/1", path],
  ["getpath/1", getPath],
  ["walk/1", walk],
  ["sort_by/1", one((call) => [...keyed(call)].sort(byKey).map(({ value }) => value))],
  ["group_by/1", one((call) => groups(call).map((group) => group.map(({ value }) => value)))],
  ["unique_by/1", one((call) => groups(call).map(([head]) => head?.value ?? null))],
  ["min_by/1", one((call) => extreme(call, 1))],
  ["max_by/1", one((call) => extreme(call, -1))],
  ["match/2", match],
  ["sub/3", substitute],
]);
