/**
 * Log text for `console` and failures. Uses captured built-ins (primordials), since the program may
 * have replaced its own.
 * @module
 */
import {
  apply,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  isA,
  isArray,
  makeString,
  mapForEach,
  ownKeys,
  push,
  setForEach,
  slice,
} from "./primordials.ts";
import { quoted } from "./host.ts";

const OBJECT = Object.prototype;
const ERROR = Error.prototype;
const MAP = Map.prototype;
const SET = Set.prototype;
const DATE = Date.prototype;
const REGEXP = RegExp.prototype;
const PROMISE = Promise.prototype;
const TYPED_ARRAY = Object.getPrototypeOf(Uint8Array.prototype) as object;
const { toISOString } = DATE;
const { toString: regExpText } = REGEXP;
const { toString: symbolText } = Symbol.prototype;

/** Maximum levels of objects that are shown, and items of each. */
const DEPTH = 4;
const ITEMS = 100;

/** The remaining characters, and the objects being shown. */
interface Budget {
  characters: number;
  readonly above: object[];
}

/**
 * `value` as a text of at most `characters`, and `…`. Calls no getters of plain objects; those of
 * errors and list items may run (the program's own code, in its own sandbox).
 */
export function inspect(value: unknown, characters = 8_192): string {
  const budget: Budget = { characters, above: [] };
  const text = typeof value === "string" ? value : guarded(value, budget, 0);
  return text.length <= characters ? text : slice(text, 0, characters) + "…";
}

function guarded(value: unknown, budget: Budget, depth: number): string {
  const { length } = budget.above;
  try {
    const text = inner(value, budget, depth);
    budget.characters -= text.length;
    return text;
  } catch {
    return "[cannot be shown]";
  } finally {
    budget.above.length = length;
  }
}

function inner(value: unknown, budget: Budget, depth: number): string {
  if (typeof value === "string") return quoted(slice(value, 0, 2_048));
  if (typeof value === "bigint") return makeString(value) + "n";
  if (typeof value === "symbol") return apply(symbolText, value, []) as string;
  if (typeof value === "number" && value === 0 && 1 / value < 0) return "-0";
  if (typeof value === "function") return `[function ${nameOf(value)}]`;
  if (typeof value !== "object" || value === null) return makeString(value);
  for (let i = 0; i < budget.above.length; i++) {
    if (budget.above[i] === value) return "[circular]";
  }
  if (isA(ERROR, value)) return errorText(value);
  if (isA(DATE, value)) return apply(toISOString, value, []) as string;
  if (isA(REGEXP, value)) return apply(regExpText, value, []) as string;
  if (isA(PROMISE, value)) return "[promise]";
  if (depth >= DEPTH || budget.characters <= 0) return isArray(value) ? "[…]" : "{…}";
  push(budget.above, value);
  return within(value, budget, depth + 1);
}

function within(value: object, budget: Budget, depth: number): string {
  if (isArray(value) || isA(TYPED_ARRAY, value)) {
    return listText("[", "]", (add) => {
      const items = value as { readonly length: number; readonly [index: number]: unknown };
      for (let i = 0; i < items.length && add(guarded(items[i], budget, depth)); i++);
    });
  }
  if (isA(MAP, value)) {
    return "Map " +
      listText("{", "}", (add) =>
        mapForEach(value as Map<unknown, unknown>, (item, key) => {
          add(`${guarded(key, budget, depth)} → ${guarded(item, budget, depth)}`);
        }));
  }
  if (isA(SET, value)) {
    return "Set " + listText("{", "}", (add) =>
      setForEach(value as Set<unknown>, (item) => {
        add(guarded(item, budget, depth));
      }));
  }
  const named = classOf(value);
  return named + listText("{", "}", (add) => {
    const all = ownKeys(value);
    for (let i = 0; i < all.length; i++) {
      const key = all[i];
      if (key === undefined) continue;
      const property = getOwnPropertyDescriptor(value, key);
      if (property?.enumerable !== true) continue;
      const name = typeof key === "symbol" ? "[symbol]" : key;
      const text = "value" in property ? guarded(property.value, budget, depth) : "[getter]";
      if (!add(`${name}: ${text}`)) return;
    }
  });
}

/** Text between two brackets; `add` returns whether another item is accepted. */
function listText(
  open: string,
  close: string,
  each: (add: (item: string) => boolean) => void,
): string {
  let text = "";
  let count = 0;
  each((item) => {
    count += 1;
    if (count <= ITEMS) text += (count === 1 ? " " : ", ") + item;
    else if (count === ITEMS + 1) text += ", …";
    return count <= ITEMS;
  });
  return count === 0 ? open + close : `${open}${text} ${close}`;
}

function classOf(value: object): string {
  const prototype = getPrototypeOf(value);
  if (prototype === null || prototype === OBJECT) return "";
  const maker = getOwnPropertyDescriptor(prototype, "constructor")?.value;
  return typeof maker === "function" ? nameOf(maker) + " " : "";
}

function nameOf(value: object): string {
  const name = getOwnPropertyDescriptor(value, "name")?.value;
  return typeof name === "string" && name !== "" ? slice(name, 0, 100) : "without a name";
}

/** `Name: message` of an error, without its stack. Runs a program's getters of those. */
export function errorText(error: object): string {
  const { name, message } = error as { readonly name?: unknown; readonly message?: unknown };
  const kind = typeof name === "string" ? slice(name, 0, 100) : "Error";
  const text = typeof message === "string" ? slice(message, 0, 4_096) : "";
  return text === "" ? kind : `${kind}: ${text}`;
}
