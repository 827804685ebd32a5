/** JSON values: their kinds and their order. @module */
import { Fault } from "../../contracts/base/fault.ts";

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** Maximum nesting of values, well within the engine's stack. */
export const DEEPEST = 128;

/** Maximum characters of a text: 16 Mi. */
export const LONGEST = 16 * 1024 * 1024;

/** The kinds, in sort order. */
export type Kind = "null" | "boolean" | "number" | "string" | "array" | "object";

const RANK: Readonly<Record<Kind, number>> = {
  null: 0,
  boolean: 1,
  number: 3,
  string: 4,
  array: 5,
  object: 6,
};

/** The kind of a value, named as in jq's `type`. */
export function kindOf(value: Json): Kind {
  if (value === null) return "null";
  switch (typeof value) {
    case "boolean":
      return "boolean";
    case "number":
      return "number";
    case "string":
      return "string";
    default:
      return isList(value) ? "array" : "object";
  }
}

/** Whether a value is an array. */
export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** Whether a value is an object. */
export function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Keys in the order of their code points. */
export function sortedKeys(value: JsonObject): readonly string[] {
  return Object.keys(value).sort(compareText);
}

/** Orders texts by code points, not by UTF-16 units. */
function compareText(left: string, right: string): number {
  if (left === right) return 0;
  const shared = Math.min(left.length, right.length);
  let at = 0;
  while (at < shared && left.charCodeAt(at) === right.charCodeAt(at)) at += 1;
  if (at === shared) return left.length - right.length;
  const [one, other] = [left.charCodeAt(at), right.charCodeAt(at)];
  // Surrogates are below U+E000 but stand for code points above it.
  return high(one) === high(other) ? one - other : high(one) ? 1 : -1;
}

function high(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

/** Total order: null, false, true, numbers, strings, arrays, objects (by keys, then values). */
export function compare(left: Json, right: Json): number {
  if (left === right) return 0;
  if (typeof left === "number" && typeof right === "number") {
    return left < right ? -1 : left > right ? 1 : 0;
  }
  if (typeof left === "string" && typeof right === "string") return compareText(left, right);
  if (typeof left === "boolean" && typeof right === "boolean") return left ? 1 : -1;
  if (isList(left) && isList(right)) return compareLists(left, right);
  if (isObject(left) && isObject(right)) {
    const [keys, others] = [sortedKeys(left), sortedKeys(right)];
    return compareLists(keys, others) ||
      compareLists(keys.map((key) => left[key] ?? null), others.map((key) => right[key] ?? null));
  }
  return RANK[kindOf(left)] - RANK[kindOf(right)];
}

function compareLists(left: readonly Json[], right: readonly Json[]): number {
  const shared = Math.min(left.length, right.length);
  for (let at = 0; at < shared; at += 1) {
    const order = compare(left[at] ?? null, right[at] ?? null);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** A value as JSON text. */
export function toText(value: Json, indent?: number): string {
  return JSON.stringify(value, undefined, indent);
}

/**
 * Checks a parser's result: plain JSON, nested at most {@link DEEPEST} deep, with finite numbers.
 *
 * @throws {Fault} `tooLarge` or `invalidInput`
 */
export function checkValue(value: unknown, depth = 0): Json {
  if (depth > DEEPEST) {
    throw new Fault("tooLarge", `Cannot read it: nested more than ${DEEPEST} deep`);
  }
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value)) {
        throw new Fault(
          "invalidInput",
          "Cannot read it: a number that JSON cannot hold (infinite, or not a number)",
        );
      }
      return value;
    case "object":
      if (value === null) return null;
      if (Array.isArray(value)) return value.map((item) => checkValue(item, depth + 1));
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, checkValue(item, depth + 1)]),
      );
    default:
      throw new Fault("invalidInput", `Cannot read it: a ${typeof value} is no JSON`);
  }
}
