/** A program's result as JSON text. @module */
import {
  isA,
  makeString,
  mapForEach,
  own,
  push,
  put,
  setForEach,
  stringify,
} from "./primordials.ts";
import { faultError } from "./host.ts";
import { errorText } from "./inspect.ts";

const MAP = Map.prototype;
const SET = Set.prototype;
const ERROR = Error.prototype;
const BYTES = Object.getPrototypeOf(Uint8Array.prototype) as object;

/** Maximum characters of a result. */
const CHARACTERS = 8 * 1024 * 1024;

/**
 * Replaces values that JSON cannot express: a BigInt becomes its digits as text, a Map an object or
 * a list of pairs, a Set a list, bytes and other typed arrays a list of numbers, an Error `{name,
 * message, code?}`. The rest is as in `JSON.stringify`: `undefined` and functions are omitted from
 * objects and null in lists, NaN and Infinity are null, -0 is 0.
 */
function replaced(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return makeString(value);
  if (typeof value !== "object" || value === null) return value;
  if (isA(MAP, value)) return ofMap(value as Map<unknown, unknown>);
  if (isA(SET, value)) {
    const list: unknown[] = [];
    setForEach(value as Set<unknown>, (item) => push(list, item));
    return list;
  }
  if (isA(BYTES, value)) {
    const list: unknown[] = [];
    const bytes = value as Uint8Array;
    for (let i = 0; i < bytes.length; i++) push(list, bytes[i]);
    return list;
  }
  if (isA(ERROR, value)) return ofError(value);
  return value;
}

function ofMap(map: Map<unknown, unknown>): unknown {
  const object = {};
  const pairs: unknown[] = [];
  let texts = true;
  mapForEach(map, (item, key) => {
    if (typeof key === "string") put(object, key, item, true);
    else texts = false;
    push(pairs, [key, item]);
  });
  return texts ? object : pairs;
}

function ofError(error: object): unknown {
  const code = own(error, "code");
  const message = errorText(error);
  return typeof code === "string" ? { error: message, code } : { error: message };
}

/**
 * `value` as JSON text; `undefined` is null. Throws an error with a code for a function, a symbol,
 * a cycle, and a value that is too long or too deep. Runs the program's getters and `toJSON`.
 */
export function resultText(value: unknown): string {
  if (value === undefined) return "null";
  if (typeof value === "function" || typeof value === "symbol") {
    throw faultError(
      "upstream",
      `Cannot return the result: it is a ${typeof value}, and results are JSON`,
    );
  }
  let text: string | undefined;
  try {
    text = stringify(value, replaced);
  } catch (error) {
    const why = typeof error === "object" && error !== null
      ? errorText(error)
      : "it cannot be JSON";
    throw faultError("upstream", `Cannot return the result as JSON: ${why}`);
  }
  if (text === undefined) return "null";
  if (text.length > CHARACTERS) {
    throw faultError(
      "tooLarge",
      `Cannot return the result: it is ${text.length} characters long, and ${CHARACTERS} is the most`,
    );
  }
  return text;
}
