/** JSON values as they cross a port. @module */

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object; keys are data, never merged into another object. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Whether a value is a JSON object: not null, not a list. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is a JSON list. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** A deep JSON copy of a trusted value; undefined properties are dropped. */
export function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

/** {@link toJson} for objects. */
export function toJsonObject(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

/** The members that are not undefined. */
export function present<T extends object>(
  members: { readonly [K in keyof T]: T[K] | undefined },
): T {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as T;
}
