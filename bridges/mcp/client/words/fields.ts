/**
 * Members of what a server says, read by hand: contracts/exchange/mcp.ts has the same bounds as schemas, whose library would take
 * 12 ms of each bridge's start.
 * @module
 */
import { isObject, type Json, type JsonObject } from "../../../../contracts/base/json.ts";

/** A member that is not as it must be: it is left out, with the reason. */
export class Malformed extends Error {}

/** Reads members of one object. Null counts as absent: some servers write it for what they do not have. */
export interface Fields {
  /** A text of at most `units`, or nothing. */
  text(name: string, units: number): string | undefined;
  /** A text of one to `units`. */
  needed(name: string, units: number): string;
  flag(name: string): boolean | undefined;
  number(name: string): number | undefined;
  object(name: string): JsonObject | undefined;
  list(name: string, most: number): readonly Json[];
}

/** The members of `item`, which {@link Malformed} is thrown for. */
export function fieldsOf(item: JsonObject): Fields {
  const get = (name: string): Json | undefined => {
    const value = Object.hasOwn(item, name) ? item[name] : undefined;
    return value === null ? undefined : value;
  };
  const text = (name: string, units: number): string | undefined => {
    const value = get(name);
    if (value === undefined) return undefined;
    if (typeof value !== "string") throw new Malformed(`${name} is no text`);
    if (value.length > units) throw new Malformed(`${name} is longer than ${units} characters`);
    return value;
  };
  return {
    text,
    needed(name, units) {
      const value = text(name, units);
      if (value === undefined || value === "") throw new Malformed(`${name} is missing`);
      return value;
    },
    flag(name) {
      const value = get(name);
      if (value === undefined || typeof value === "boolean") return value;
      throw new Malformed(`${name} is neither true nor false`);
    },
    number(name) {
      const value = get(name);
      if (value === undefined || typeof value === "number") return value;
      throw new Malformed(`${name} is no number`);
    },
    object(name) {
      const value = get(name);
      if (value === undefined || isObject(value)) return value;
      throw new Malformed(`${name} is no object`);
    },
    list(name, most) {
      const value = get(name) ?? [];
      if (!Array.isArray(value)) throw new Malformed(`${name} is no list`);
      if (value.length > most) throw new Malformed(`${name} has more than ${most} items`);
      return value;
    },
  };
}

/** The members that have a value. */
export function present<T extends object>(
  members: { readonly [K in keyof T]: T[K] | undefined },
): T {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as T;
}
