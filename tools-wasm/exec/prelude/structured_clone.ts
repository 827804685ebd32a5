/** `structuredClone` of JavaScript's own types: no transfers, no class getters. @module */
import { put } from "./primordials.ts";

/** Puts `structuredClone` on `target`. */
export function addStructuredClone(target: object): void {
  put(target, "structuredClone", (value: unknown) => cloned(value, new Map()));
}

function refuse(kind: string): Error {
  return new DOMException(`${kind} cannot be cloned`, "DataCloneError");
}

function cloned(value: unknown, seen: Map<object, unknown>): unknown {
  if (typeof value === "function" || typeof value === "symbol") throw refuse(`A ${typeof value}`);
  if (typeof value !== "object" || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  const copy = emptyCopy(value);
  seen.set(value, copy);
  fill(copy, value, seen);
  return copy;
}

/** A copy of `value` without its contents. */
function emptyCopy(value: object): object {
  if (Array.isArray(value)) return new Array(value.length);
  if (value instanceof Date) return new Date(value);
  if (value instanceof RegExp) return new RegExp(value.source, value.flags);
  if (value instanceof Map) return new Map();
  if (value instanceof Set) return new Set();
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (value instanceof DataView) {
    return new DataView(value.buffer.slice(0), value.byteOffset, value.byteLength);
  }
  if (ArrayBuffer.isView(value)) return (value as Uint8Array).slice();
  if (value instanceof Error) return copiedError(value);
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) {
    throw refuse("A promise or a weak collection");
  }
  if (value instanceof Number || value instanceof String || value instanceof Boolean) {
    return Object(value.valueOf());
  }
  return {};
}

function copiedError(error: Error): Error {
  const copy = new Error(error.message);
  Object.defineProperty(copy, "name", { value: error.name, configurable: true, writable: true });
  return copy;
}

function fill(copy: object, value: object, seen: Map<object, unknown>): void {
  if (value instanceof Map) {
    for (const [key, item] of value) {
      (copy as Map<unknown, unknown>).set(cloned(key, seen), cloned(item, seen));
    }
  } else if (value instanceof Set) {
    for (const item of value) (copy as Set<unknown>).add(cloned(item, seen));
  } else if (Array.isArray(value) || Object.prototype.toString.call(value) === "[object Object]") {
    for (const key of Object.keys(value)) {
      put(copy, key, cloned((value as Record<string, unknown>)[key], seen), true);
    }
  }
}
