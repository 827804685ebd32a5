/** Tells objects from other JSON. @module */
import type { Json, JsonObject } from "../contracts/json.ts";

/** Whether the value is an object with members. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
