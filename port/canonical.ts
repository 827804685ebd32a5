/** The canonical text of a JSON value, for hashes and signatures. @module */
import { isList, type Json } from "../contracts/base/json.ts";
import { Fault } from "../contracts/base/fault.ts";
import { inOrder } from "./in_order.ts";

/** Depth up to which a copy with ordered keys is tried. */
const USUAL_DEPTH = 64;

/**
 * The canonical JSON text of `value` (RFC 8785): no whitespace, keys in order of UTF-16 code units.
 * @throws {Fault} `invalidInput` for a number that is not finite or a string with a lone surrogate.
 * @example
 * ```ts
 * import { canonicalJson } from "./canonical.ts";
 * if (canonicalJson({ b: 1, a: "é" }) !== '{"a":"é","b":1}') throw new Error("not canonical");
 * ```
 */
export function canonicalJson(value: Json): string {
  const ordered = isOrdered(value) ? value : inOrder(value, USUAL_DEPTH);
  if (ordered !== undefined) {
    const usual = JSON.stringify(ordered);
    // JSON.stringify writes a lone surrogate as this escape.
    if (!usual.includes("\\ud")) return usual;
  }
  return written(value);
}

/**
 * True where JSON.stringify writes the canonical text of `value`, except for surrogates: every number is finite and every
 * object's keys are in order. Takes a sixth of the time of {@link written}.
 */
function isOrdered(value: Json | undefined): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object") return typeof value === "string" || typeof value === "boolean";
  if (value === null) return true;
  if (isList(value)) {
    for (let i = 0; i < value.length; i++) if (!isOrdered(value[i])) return false;
    return true;
  }
  let before = "";
  for (const key in value) {
    if (key < before) return false;
    before = key;
    const item = value[key];
    if (typeof item !== "string" && item !== undefined && !isOrdered(item)) return false;
  }
  return true;
}

/** Writes any value, and names in its fault what cannot be written. */
function written(value: Json): string {
  switch (typeof value) {
    case "string":
      return text(value);
    case "number":
      if (Number.isFinite(value)) return JSON.stringify(value);
      throw new Fault("invalidInput", `Cannot canonicalize JSON: ${value} is not a JSON number`);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      return value === null ? "null" : isList(value) ? list(value) : object(value);
    default:
      throw new TypeError(`Cannot canonicalize JSON: ${typeof value} is not a JSON value`);
  }
}

function text(value: string): string {
  if (value.isWellFormed()) return JSON.stringify(value);
  throw new Fault("invalidInput", "Cannot canonicalize JSON: a string holds a lone surrogate");
}

function list(value: readonly Json[]): string {
  let out = "[";
  for (let i = 0; i < value.length; i++) {
    if (i > 0) out += ",";
    out += written(value[i] ?? null);
  }
  return out + "]";
}

function object(value: { readonly [key: string]: Json }): string {
  let out = "{";
  // sort() orders by UTF-16 code units, as the RFC requires.
  for (const key of Object.keys(value).sort()) {
    const item = value[key];
    // As JSON.stringify does: optional properties are often set to undefined.
    if (item === undefined) continue;
    if (out.length > 1) out += ",";
    out += text(key) + ":" + written(item);
  }
  return out + "}";
}
