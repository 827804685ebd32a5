/** Parses plugins' results, and writes faults for plugins. @module */
import { Fault, type FaultCode, isFaultCode } from "../../contracts/base/fault.ts";
import { isList, type Json, type JsonObject } from "../../contracts/base/json.ts";
import { parseJson } from "../../port/mod.ts";
import { MESSAGE_CHARACTERS, VALUE_LIMITS } from "./bounds.ts";
import type { LiveCall } from "./live_call.ts";

/** Codes that a plugin's own faults may have. Any other only if the kernel sent it in this call. */
const OWN_CODES: ReadonlySet<FaultCode> = new Set<FaultCode>([
  "tooLarge",
  "invalidInput",
  "invalidArguments",
  "notFound",
  "alreadyExists",
  "refused",
  "budgetExhausted",
  "conflict",
  "upstream",
  "unavailable",
]);

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The value if it is an object; else undefined. */
export function jsonObject(value: Json | undefined): JsonObject | undefined {
  return typeof value === "object" && value !== null && !isList(value) ? value : undefined;
}

/** A fault as an envelope for the plugin. */
export function textOfFault(fault: Fault): string {
  const message = fault.message.slice(0, MESSAGE_CHARACTERS);
  return JSON.stringify({ ok: false, error: { code: fault.code, message } });
}

/**
 * Parses a call's final envelope. `"discard":true` in it marks the instance as unusable; so does an
 * invalid envelope.
 * @throws {Fault} the plugin's own, or `upstream` for an invalid envelope
 */
export function readEnvelope(call: LiveCall): Json {
  const { ok, value, error, discard = false, ...rest } = parseOutput(call);
  const { code, message } = jsonObject(error) ?? {};
  const isError = typeof code === "string" && typeof message === "string" && value === undefined;
  if (
    typeof ok !== "boolean" || typeof discard !== "boolean" || Object.keys(rest).length > 0 ||
    !(ok ? value !== undefined && error === undefined : isError)
  ) throw noResult(call, "it is not an envelope");
  call.discard ||= discard;
  if (value !== undefined) return value;
  const known = typeof code === "string" && isFaultCode(code) &&
    (OWN_CODES.has(code) || call.heard.has(code));
  throw new Fault(known ? code : "upstream", String(message).slice(0, MESSAGE_CHARACTERS));
}

function parseOutput(call: LiveCall): JsonObject {
  if (call.output === undefined) throw noResult(call, "it set none");
  try {
    const text = decoder.decode(call.output);
    const value = parseJson(text, { frameBytes: call.outputBytes, ...VALUE_LIMITS });
    return jsonObject(value) ?? {};
  } catch (error) {
    if (error instanceof Fault && error.code === "tooLarge") throw error;
    throw noResult(call, "it is not JSON, or repeats a key", error);
  }
}

function noResult(call: LiveCall, why: string, cause?: unknown): Fault {
  call.discard = true;
  return new Fault("upstream", `Cannot read the result of ${call.label}: ${why}`, { cause });
}

/**
 * Decodes the whole output as text.
 * @throws {Fault} `upstream` when it is not UTF-8
 */
export function readRaw(call: LiveCall): string {
  try {
    return call.output === undefined ? "" : decoder.decode(call.output);
  } catch (cause) {
    throw noResult(call, "it is not UTF-8", cause);
  }
}
