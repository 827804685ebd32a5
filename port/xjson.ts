/**
 * JSON with values that JSON cannot express, as marked strings: `"+5"` and `"-5"` are bigints,
 * `"#undefined"`, `"#NaN"`, `"#Infinity"` and `"#-Infinity"` are the named constants. A string that
 * begins like a mark is written with `!` before it.
 * @module
 */
import { Fault } from "../contracts/base/fault.ts";
import type { Json } from "../contracts/base/json.ts";

/** A value of JSON, or one that JSON cannot express. */
export type XJson =
  | null
  | boolean
  | number
  | string
  | bigint
  | undefined
  | readonly XJson[]
  | { readonly [key: string]: XJson };

const MAX_DIGITS = 4_096;
const MARKED = /^[!#+-]/;
const BIGINT = /^[+-][0-9]+$/;

const CONSTANTS: ReadonlyMap<string, XJson> = new Map<string, XJson>([
  ["#undefined", undefined],
  ["#NaN", NaN],
  ["#Infinity", Infinity],
  ["#-Infinity", -Infinity],
]);

/**
 * Encodes `value` as JSON.
 * @example
 * ```ts
 * import { encodeXJson } from "./xjson.ts";
 * encodeXJson({ n: 5n, s: "#tag" }); // { n: "+5", s: "!#tag" }
 * ```
 */
export function encodeXJson(value: XJson): Json {
  switch (typeof value) {
    case "undefined":
      return "#undefined";
    case "bigint":
      return value < 0n ? String(value) : `+${value}`;
    case "number":
      if (Number.isFinite(value)) return value;
      return `#${value}`;
    case "string":
      return escaped(value);
    case "boolean":
      return value;
    default:
      if (value === null) return null;
      return isList(value)
        ? value.map(encodeXJson)
        : Object.fromEntries(Object.entries(value).map(([k, v]) => [escaped(k), encodeXJson(v)]));
  }
}

/**
 * Decodes `json`. A string that only begins like a mark is itself.
 * @throws Fault `invalidArguments` for an unknown constant, a bigint that is no whole number or has
 * over 4,096 digits, and two keys that become equal.
 */
export function decodeXJson(json: Json): XJson {
  if (typeof json === "string") return decodedText(json);
  if (json === null || typeof json !== "object") return json;
  if (isList(json)) return json.map(decodeXJson);
  const entries = Object.entries(json).map(([k, v]) => [unescaped(k), decodeXJson(v)] as const);
  if (new Set(entries.map(([key]) => key)).size !== entries.length) {
    throw wrong("an object repeats a key", JSON.stringify(Object.keys(json)).slice(0, 80));
  }
  return Object.fromEntries(entries);
}

/** `value` as an expression of JavaScript. */
export function xjsonSource(value: XJson): string {
  switch (typeof value) {
    case "undefined":
      return "undefined";
    case "bigint":
      return `${value}n`;
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "object":
      if (value === null) return "null";
      if (isList(value)) return `[${value.map(xjsonSource).join(", ")}]`;
      // A computed key, so that `__proto__` is an ordinary name.
      return `{${
        Object.entries(value).map(([k, v]) => `[${JSON.stringify(k)}]: ${xjsonSource(v)}`)
          .join(", ")
      }}`;
    default:
      return JSON.stringify(value);
  }
}

function decodedText(text: string): XJson {
  if (CONSTANTS.has(text)) return CONSTANTS.get(text);
  if (BIGINT.test(text)) {
    if (text.length > MAX_DIGITS + 1) {
      throw wrong(`it has over ${MAX_DIGITS} digits`, text.slice(0, 20));
    }
    return BigInt(text.startsWith("+") ? text.slice(1) : text);
  }
  if (/^#[A-Za-z-]+$/.test(text)) throw wrong("there is no such constant", text.slice(0, 80));
  if (/^[+-][0-9]\S*$/.test(text)) throw wrong("it is no whole number", text.slice(0, 80));
  return unescaped(text);
}

function wrong(why: string, text: string): Fault {
  return new Fault(
    "invalidArguments",
    `Cannot read the value ${
      JSON.stringify(text)
    }: ${why}; a text that begins like a mark is written with "!" before it`,
  );
}

function escaped(text: string): string {
  return MARKED.test(text) ? `!${text}` : text;
}

function unescaped(text: string): string {
  return text.startsWith("!") ? text.slice(1) : text;
}

function isList<T>(value: readonly T[] | object): value is readonly T[] {
  return Array.isArray(value);
}
