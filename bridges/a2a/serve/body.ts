/** A request's body as JSON, read strictly: UTF-8, no repeated key, no key that names a prototype, bounded. @module */
import { Fault } from "../../../contracts/fault.ts";
import type { Json } from "../../../contracts/json.ts";
import { parseJson } from "../../../port/parse.ts";
import { REQUEST_LIMITS } from "./wire.ts";

/** Why a body is no JSON for us. */
export type BodyFault = "syntax" | "tooLarge" | "key";

/** What came of reading. */
export type ReadBody =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly why: BodyFault };

/** Reads it. */
export function readJson(bytes: Uint8Array | undefined): ReadBody {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return { ok: false, why: "syntax" };
    throw error;
  }
  try {
    const value = parseJson(text, REQUEST_LIMITS);
    // A plain search first: only a text that holds the word is walked.
    if (PROTOTYPE.test(text) && namesPrototype(value)) return { ok: false, why: "key" };
    // Half a character: JSON has it, UTF-8 has not, and nothing further in takes it.
    if (HALF.test(text) && holdsHalf(value)) {
      return { ok: false, why: "syntax" };
    }
    return { ok: true, value };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { ok: false, why: error.code === "tooLarge" ? "tooLarge" : "syntax" };
  }
}

/** Also where letters of it are written as escapes. */
const PROTOTYPE = /__proto__|\\u00/i;

const HALF = /\\ud[89a-f]/i;

function holdsHalf(value: Json): boolean {
  if (typeof value === "string") return !value.isWellFormed();
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsHalf);
  return Object.entries(value).some(([key, inner]) => !key.isWellFormed() || holdsHalf(inner));
}

function namesPrototype(value: Json): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(namesPrototype);
  return Object.entries(value).some(([key, inner]) => key === "__proto__" || namesPrototype(inner));
}
