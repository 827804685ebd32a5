/** Reads JSON text from outside, with limits. @module */
import { Fault } from "../contracts/base/fault.ts";
import { isList, type Json } from "../contracts/base/json.ts";
import { DEFAULT_PORT_LIMITS, type JsonLimits, passesBytes, settle } from "./_bound.ts";

/**
 * Reads a JSON text of any layout into a frozen value. Lone surrogates written as escapes are kept.
 * @throws {Fault} `badFrame` for a syntax error, a repeated key or a number out of a double's
 * range; `tooLarge` above `frameBytes` (of UTF-8), `depth` or `nodes`.
 * @example
 * ```ts
 * import { parseJson } from "./parse.ts";
 * parseJson('{"a": [1, 2]}', { depth: 2 });
 * ```
 */
export function parseJson(text: string, limits: Partial<JsonLimits> = {}): Json {
  const { frameBytes, depth, nodes } = { ...DEFAULT_PORT_LIMITS, ...limits };
  if (passesBytes(text, frameBytes)) {
    throw new Fault("tooLarge", `Cannot parse JSON: longer than ${frameBytes} bytes`);
  }
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Fault("badFrame", "Cannot parse JSON: syntax error", { cause });
  }
  settle(value, depth, nodes);
  // A text of JSON.stringify has no repeated key and no infinite number.
  if (JSON.stringify(value) === text) return value;
  const { members, finite } = tally(value);
  if (!finite) throw new Fault("badFrame", "Cannot parse JSON: number out of range");
  // JSON.parse drops the earlier of two equal keys with its value: the text then has more members.
  if (countMembers(text) === members) return value;
  throw new Fault("badFrame", "Cannot parse JSON: an object repeats a key");
}

function tally(value: Json): { members: number; finite: boolean } {
  if (typeof value === "number") return { members: 0, finite: Number.isFinite(value) };
  if (typeof value !== "object" || value === null) return { members: 0, finite: true };
  const items = Object.values(value);
  const sum = { members: isList(value) ? 0 : items.length, finite: true };
  for (const item of items) {
    const inner = tally(item);
    sum.members += inner.members;
    sum.finite &&= inner.finite;
  }
  return sum;
}

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** Counts the members of a text that JSON.parse accepted: its colons outside strings. */
function countMembers(text: string): number {
  let members = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === COLON) members++;
    else if (unit === QUOTE) i = endOfString(text, i + 1);
  }
  return members;
}

function endOfString(text: string, from: number): number {
  for (let i = from;; i++) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) return i;
    if (unit === BACKSLASH) i++;
    else if (Number.isNaN(unit)) throw new TypeError("Cannot count members: unterminated string");
  }
}

/** Freezes `value` and everything in it, in place; returns it. It must contain no cycle. */
export function deepFreeze<T extends Json>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}
