/**
 * Reads members of a server's objects by hand: contracts/exchange/mcp.ts has the same bounds as
 * schemas, but the schema library would add 12 ms to the start of each bridge. Used by listing.ts
 * and bridges/a2a/client/card.ts.
 * @module
 */
import { isObject, type Json, type JsonObject } from "../../../../contracts/base/json.ts";

/** A member of the wrong type or size; its item is left out, with the message as the reason. */
export class Malformed extends Error {}

/** Reads members of one object, null as absent: some servers write null for what they do not have. */
export interface Fields {
  /** A text of at max `units`; undefined when absent. */
  text(name: string, units: number): string | undefined;
  /** A text of 1 to `units`, which must be present. */
  needed(name: string, units: number): string;
  flag(name: string): boolean | undefined;
  number(name: string): number | undefined;
  object(name: string): JsonObject | undefined;
  list(name: string, max: number): readonly Json[];
}

/** Makes the reader of an object's members. Its methods throw {@link Malformed}. */
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
    list(name, max) {
      const value = get(name) ?? [];
      if (!Array.isArray(value)) throw new Malformed(`${name} is no list`);
      if (value.length > max) throw new Malformed(`${name} has more than ${max} items`);
      return value;
    },
  };
}
