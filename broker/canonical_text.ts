/** Canonical JSON text, fast where nothing unusual is in the value. @module */
import type { Json, JsonObject } from "../contracts/mod.ts";
import { canonicalJson } from "../port/mod.ts";

/**
 * The text of {@link canonicalJson}, made by one `JSON.stringify` over a value whose keys are put in
 * order first. What that cannot write canonically goes the long way.
 * @throws {Fault} `invalidInput` as {@link canonicalJson}.
 */
export function canonicalText(value: JsonObject): string {
  const ordered = inOrder(value);
  if (ordered === undefined) return canonicalJson(value);
  const text = JSON.stringify(ordered);
  // A lone surrogate is written as an escape: canonicalJson says whether this is one, and throws.
  return text.includes("\\ud") ? canonicalJson(value) : text;
}

/** The value with every object's keys in order; undefined when an object cannot hold them so. */
function inOrder(value: Json): Json | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return listInOrder(value);
  const keys = Object.keys(value);
  let sorted = true;
  for (let i = 1; i < keys.length; i++) if ((keys[i] ?? "") < (keys[i - 1] ?? "")) sorted = false;
  if (!sorted) keys.sort();
  let copy: Record<string, Json> | undefined = sorted ? undefined : {};
  for (const key of keys) {
    // Objects list numbers before names and take `__proto__` for something else.
    if (!sorted && (key === "__proto__" || (key >= "0" && key < ":"))) return undefined;
    const before = value[key];
    const item = before === undefined ? undefined : inOrder(before);
    if (item === undefined) return undefined;
    if (copy !== undefined) copy[key] = item;
    else if (item !== before) {
      if (keys.includes("__proto__")) return undefined;
      copy = { ...value, [key]: item };
    }
  }
  return copy ?? value;
}

function listInOrder(list: readonly Json[]): readonly Json[] | undefined {
  let copy: Json[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const before = list[i] ?? null;
    const item = inOrder(before);
    if (item === undefined) return undefined;
    if (item === before) continue;
    copy ??= [...list];
    copy[i] = item;
  }
  return copy ?? list;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
