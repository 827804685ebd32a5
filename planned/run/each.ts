/** List methods that take a function of the program. Used by interpreter.ts. @module */
import { SORTS } from "../words.ts";
import { NOTHING } from "./parts.ts";
import { isList, isTrue, kindOf, marked, type Meter, mix, Stopped, type Value } from "./values.ts";

/** Calls a list method with a callback. @throws Stopped, and what `call` rejects with */
export async function eachOf(
  name: string,
  on: Value,
  { args, meter, call }: {
    readonly args: readonly Value[];
    readonly meter: Meter;
    call(...given: readonly Value[]): Promise<Value>;
  },
): Promise<Value> {
  const { data } = on;
  if (!isList(data)) throw new Stopped(`${name} is no method of ${kindOf(data)}`);
  const { list } = data;
  if (SORTS.has(name)) return await sorted(on, list, { order: call, meter });
  if (name === "reduce") {
    const [start, ...rest] = args.length > 0 ? [args[0] ?? NOTHING, ...list] : list;
    if (start === undefined) {
      throw new Stopped("reduce of an empty list needs a value to begin with");
    }
    let sum = start;
    for (const [n, each] of rest.entries()) {
      sum = await call(sum, each, { data: n, mark: on.mark });
    }
    return marked(sum, on.mark);
  }
  let mark = on.mark;
  const made: Value[] = [];
  for (const [n, each] of list.entries()) {
    meter.step();
    const said = await call(each, { data: n, mark: on.mark });
    if (name === "map") {
      made.push(said);
      continue;
    }
    if (name === "flatMap") {
      if (isList(said.data)) made.push(...said.data.list);
      else made.push(said);
      mark = mix(mark, said.mark);
      continue;
    }
    // The position of the result reveals the outcome for every earlier element.
    mark = mix(mark, said.mark);
    const yes = isTrue(said);
    if (name === "filter") {
      if (yes) made.push(each);
    } else if (name === "findLast") {
      if (yes) made[0] = each;
    } else if (yes !== (name === "every")) {
      if (name === "find") return marked(each, mark);
      return { data: name === "findIndex" ? n : name === "some", mark };
    }
  }
  switch (name) {
    case "find":
      return { data: undefined, mark };
    case "findLast":
      return marked(made[0] ?? NOTHING, mark);
    case "findIndex":
      return { data: -1, mark };
    case "some":
    case "every":
      return { data: name === "every", mark };
    default:
      meter.make(made.length);
      return { data: { list: made }, mark };
  }
}

/** Merge sort, which also ends with a comparison that contradicts itself. */
async function sorted(
  on: Value,
  list: readonly Value[],
  { order, meter }: { order(a: Value, b: Value): Promise<Value>; readonly meter: Meter },
): Promise<Value> {
  let mark = on.mark;
  const merged = async (items: readonly Value[]): Promise<readonly Value[]> => {
    if (items.length < 2) return items;
    const half = items.length >> 1;
    const left = [...await merged(items.slice(0, half))].reverse();
    const right = [...await merged(items.slice(half))].reverse();
    const out: Value[] = [];
    for (let a = left.at(-1), b = right.at(-1); a !== undefined && b !== undefined;) {
      const said = await order(a, b);
      if (typeof said.data !== "number") throw new Stopped("a sort's function gives a number");
      mark = mix(mark, said.mark);
      out.push(said.data <= 0 ? a : b);
      if (said.data <= 0) left.pop();
      else right.pop();
      [a, b] = [left.at(-1), right.at(-1)];
    }
    return [...out, ...left.reverse(), ...right.reverse()];
  };
  const inOrder = await merged(list);
  meter.make(inOrder.length);
  return { data: { list: inOrder }, mark };
}
