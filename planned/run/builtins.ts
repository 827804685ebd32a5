/** Methods of texts and lists, and the built-in functions. No clock, no randomness. @module */
import type { Json } from "../../contracts/base/json.ts";
import {
  type Data,
  fromJson,
  isFields,
  isList,
  isTrue,
  kindOf,
  type List,
  type Mark,
  type Meter,
  mix,
  Stopped,
  toJson,
  toText,
  type Value,
} from "./values.ts";

/** The arguments of a method, and the mark of all of them together. */
interface Given {
  readonly args: readonly Value[];
  readonly mark: Mark;
  readonly meter: Meter;
}

/** Longest text to search for: the time is the product of both lengths. */
const MAX_NEEDLE = 10_000;

function wrong(name: string, data: Data): Stopped {
  return new Stopped(`${name} is no method of ${kindOf(data)}`);
}

function text({ args }: Given, at: number): string {
  const data = args[at]?.data;
  if (typeof data === "string") return data;
  throw new Stopped(`a text was expected, and it is ${kindOf(data)}`);
}

function optional<T>({ args }: Given, at: number, read: (data: Data) => T): T | undefined {
  const data = args[at]?.data;
  return data === undefined ? undefined : read(data);
}

function whole(data: Data): number {
  if (typeof data === "number") return data;
  throw new Stopped(`a number was expected, and it is ${kindOf(data)}`);
}

/** Whether two values are equal; lists and records never are. */
export function isSame(a: Data, b: Data): boolean {
  return a === b && (typeof a !== "object" || a === null);
}

/** Calls a method of a value. @throws Stopped */
export function method(name: string, on: Value, given: Given): Value {
  const { data } = on, { mark, meter } = given;
  const plain = (value: Data): Value => {
    if (typeof value === "string") meter.make(value.length);
    return { data: value, mark };
  };
  if (typeof data === "string") return ofText(name, data, given, plain);
  if (isList(data)) return ofList(name, data, given);
  if (name === "toString" && typeof data !== "object") return plain(toText(on, meter));
  if (name === "toFixed" && typeof data === "number") {
    const digits = optional(given, 0, whole) ?? 0;
    if (digits < 0 || digits > 20) throw new Stopped("toFixed takes 0 to 20 digits");
    return plain(data.toFixed(digits));
  }
  throw wrong(name, data);
}

function ofText(name: string, data: string, given: Given, plain: (value: Data) => Value): Value {
  const { args, meter, mark } = given;
  const number = (at: number): number | undefined => optional(given, at, whole);
  const sought = (): string => {
    const part = text(given, 0);
    if (part.length > MAX_NEEDLE) throw new Stopped("what is looked for is too long");
    meter.step(1 + data.length / 100);
    return part;
  };
  switch (name) {
    case "at":
      return plain(data.at(number(0) ?? 0));
    case "charAt":
      return plain(data.charAt(number(0) ?? 0));
    case "concat":
      return plain(data + args.map((each) => toText(each, meter)).join(""));
    case "endsWith":
      return plain(data.endsWith(sought()));
    case "includes":
      return plain(data.includes(sought()));
    case "indexOf":
      return plain(data.indexOf(sought(), number(1)));
    case "lastIndexOf":
      return plain(data.lastIndexOf(sought()));
    case "startsWith":
      return plain(data.startsWith(sought()));
    case "padEnd":
    case "padStart": {
      const length = number(0) ?? 0;
      meter.make(length);
      return plain(data[name](length, optional(given, 1, String)));
    }
    case "repeat": {
      const times = number(0) ?? 0;
      if (times < 0) throw new Stopped("a text is repeated 0 times or more");
      meter.make(data.length * times);
      return plain(data.repeat(times));
    }
    case "replace":
    case "replaceAll": {
      const part = sought(), by = text(given, 1);
      const found = name === "replace" ? 1 : data.split(part).length - 1;
      meter.make(data.length + found * by.length);
      // A function as replacement, so that `$` patterns in the text have no meaning.
      return plain(data[name](part, () => by));
    }
    case "slice":
      return plain(data.slice(number(0), number(1)));
    case "substring":
      return plain(data.substring(number(0) ?? 0, number(1)));
    case "split": {
      const parts = args.length === 0 ? [data] : data.split(sought());
      meter.make(parts.length);
      meter.step(parts.length);
      return { data: { list: parts.map((part) => plain(part)) }, mark };
    }
    case "toLowerCase":
      return plain(data.toLowerCase());
    case "toUpperCase":
      return plain(data.toUpperCase());
    case "toString":
      return plain(data);
    case "trim":
      return plain(data.trim());
    case "trimEnd":
      return plain(data.trimEnd());
    case "trimStart":
      return plain(data.trimStart());
    default:
      throw wrong(name, data);
  }
}

function ofList(name: string, data: List, given: Given): Value {
  const { args, meter, mark } = given, { list } = data;
  meter.step(1 + list.length / 10);
  const number = (at: number): number | undefined => optional(given, at, whole);
  const made = (items: readonly Value[]): Value => {
    meter.make(items.length);
    return { data: { list: items }, mark };
  };
  /** The mark of a search result: it depends on every element. */
  const looked = (): Mark => list.reduce((all, each) => mix(all, each.mark), mark);
  switch (name) {
    case "at": {
      const found = list.at(number(0) ?? 0);
      return { data: found?.data, mark: found === undefined ? mark : mix(mark, found.mark) };
    }
    case "concat":
      return made([
        ...list,
        ...args.flatMap((each) => isList(each.data) ? each.data.list : [each]),
      ]);
    case "flat":
      return made(list.flatMap((each) => isList(each.data) ? each.data.list : [each]));
    case "includes":
      return { data: list.some((each) => isSame(each.data, args[0]?.data)), mark: looked() };
    case "indexOf":
      return { data: list.findIndex((each) => isSame(each.data, args[0]?.data)), mark: looked() };
    case "join": {
      const between = optional(given, 0, String) ?? ",";
      const parts = list.map((each) =>
        each.data === null || each.data === undefined ? "" : toText(each, meter)
      );
      meter.make(parts.reduce((sum, part) => sum + part.length + between.length, 0));
      return {
        data: parts.join(between),
        mark: list.reduce((all, each) => mix(all, toJson(each, meter).mark), mark),
      };
    }
    case "reverse":
    case "toReversed":
      return made(list.toReversed());
    case "slice":
      return made(list.slice(number(0), number(1)));
    case "sort":
    case "toSorted": {
      const order = list.toSorted(({ data: a }, { data: b }) => compare(a, b));
      return { ...made(order), mark: looked() };
    }
    default:
      throw wrong(name, data);
  }
}

/**
 * Compares texts by UTF-16 code units and numbers by size; -1, 0 or 1. @throws Stopped for values
 * of different kinds
 */
export function compare(a: Data, b: Data): number {
  if (
    (typeof a === "string" && typeof b === "string") ||
    (typeof a === "number" && typeof b === "number")
  ) {
    return a < b ? -1 : a > b ? 1 : 0;
  }
  throw new Stopped(`${kindOf(a)} and ${kindOf(b)} have no order`);
}

/** Calls a built-in function. @throws Stopped */
export function builtin(name: string, given: Given): Value {
  const { args, mark, meter } = given, [first] = args, data = first?.data;
  const value = (json: Data): Value => ({ data: json, mark });
  switch (name) {
    case "Array.isArray":
      return value(isList(data));
    case "Boolean":
      return value(first !== undefined && isTrue(first));
    case "String": {
      const said = first === undefined ? "" : toText(first, meter);
      return { data: said, mark: first === undefined ? mark : toJson(first, meter).mark };
    }
    case "Number":
      return value(
        typeof data === "string"
          ? Number(data)
          : data === null
          ? 0
          : typeof data === "number" || typeof data === "boolean"
          ? Number(data)
          : NaN,
      );
    case "Number.isInteger":
      return value(Number.isInteger(data));
    case "Number.parseFloat":
    case "parseFloat":
      return value(typeof data === "number" ? data : Number.parseFloat(text(given, 0)));
    case "Number.parseInt":
    case "parseInt":
      return value(
        Number.parseInt(
          typeof data === "number" ? String(data) : text(given, 0),
          optional(given, 1, whole) ?? 10,
        ),
      );
    case "isNaN":
      return value(Number.isNaN(data) || data === undefined);
    case "JSON.stringify": {
      if (first === undefined) return value(undefined);
      const space = args.length > 2 ? whole(args[2]?.data) : undefined;
      const { json, mark: all } = toJson(first, meter);
      const said = json === undefined ? undefined : JSON.stringify(json, null, space);
      meter.make(said?.length ?? 0);
      return { data: said, mark: mix(mark, all) };
    }
    case "JSON.parse":
      try {
        return fromJson(JSON.parse(text(given, 0)) as Json, mark, meter);
      } catch (error) {
        if (error instanceof SyntaxError) throw new Stopped("JSON.parse was given what is no JSON");
        throw error;
      }
    case "Object.keys":
    case "Object.values":
    case "Object.entries":
    case "Object.fromEntries":
      return record(name, given, data);
    case "Promise.all":
      return first ?? value(undefined);
    default:
      return value(calculated(name, args));
  }
}

function record(name: string, { mark, meter }: Given, data: Data): Value {
  if (name === "Object.fromEntries") {
    if (!isList(data)) {
      throw new Stopped(`Object.fromEntries takes a list, and was given ${kindOf(data)}`);
    }
    meter.make(data.list.length);
    let all = mark;
    const entries = data.list.map((each): [string, Value] => {
      const pair = isList(each.data) ? each.data.list : [];
      const [key, value = { data: undefined, mark }] = pair;
      if (key === undefined) throw new Stopped("Object.fromEntries takes pairs");
      all = mix(all, mix(each.mark, key.mark));
      return [toText(key, meter), value];
    });
    return { data: { fields: new Map(entries) }, mark: all };
  }
  if (!isFields(data)) throw new Stopped(`${name} takes a record, and was given ${kindOf(data)}`);
  const entries = [...data.fields];
  meter.make(entries.length * 2);
  meter.step(entries.length);
  const list = entries.map(([key, value]): Value => {
    if (name === "Object.values") return value;
    const named: Value = { data: key, mark };
    return name === "Object.keys" ? named : { data: { list: [named, value] }, mark };
  });
  return { data: { list }, mark };
}

function calculated(name: string, args: readonly Value[]): number {
  const [only] = args;
  const given = args.length === 1 && isList(only?.data) ? only.data.list : args;
  const numbers = given.map(({ data }) => whole(data));
  const [first = NaN] = numbers;
  switch (name) {
    case "Math.max":
      return numbers.reduce((a, b) => Math.max(a, b), -Infinity);
    case "Math.min":
      return numbers.reduce((a, b) => Math.min(a, b), Infinity);
    case "Math.abs":
      return Math.abs(first);
    case "Math.ceil":
      return Math.ceil(first);
    case "Math.floor":
      return Math.floor(first);
    case "Math.round":
      return Math.round(first);
    default:
      throw new Stopped(`there is no function ${name}`);
  }
}
