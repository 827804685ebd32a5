/** Freezing JSON values. @module */
import type { Json } from "../contracts/json.ts";

/** Freezes `value` and everything in it, in place, and returns it. It must hold no cycle. */
export function deepFreeze<T extends Json>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}
