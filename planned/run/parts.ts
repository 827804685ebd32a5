/** Access to parts of values, and the binary operators. Used by each.ts and interpreter.ts. @module */
import type { Binary } from "../../contracts/exchange/planned.ts";
import { compare, isSame } from "./builtins.ts";
import {
  type Data,
  isFields,
  isList,
  kindOf,
  marked,
  type Meter,
  mix,
  OWN,
  Stopped,
  type Value,
} from "./values.ts";

/** The undefined value. */
export const NOTHING: Value = { data: undefined, mark: OWN };

/**
 * Returns a copy of a value with one part replaced. Values are immutable, so other holders do not
 * see the change. @throws Stopped
 */
export function changedAt(
  of: Value,
  keys: readonly Value[],
  to: { readonly value: Value; readonly push: boolean; readonly meter: Meter },
): Value {
  const [key, ...rest] = keys;
  if (key === undefined) {
    if (!to.push) return to.value;
    if (!isList(of.data)) throw new Stopped(`push is no method of ${kindOf(of.data)}`);
    to.meter.make(of.data.list.length + 1);
    return { data: { list: [...of.data.list, to.value] }, mark: of.mark };
  }
  const mark = mix(of.mark, key.mark), { data } = of;
  if (isList(data) && typeof key.data === "number") {
    const at = key.data;
    if (!Number.isInteger(at) || at < 0 || at > data.list.length) {
      throw new Stopped("a list has no such place");
    }
    to.meter.make(data.list.length + 1);
    const list = [...data.list];
    list[at] = changedAt(list[at] ?? NOTHING, rest, to);
    return { data: { list }, mark };
  }
  if (!isFields(data)) throw new Stopped(`${kindOf(data)} has no parts that can be set`);
  const name = nameOf(key.data);
  to.meter.make(data.fields.size + 1);
  const fields = new Map(data.fields);
  fields.set(name, changedAt(fields.get(name) ?? NOTHING, rest, to));
  return { data: { fields }, mark };
}

/** Converts a key to a field's name. @throws Stopped */
export function nameOf(data: Data): string {
  if (typeof data === "string") return data;
  if (typeof data === "number") return String(data);
  throw new Stopped(`a field is named by a text, and not by ${kindOf(data)}`);
}

/** Items of a list from a position on, or a record without some fields. @throws Stopped */
export function restOf({ data, mark }: Value, from: number | readonly string[]): Value {
  if (typeof from === "number") {
    if (!isList(data)) throw new Stopped(`${kindOf(data)} is no list`);
    return { data: { list: data.list.slice(from) }, mark };
  }
  if (!isFields(data)) throw new Stopped(`${kindOf(data)} is no record`);
  return {
    data: { fields: new Map([...data.fields].filter(([name]) => !from.includes(name))) },
    mark,
  };
}

/** Applies a binary operator; only `+` with a text converts types. @throws Stopped */
export function operated(
  op: Binary,
  { a, b, meter }: { readonly a: Data; readonly b: Data; readonly meter: Meter },
): Data {
  if (op === "===") return isSame(a, b);
  if (op === "!==") return !isSame(a, b);
  if (op === "<") return compare(a, b) < 0;
  if (op === "<=") return compare(a, b) <= 0;
  if (op === ">") return compare(a, b) > 0;
  if (op === ">=") return compare(a, b) >= 0;
  const isText = (data: Data): boolean => typeof data === "string";
  const isPlain = (data: Data): boolean => typeof data !== "object" && data !== undefined;
  if (op === "+" && (isText(a) || isText(b)) && isPlain(a) && isPlain(b)) {
    const said = `${a}${b}`;
    meter.make(said.length);
    return said;
  }
  if (typeof a !== "number" || typeof b !== "number") {
    throw new Stopped(`${kindOf(a)} ${op} ${kindOf(b)} means nothing`);
  }
  return op === "+" ? a + b : op === "-" ? a - b : op === "*" ? a * b : op === "/" ? a / b : a % b;
}

/** Reads a value's own part, never what a prototype adds. @throws Stopped */
export function get(of: Value, key: Value, optional: boolean): Value {
  const mark = mix(of.mark, key.mark), { data } = of;
  if (data === undefined || data === null) {
    if (optional) return { data: undefined, mark };
    throw new Stopped("a part is read of nothing");
  }
  if (isFields(data) && (typeof key.data === "string" || typeof key.data === "number")) {
    const found = data.fields.get(String(key.data));
    return found === undefined ? { data: undefined, mark } : marked(found, mark);
  }
  const isLength = key.data === "length";
  if (isList(data)) {
    if (isLength) return { data: data.list.length, mark };
    const found = typeof key.data === "number" ? data.list[key.data] : undefined;
    return found === undefined ? { data: undefined, mark } : marked(found, mark);
  }
  if (typeof data === "string") {
    if (isLength) return { data: data.length, mark };
    return {
      data: typeof key.data === "number" ? data.charAt(key.data) || undefined : undefined,
      mark,
    };
  }
  return { data: undefined, mark };
}
