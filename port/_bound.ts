/** Depth and count of a JSON value, in one walk. @module */
import type { Json } from "../contracts/json.ts";
import { Fault } from "../contracts/fault.ts";

/** Array.isArray that narrows readonly arrays too. */
export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** Freezes a value that was just parsed, in place; returns how many nodes are left of `nodes`. Throws `tooLarge`. */
export function settle(value: Json, depth: number, nodes: number): number {
  let left = spend(nodes);
  if (typeof value !== "object" || value === null) return left;
  descend(depth);
  if (isList(value)) { for (const item of value) left = settle(item, depth - 1, left); }
  else for (const key in value) left = settle(value[key] ?? null, depth - 1, left);
  Object.freeze(value);
  return left;
}

/** As {@link settle}, for a value that is about to be sent: looks, and leaves it as it is. */
export function measure(value: Json, depth: number, nodes: number): number {
  let left = spend(nodes);
  if (typeof value !== "object" || value === null) return left;
  descend(depth);
  if (isList(value)) { for (const item of value) left = measure(item, depth - 1, left); }
  else for (const key in value) left = measure(value[key] ?? null, depth - 1, left);
  return left;
}

function spend(nodes: number): number {
  if (nodes <= 0) throw new Fault("tooLarge", "Cannot take JSON value: too many nodes");
  return nodes - 1;
}

function descend(depth: number): void {
  if (depth <= 0) throw new Fault("tooLarge", "Cannot take JSON value: nested too deeply");
}
