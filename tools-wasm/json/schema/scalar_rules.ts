/** Rules about a value by itself: type, bounds, texts, sizes. @module */
import type { Pattern } from "../../../text/pattern.ts";
import { readPattern } from "../pattern.ts";
import {
  compare,
  isList,
  isObject,
  type Json,
  type JsonObject,
  kindOf,
  toText,
} from "../values.ts";
import { type CheckState, type Outcome, type Place, ruled, wrong } from "./check_state.ts";

/** A rule: takes the keyword's value and the checked value. Undefined when the rule holds. */
type Rule = (wanted: Json, value: Json) => string | undefined;

const few = (value: Json): string => {
  const text = toText(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
};

/** Whether a value has the named type. */
function isType(value: Json, type: Json): boolean {
  return type === "integer"
    ? typeof value === "number" && Number.isInteger(value)
    : kindOf(value) === type;
}

const bound =
  (holds: (value: number, wanted: number) => boolean, words: string): Rule => (wanted, value) =>
    typeof value !== "number" || typeof wanted !== "number" || holds(value, wanted)
      ? undefined
      : `must be ${words} ${wanted}, and is ${value}`;

const size = (
  of: (value: Json) => number | undefined,
  { atMost, what }: { readonly atMost: boolean; readonly what: string },
): Rule =>
(wanted, value) => {
  const count = of(value);
  if (count === undefined || typeof wanted !== "number") return undefined;
  if (atMost ? count <= wanted : count >= wanted) return undefined;
  return `must have at ${atMost ? "most" : "least"} ${wanted} ${what}, and has ${count}`;
};

const characters = (value: Json) => typeof value === "string" ? [...value].length : undefined;
const elements = (value: Json) => isList(value) ? value.length : undefined;
const members = (value: Json) => isObject(value) ? Object.keys(value).length : undefined;

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["type", (wanted, value) => {
    const types = isList(wanted) ? wanted : [wanted];
    if (types.some((type) => isType(value, type))) return undefined;
    return `must be ${types.join(" or ")}, and is ${kindOf(value)}`;
  }],
  [
    "const",
    (wanted, value) =>
      compare(wanted, value) === 0 ? undefined : `must be ${few(wanted)}, and is ${few(value)}`,
  ],
  ["enum", (wanted, value) => {
    if (!isList(wanted) || wanted.some((item) => compare(item, value) === 0)) return undefined;
    return `must be one of ${few(wanted)}, and is ${few(value)}`;
  }],
  ["minimum", bound((value, wanted) => value >= wanted, "at least")],
  ["maximum", bound((value, wanted) => value <= wanted, "at most")],
  ["exclusiveMinimum", bound((value, wanted) => value > wanted, "more than")],
  ["exclusiveMaximum", bound((value, wanted) => value < wanted, "less than")],
  ["multipleOf", bound((value, wanted) => isMultiple(value, wanted), "a multiple of")],
  ["minLength", size(characters, { atMost: false, what: "characters" })],
  ["maxLength", size(characters, { atMost: true, what: "characters" })],
  ["minItems", size(elements, { atMost: false, what: "items" })],
  ["maxItems", size(elements, { atMost: true, what: "items" })],
  ["minProperties", size(members, { atMost: false, what: "properties" })],
  ["maxProperties", size(members, { atMost: true, what: "properties" })],
  ["uniqueItems", (wanted, value) => {
    if (wanted !== true || !isList(value)) return undefined;
    const sorted = [...value].sort(compare);
    const twice = sorted.find((item, at) => at > 0 && compare(item, sorted[at - 1] ?? null) === 0);
    return twice === undefined
      ? undefined
      : `must hold no item twice, and holds ${few(twice)} twice`;
  }],
  ["required", (wanted, value) => {
    if (!isList(wanted) || !isObject(value)) return undefined;
    const missing = wanted.filter((key) => typeof key === "string" && !Object.hasOwn(value, key));
    return missing.length === 0 ? undefined : `must have ${few(missing)}`;
  }],
  ["dependentRequired", (wanted, value) => {
    if (!isObject(wanted) || !isObject(value)) return undefined;
    for (const [key, others] of Object.entries(wanted)) {
      if (!Object.hasOwn(value, key) || !isList(others)) continue;
      const missing = others.filter((other) =>
        typeof other === "string" && !Object.hasOwn(value, other)
      );
      if (missing.length > 0) return `must have ${few(missing)}, because it has "${key}"`;
    }
    return undefined;
  }],
]);

/** Decimal steps are inexact in binary: ignores a remainder within rounding. */
function isMultiple(value: number, step: number): boolean {
  const times = value / step;
  return Number.isInteger(times) ||
    Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times)) &&
      Math.abs(times) < 2 ** 40 && !Number.isInteger(step);
}

/** The outcome of every rule of `schema` that a value breaks by itself. */
export function scalarRules(schema: JsonObject, value: Json, place: Place): readonly Outcome[] {
  const found: Outcome[] = [];
  for (const [keyword, wanted] of Object.entries(schema)) {
    const message = RULES.get(keyword)?.(wanted, value);
    if (message !== undefined) found.push(wrong(ruled(place, keyword), message));
  }
  return found;
}

/** The expressions of one schema, each compiled once. */
export function makePatterns({ spend }: Pick<CheckState, "spend">) {
  const known = new Map<string, Pattern>();
  return (source: string, text: string): boolean => {
    const pattern = known.get(source) ?? readPattern(source, { spend });
    known.set(source, pattern);
    return pattern.find(text) !== undefined;
  };
}
