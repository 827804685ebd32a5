/** JSON values whose objects hold their keys in order. @module */
import { isList, type Json, type JsonObject } from "../contracts/base/json.ts";

/**
 * The value with the keys of every object in order of UTF-16 code units, itself where they are so
 * already: JSON.stringify then writes its canonical text, lone surrogates apart. Undefined for what no
 * object holds in order (keys that begin with a digit, `__proto__`), for what is not JSON, and past
 * `depth` levels.
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
    // Objects list numbers before names, and take `__proto__` for something else.
    if (key === "__proto__" || (key >= "0" && key < ":")) return undefined;
    const before = value[key];
    // Absent, as in JSON.stringify: optional properties are often set to undefined.
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
