/** Depth and count of a JSON value, in one walk. @module */
import type { Json } from "../contracts/json.ts";
import { Fault } from "../contracts/fault.ts";

/** Array.isArray that narrows readonly arrays too. */
export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** Freezes a value that was just parsed, in place; returns how many nodes are left of `nodes`. Throws `tooLarge`. */
export function settle(value: Json, depth: number, nodes: number): number {
  const left = measure(value, depth, nodes, settle);
  Object.freeze(value);
  return left;
}

/** As {@link settle}, for a value that is about to be sent: looks, and leaves it as it is. */
export function measure(
  value: Json,
  depth: number,
  nodes: number,
  inner: (value: Json, depth: number, nodes: number) => number = measure,
): number {
  let left = nodes - 1;
  if (typeof value === "object" && value !== null) {
    if (depth <= 0) throw new Fault("tooLarge", "Cannot take JSON value: nested too deeply");
    // Object.values and no call for plain values: for…in takes half as long again.
    for (const item of isList(value) ? value : Object.values(value)) {
      if (typeof item === "object" && item !== null) left = inner(item, depth - 1, left);
      else left--;
    }
  }
  if (left < 0) throw new Fault("tooLarge", "Cannot take JSON value: too many nodes");
  return left;
}
