/** A call's arguments: parsed with limits, frozen, and written canonically. @module */
import { Fault } from "../contracts/base/fault.ts";
import { isObject, type Json, type JsonObject } from "../contracts/base/json.ts";
import { inOrder } from "../port/in_order.ts";
import { canonicalJson, deepFreeze, parseJson } from "../port/mod.ts";

/** Arguments, and the one text of them that is hashed. */
export interface Arguments {
  readonly args: JsonObject;
  readonly text: string;
}

const LIMITS = { frameBytes: 1 << 20, depth: 32, nodes: 50_000 };
/** A text this short passes the limits of bytes and nodes whatever is in it. */
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

/** Texts of arguments that were parsed here: they are frozen throughout, and so stay true. */
const texts = new WeakMap<JsonObject, string>();

/** Canonical text of arguments that were parsed before. */
export function argumentsText(args: JsonObject): string {
  return texts.get(args) ?? canonicalJson(args);
}

function anyText(text: string): Arguments {
  if (isNone(text)) return { args: deepFreeze({}), text: "{}" };
  let args = parseJson(text, LIMITS);
  // Models write a call's arguments as a string that holds them: that is read once, and no deeper.
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

/** What models write where a call has no arguments. */
function isNone(text: string): boolean {
  return text.trim() === "null";
}

/** What a string holds; the string itself where it holds no JSON. */
function once(text: string): Json {
  try {
    return parseJson(text, LIMITS);
  } catch (error) {
    if (error instanceof Fault && !text.startsWith("{")) return text;
    throw error;
  }
}

/**
 * The short way, for compact text with nothing unusual in it: one walk that puts keys in order, one
 * `JSON.stringify`. Undefined when the long way must decide.
 * INVARIANT: accepts nothing that the long way refuses, and writes the same text
 * (test: "the short way and the long way come to the same").
 */
function usual(text: string): Arguments | undefined {
  let args: Json;
  try {
    args = JSON.parse(text);
  } catch {
    return undefined; // The long way says what is wrong.
  }
  if (!isObject(args)) return undefined;
  const ordered = inOrder(args, LIMITS.depth);
  if (ordered === undefined) return undefined;
  const canonical = JSON.stringify(ordered);
  // What JSON.stringify writes repeats no key; a lone surrogate it writes as an escape.
  if (canonical.includes("\\ud")) return undefined;
  if (canonical !== text && JSON.stringify(args) !== text) return undefined;
  return { args: deepFreeze(args), text: canonical };
}
