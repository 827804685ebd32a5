/** JSON values as they cross a port. @module */

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object; keys are data, never merged into another object. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Whether a value is there and an object, no list. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is there and a list. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** A JSON copy of a value of ours: absent properties stay away, the result shares nothing. */
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
