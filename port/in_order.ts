/** Puts the keys of JSON objects in order. Used by canonical.ts and broker/arguments.ts. @module */
import { isList, type Json, type JsonObject } from "../contracts/base/json.ts";

/**
 * The value with every object's keys in order of UTF-16 code units: the same object where they
 * already are. JSON.stringify then writes its canonical text, except for lone surrogates. Undefined
 * for keys that no object keeps in order (they begin with a digit, or are `__proto__`), for values
 * that are not JSON, and below `depth` levels.
 */
export function inOrder(value: Json, depth: number): Json | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : undefined;
    case "object":
      break;
    default:
      return undefined;
  }
  if (value === null) return value;
  if (depth <= 0) return undefined;
  return isList(value) ? listInOrder(value, depth) : objectInOrder(value, depth);
}

function objectInOrder(value: JsonObject, depth: number): JsonObject | undefined {
  const keys = Object.keys(value);
  let sorted = true;
  for (let i = 1; i < keys.length; i++) if ((keys[i] ?? "") < (keys[i - 1] ?? "")) sorted = false;
  if (!sorted) keys.sort();
  let copy: Record<string, Json> | undefined = sorted ? undefined : {};
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? "";
    // Objects list numbers before names, and `__proto__` sets the prototype.
    if (key === "__proto__" || (key >= "0" && key < ":")) return undefined;
    const before = value[key];
    // As JSON.stringify does: optional properties are often set to undefined.
    if (before === undefined) continue;
    const item = inOrder(before, depth - 1);
    if (item === undefined) return undefined;
    if (item !== before) copy ??= partOf(value, keys.slice(0, i));
    if (copy !== undefined) copy[key] = item;
  }
  return copy ?? value;
}

function partOf(value: JsonObject, keys: readonly string[]): Record<string, Json> {
  const part: Record<string, Json> = {};
  for (const key of keys) {
    const item = value[key];
    if (item !== undefined) part[key] = item;
  }
  return part;
}

function listInOrder(list: readonly Json[], depth: number): readonly Json[] | undefined {
  let copy: Json[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const before = list[i] ?? null;
    const item = inOrder(before, depth - 1);
    if (item === undefined) return undefined;
    if (item === before) continue;
    copy ??= [...list];
    copy[i] = item;
  }
  return copy ?? list;
}
