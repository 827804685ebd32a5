/** A call's arguments: parsed with limits, frozen, and written canonically. @module */
import { Fault } from "../contracts/base/fault.ts";
import { isObject, type Json, type JsonObject } from "../contracts/base/json.ts";
import { inOrder } from "../port/in_order.ts";
import { canonicalJson, deepFreeze, parseJson } from "../port/mod.ts";

/** Parsed arguments and their canonical text, which is hashed. */
export interface Arguments {
  readonly args: JsonObject;
  readonly text: string;
}

const LIMITS = { frameBytes: 1 << 20, depth: 32, nodes: 50_000 };
/** UTF-16 units. Any text this short is within the limits of bytes and nodes. */
const SHORT = 50_000;

/**
 * Parses an argument object.
 * @throws {Fault} for anything else, past the limits, or with a repeated key or a lone surrogate.
 */
export function parseArguments(text: string): Arguments {
  const parsed = (text.length <= SHORT ? usual(text) : undefined) ?? anyText(text);
  texts.set(parsed.args, parsed.text);
  return parsed;
}

/** Canonical texts of parsed arguments; valid because the arguments are deeply frozen. */
const texts = new WeakMap<JsonObject, string>();

/** Canonical text of arguments; cached if they came from {@link parseArguments}. */
export function argumentsText(args: JsonObject): string {
  return texts.get(args) ?? canonicalJson(args);
}

function anyText(text: string): Arguments {
  if (isNone(text)) return { args: deepFreeze({}), text: "{}" };
  let args = parseJson(text, LIMITS);
  // Some models encode the arguments twice, as a JSON string. It is decoded once more, and no deeper.
  const inner = typeof args === "string" ? args.trim() : undefined;
  if (inner !== undefined) args = isNone(inner) ? deepFreeze({}) : once(inner);
  if (!isObject(args)) {
    throw new Fault(
      "invalidArguments",
      inner === undefined
        ? "arguments must be a JSON object"
        : "arguments must be a JSON object; a string that holds no object came (encoded twice?)",
    );
  }
  return { args, text: canonicalJson(args) };
}

/** Some models write `null` for a call without arguments. */
function isNone(text: string): boolean {
  return text.trim() === "null";
}

/** The JSON value in a string; the string itself if it is not JSON. */
function once(text: string): Json {
  try {
    return parseJson(text, LIMITS);
  } catch (error) {
    if (error instanceof Fault && !text.startsWith("{")) return text;
    throw error;
  }
}

/**
 * The fast path for compact text without anything unusual: one walk that orders keys, one
 * `JSON.stringify`. Undefined when the full parser must decide.
 * INVARIANT: accepts nothing that the full parser refuses, and writes the same text (test: "the
 * short way and the long way come to the same").
 */
function usual(text: string): Arguments | undefined {
  let args: Json;
  try {
    args = JSON.parse(text);
  } catch {
    return undefined; // The full parser reports the error.
  }
  if (!isObject(args)) return undefined;
  const ordered = inOrder(args, LIMITS.depth);
  if (ordered === undefined) return undefined;
  const canonical = JSON.stringify(ordered);
  // JSON.stringify repeats no key, and writes a lone surrogate as an escape.
  if (canonical.includes("\\ud")) return undefined;
  if (canonical !== text && JSON.stringify(args) !== text) return undefined;
  return { args: deepFreeze(args), text: canonical };
}
