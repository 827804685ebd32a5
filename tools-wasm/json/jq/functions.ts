/** Built-in functions from values to a value. @module */
import { compare, isList, isObject, type Json, kindOf, sortedKeys, toText } from "../values.ts";
import { readJson } from "../form/json_form.ts";
import { stepsOf } from "./flows.ts";
import { bytesOf, textOf } from "./formats.ts";
import { matches } from "./match.ts";
import { finite, operate, splitText } from "./operators.ts";
import { boundedText, type Budget, FilterError, shown } from "./run_state.ts";
import { indexesOf, makeEditor } from "./steps.ts";

/** A function of its input and its arguments' values. */
type Compute = (value: Json, args: readonly Json[], budget: Budget) => Json;

function text(value: Json, what = "input"): string {
  if (typeof value === "string") return value;
  throw new FilterError(`${what} must be a string, and is ${shown(value)}`);
}

function number(value: Json): number {
  if (typeof value === "number") return value;
  throw new FilterError(`${shown(value)} number required`);
}

function list(value: Json): readonly Json[] {
  if (isList(value)) return value;
  throw new FilterError(`${shown(value)} is not an array`);
}

function arg(args: readonly Json[], at = 0): Json {
  return args[at] ?? null;
}

const math = (compute: (value: number) => number): Compute => (value) =>
  finite(compute(number(value)));
const onText = (compute: (value: string) => Json): Compute => (value) => compute(text(value));

function length(value: Json): Json {
  if (value === null) return 0;
  if (typeof value === "string") return [...value].length;
  if (typeof value === "number") return Math.abs(value);
  if (typeof value === "boolean") throw new FilterError(`${shown(value)} has no length`);
  return isList(value) ? value.length : Object.keys(value).length;
}

function keys(value: Json, sorted: boolean): Json {
  if (isList(value)) return [...value.keys()];
  if (isObject(value)) return sorted ? sortedKeys(value) : Object.keys(value);
  throw new FilterError(`${shown(value)} has no keys`);
}

function has(value: Json, key: Json): Json {
  if (isObject(value) && typeof key === "string") return Object.hasOwn(value, key);
  if (isList(value) && typeof key === "number") return key >= 0 && key < value.length;
  throw new FilterError(`Cannot check whether ${kindOf(value)} has a ${kindOf(key)} key`);
}

function contains(whole: Json, part: Json): boolean {
  if (isObject(whole) && isObject(part)) {
    return Object.keys(part).every((key) =>
      Object.hasOwn(whole, key) && contains(whole[key] ?? null, part[key] ?? null)
    );
  }
  if (isList(whole) && isList(part)) {
    return part.every((item) => whole.some((other) => contains(other, item)));
  }
  if (typeof whole === "string" && typeof part === "string") return whole.includes(part);
  return compare(whole, part) === 0;
}

function toNumber(value: Json): Json {
  if (typeof value === "number") return value;
  if (typeof value !== "string") {
    throw new FilterError(`${shown(value)} cannot be parsed as a number`);
  }
  const trimmed = value.trim();
  if (!/^-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(trimmed)) {
    throw new FilterError(`Cannot parse '${value.slice(0, 40)}' as a number`);
  }
  return finite(Number(trimmed));
}

function places(value: Json, part: Json): readonly number[] {
  if (value === null) return [];
  if (typeof value === "string" && typeof part === "string") {
    return part === "" ? [] : indexesOf([...value], [...part]);
  }
  if (isList(value)) return indexesOf(value, isList(part) ? part : [part]);
  throw new FilterError(`Cannot find the places of ${shown(part)} in ${kindOf(value)}`);
}

function fromEntries(value: Json): Json {
  return Object.fromEntries(
    list(value).map((entry): [string, Json] => {
      if (!isObject(entry)) throw new FilterError(`${shown(entry)} is no entry`);
      const of = (names: readonly string[]): Json =>
        names.map((name) => Object.hasOwn(entry, name) ? entry[name] ?? null : null).find((found) =>
          found !== null
        ) ?? null;
      const key = of(["key", "k", "name", "Name", "Key", "K"]);
      const value = Object.hasOwn(entry, "value")
        ? entry["value"] ?? null
        : of(["v", "Value", "V"]);
      return [key === null ? falseKey(entry) : textOf(key), value];
    }),
  );
}

function falseKey(entry: Json): string {
  return isObject(entry) && entry["key"] === false ? "false" : "null";
}

function trimmed(side: "start" | "end"): Compute {
  return (value, args) => {
    const part = arg(args);
    if (typeof value !== "string" || typeof part !== "string" || part === "") return value;
    if (side === "start") return value.startsWith(part) ? value.slice(part.length) : value;
    return value.endsWith(part) ? value.slice(0, -part.length) : value;
  };
}

function implode(value: Json): Json {
  return list(value).map((point) => {
    const code = number(point);
    if (!Number.isInteger(code) || code < 0 || code > 0x10ffff) {
      throw new FilterError(`${code} is no code point`);
    }
    return String.fromCodePoint(code);
  }).join("");
}

function unique(value: Json): Json {
  const sorted = [...list(value)].sort(compare);
  return sorted.filter((item, at) => at === 0 || compare(item, sorted[at - 1] ?? null) !== 0);
}

/** The smallest by `sign` times the order; among equals the first, or the last for the greatest. */
function best(value: Json, sign: 1 | -1): Json {
  return list(value).reduce<Json | undefined>((found, item) => {
    const order = found === undefined ? -1 : compare(item, found) * sign;
    return order < 0 || order === 0 && sign === -1 ? item : found;
  }, undefined) ?? null;
}

function split(
  value: Json,
  by: Json,
  { flags, budget }: { readonly flags: Json; readonly budget: Budget },
): Json {
  const whole = [...text(value)];
  const parts: string[] = [];
  let done = 0;
  for (
    const found of matches(value, {
      pattern: by,
      flags: `g${textOf(flags ?? "")}`.replace("null", ""),
      budget,
    })
  ) {
    parts.push(whole.slice(done, found.offset).join(""));
    done = found.offset + found.length;
  }
  return [...parts, whole.slice(done).join("")];
}

function fromDate(value: Json): Json {
  const moment = Date.parse(text(value));
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(text(value)) || Number.isNaN(moment)) {
    throw new FilterError(
      `date "${text(value).slice(0, 40)}" does not match format "%Y-%m-%dT%H:%M:%SZ"`,
    );
  }
  return Math.floor(moment / 1000);
}

function toDate(value: Json): Json {
  const moment = new Date(Math.floor(number(value)) * 1000);
  if (Number.isNaN(moment.getTime())) throw new FilterError(`${shown(value)} is no moment`);
  return `${moment.toISOString().slice(0, -5)}Z`;
}

/** By `name/arity`. */
export const FUNCTIONS: ReadonlyMap<string, Compute> = new Map<string, Compute>([
  ["not/0", (value) => value === null || value === false],
  ["length/0", length],
  ["utf8bytelength/0", onText((value) => bytesOf(value).length)],
  ["keys/0", (value) => keys(value, true)],
  ["keys_unsorted/0", (value) => keys(value, false)],
  ["has/1", (value, args) => has(value, arg(args))],
  ["contains/1", (value, args) => {
    const part = arg(args);
    if (kindOf(value) === kindOf(part)) return contains(value, part);
    throw new FilterError(
      `${shown(value)} and ${shown(part)} cannot have their containment checked`,
    );
  }],
  ["add/0", sum],
  ["type/0", kindOf],
  ["tostring/0", textOf],
  ["tonumber/0", toNumber],
  ["tojson/0", (value) => toText(value)],
  ["fromjson/0", onText((value) => readJson(value))],
  ["ascii_downcase/0", onText((value) => value.replace(/[A-Z]+/g, (part) => part.toLowerCase()))],
  ["ascii_upcase/0", onText((value) => value.replace(/[a-z]+/g, (part) => part.toUpperCase()))],
  ["explode/0", onText((value) => [...value].map((char) => char.codePointAt(0) ?? 0))],
  ["implode/0", implode],
  ["trim/0", onText((value) => value.trim())],
  ["ltrim/0", onText((value) => value.trimStart())],
  ["rtrim/0", onText((value) => value.trimEnd())],
  ["ltrimstr/1", trimmed("start")],
  ["rtrimstr/1", trimmed("end")],
  [
    "startswith/1",
    (value, args) => text(value, "startswith() input").startsWith(text(arg(args), "argument")),
  ],
  [
    "endswith/1",
    (value, args) => text(value, "endswith() input").endsWith(text(arg(args), "argument")),
  ],
  ["split/1", (value, args) => splitText(text(value), text(arg(args), "argument"))],
  ["split/2", (value, args, budget) => split(value, arg(args), { flags: arg(args, 1), budget })],
  ["join/1", (value, args) => boundedText(joined(list(value), arg(args)))],
  ["test/2", (value, args, budget) => {
    for (const _ of matches(value, { pattern: arg(args), flags: arg(args, 1), budget })) {
      return true;
    }
    return false;
  }],
  ["sort/0", (value) => [...list(value)].sort(compare)],
  ["unique/0", unique],
  ["min/0", (value) => best(value, 1)],
  ["max/0", (value) => best(value, -1)],
  ["reverse/0", (value) => {
    if (typeof value === "string") return [...value].reverse().join("");
    return value === null ? [] : [...list(value)].reverse();
  }],
  ["flatten/0", (value, _, budget) => flat(list(value), Infinity, budget)],
  ["flatten/1", (value, args, budget) => flat(list(value), number(arg(args)), budget)],
  ["transpose/0", (value) => {
    const rows = list(value).map(list);
    const width = rows.reduce((longest, row) => Math.max(longest, row.length), 0);
    return Array.from({ length: width }, (_, at) => rows.map((row) => row[at] ?? null));
  }],
  ["to_entries/0", (value) => {
    if (!isObject(value)) throw new FilterError(`${shown(value)} has no keys`);
    return Object.entries(value).map(([key, item]) => ({ key, value: item }));
  }],
  ["from_entries/0", fromEntries],
  ["indices/1", (value, args) => places(value, arg(args))],
  ["index/1", (value, args) => places(value, arg(args))[0] ?? null],
  ["rindex/1", (value, args) => places(value, arg(args)).at(-1) ?? null],
  ["setpath/2", (value, args) => {
    const editor = makeEditor(value);
    editor.set(stepsOf(arg(args)), arg(args, 1));
    return editor.finish();
  }],
  ["delpaths/1", (value, args) => {
    const editor = makeEditor(value);
    editor.remove(list(arg(args)).map(stepsOf));
    return editor.finish();
  }],
  ["error/0", (value) => {
    throw new FilterError(value);
  }],
  ["error/1", (_, args) => {
    throw new FilterError(arg(args));
  }],
  ["floor/0", math(Math.floor)],
  ["ceil/0", math(Math.ceil)],
  ["round/0", math((value) => Math.sign(value) * Math.round(Math.abs(value)))],
  ["trunc/0", math(Math.trunc)],
  ["sqrt/0", math(Math.sqrt)],
  ["abs/0", math(Math.abs)],
  ["fabs/0", math(Math.abs)],
  ["log/0", math(Math.log)],
  ["log2/0", math(Math.log2)],
  ["log10/0", math(Math.log10)],
  ["exp/0", math(Math.exp)],
  ["pow/2", (_, args) => finite(number(arg(args)) ** number(arg(args, 1)))],
  ["infinite/0", () => Number.MAX_VALUE],
  ["isnan/0", () => false],
  ["isinfinite/0", (value) => Math.abs(number(value)) === Number.MAX_VALUE],
  ["fromdate/0", fromDate],
  ["fromdateiso8601/0", fromDate],
  ["todate/0", toDate],
  ["todateiso8601/0", toDate],
]);

// Sums, joins and flattening, each in time linear in the input.

/** `add`: the sum of an array's elements or an object's values; null for none. */
function sum(value: Json): Json {
  if (!isList(value) && !isObject(value)) {
    throw new FilterError(`Cannot iterate over ${kindOf(value)}`);
  }
  const items = (isList(value) ? value : Object.values(value)).filter((item) => item !== null);
  if (items.length > 0 && items.every((item) => typeof item === "string")) {
    return boundedText(items.join(""));
  }
  // Folding these with + would copy the sum so far each time.
  if (items.length > 0 && items.every(isList)) return items.flat();
  if (items.length > 0 && items.every(isObject)) {
    return Object.fromEntries(items.flatMap(Object.entries));
  }
  return items.reduce<Json>((total, item) => operate("+", total, item), null);
}

/** `join`: texts, numbers and booleans with a text between them; null is empty. */
function joined(items: readonly Json[], by: Json): string {
  if (items.length === 0) return "";
  if (typeof by !== "string") throw new FilterError(`${shown(by)} cannot be added to a string`);
  return items.map((item) => {
    if (item === null) return "";
    if (typeof item === "object") {
      throw new FilterError(`string ("") and ${shown(item)} cannot be added`);
    }
    return textOf(item);
  }).join(by);
}

/** `flatten`: nested arrays, down to `depth`. */
function flat(items: readonly Json[], depth: number, budget: Budget): readonly Json[] {
  if (depth < 0) throw new FilterError("flatten depth must not be negative");
  budget.spend(items.length);
  return items.flatMap((item) =>
    isList(item) && depth > 0 ? flat(item, depth - 1, budget) : [item]
  );
}
