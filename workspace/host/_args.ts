/**
 * Reads a tool's arguments in the toolhost: the gate has checked them, the host checks again.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import { type NamedPath, parsePath } from "../path.ts";

function bad(key: string, why: string): Fault {
  return new Fault("invalidArguments", `Cannot use argument "${key}": ${why}`);
}

/** An optional text of at most `max` characters. */
export function maybeText(args: JsonObject, key: string, max = 4_000_000): string | undefined {
  const value = args[key];
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw bad(key, "it is not a text");
  if (value.length > max) throw bad(key, `it is longer than ${max} characters`);
  return value;
}

/** A list of texts; empty if absent. */
export function textList(args: JsonObject, key: string): readonly string[] {
  const value = args[key] ?? [];
  if (!Array.isArray(value)) throw bad(key, "it is not a list");
  return value.map((each) => {
    if (typeof each !== "string") throw bad(key, "it holds something else than texts");
    return each;
  });
}

/** A required text of at most `max` characters. */
export function text(args: JsonObject, key: string, max?: number): string {
  const value = maybeText(args, key, max);
  if (value === undefined) throw bad(key, "it is missing");
  return value;
}

/** A whole number from 1 to `max`; `otherwise` if absent. */
export function count(args: JsonObject, key: string, otherwise: number, max: number): number {
  const value = args[key];
  if (value === undefined) return otherwise;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > max) {
    throw bad(key, `it is not a whole number from 1 to ${max}`);
  }
  return value;
}

/** A boolean; false if absent. */
export function flag(args: JsonObject, key: string): boolean {
  const value = args[key];
  if (value === undefined) return false;
  if (typeof value !== "boolean") throw bad(key, "it is neither true nor false");
  return value;
}

/** The required argument `path`, parsed. */
export function pathOf(args: JsonObject): NamedPath {
  return parsePath(text(args, "path"));
}
