/** The fields of each object in a result, for the gate, which recognises ids by them. @module */
import { isList, isObject, type Json } from "../../../../contracts/base/json.ts";
import type { McpCallResult } from "../../../../contracts/wire/wire_mcp.ts";
import { MAX_FIELDS, MAX_RECORDS } from "../../../../contracts/exchange/mcp_limits.ts";

/** Units of a value, at most. */
const MAX_VALUE_UNITS = 256;

type Records = NonNullable<McpCallResult["records"]>;

/**
 * Reads structured content alone: JSON inside a text may come from a stranger's file or letter.
 * Beyond the limits the result is one empty record, since a duplicate of an id may be missing.
 */
export function recordsOf(value: Json | undefined): Records {
  const records: [string, string | number][][] = [];
  const walk = (at: Json): boolean => {
    if (isList(at)) return at.every(walk);
    if (!isObject(at)) return true;
    const fields: [string, string | number][] = [];
    for (const [field, each] of Object.entries(at)) {
      for (const one of isList(each) ? each : [each]) {
        if (typeof one !== "string" && typeof one !== "number") continue;
        if (fields.length >= MAX_FIELDS) return false;
        if (String(one).length <= MAX_VALUE_UNITS) fields.push([field.slice(0, 64), one]);
      }
    }
    if (fields.length > 0) records.push(fields);
    return records.length <= MAX_RECORDS && Object.values(at).every(walk);
  };
  if (value === undefined) return [];
  return walk(value) ? records : [[]];
}
