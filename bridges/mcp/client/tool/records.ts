/** Things that a result lists: the fields of each object in it, for the gate, which knows ids by them. @module */
import { isList, isObject, type Json } from "../../../../contracts/base/json.ts";
import type { McpCallResult, McpPart } from "../../../../contracts/wire/wire_mcp.ts";
import { parseJson } from "../../../../port/parse.ts";
import { MAX_FIELDS, MAX_RECORDS } from "../../../../contracts/exchange/mcp_limits.ts";

/** Longest value that is one, and longest text that is read. */
const LONGEST = 256;
const MAX_TEXT = 1_000_000;
const LIMITS = { frameBytes: MAX_TEXT, depth: 16, nodes: 50_000 };

type Records = NonNullable<McpCallResult["records"]>;

/** Of the structured content, else of a text that is JSON; none where there are more than fit: a twin may be missing. */
export function recordsOf(structured: Json | undefined, parts: readonly McpPart[]): Records {
  const value = structured ?? jsonIn(parts);
  const records: [string, string | number][][] = [];
  const walk = (at: Json): boolean => {
    if (isList(at)) return at.every(walk);
    if (!isObject(at)) return true;
    const fields: [string, string | number][] = [];
    for (const [field, each] of Object.entries(at)) {
      for (const one of isList(each) ? each : [each]) {
        if (typeof one !== "string" && typeof one !== "number") continue;
        if (fields.length >= MAX_FIELDS) return false;
        if (String(one).length <= LONGEST) fields.push([field.slice(0, 64), one]);
      }
    }
    if (fields.length > 0) records.push(fields);
    return records.length <= MAX_RECORDS && Object.values(at).every(walk);
  };
  return value !== undefined && walk(value) ? records : [];
}

function jsonIn(parts: readonly McpPart[]): Json | undefined {
  const [part] = parts;
  if (parts.length !== 1 || part?.kind !== "text" || !/^\s*[[{]/.test(part.text)) return undefined;
  if (part.text.length > MAX_TEXT) return undefined;
  try {
    return parseJson(part.text, LIMITS);
  } catch {
    // A text that begins like JSON and is none.
    return undefined;
  }
}
