/** JSON values as they cross a port. @module */

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object; keys are data, never merged into another object. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** A JSON copy of a value of ours: absent properties stay away, the result shares nothing. */
export function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

/** {@link toJson} for objects. */
export function toJsonObject(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
