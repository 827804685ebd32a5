/** Parses a server's JSON-RPC message within limits and decides its kind. @module */
import { MCP_LINE } from "../../../contracts/exchange/mcp_limits.ts";
import { isObject, type Json, type JsonObject } from "../../../contracts/base/json.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { parseJson } from "../../../port/parse.ts";
import { MAX_MESSAGE_DEPTH, MAX_MESSAGE_NODES, MAX_NAME_UNITS } from "./limits.ts";

/** A JSON-RPC id. `1` and `"1"` are two ids. */
export type RpcId = string | number;

/** A parsed message. */
export type Message =
  | {
    readonly kind: "request";
    readonly id: RpcId;
    readonly method: string;
    readonly params: JsonObject | undefined;
  }
  | {
    readonly kind: "notification";
    readonly method: string;
    readonly params: JsonObject | undefined;
  }
  | { readonly kind: "result"; readonly id: RpcId; readonly result: JsonObject }
  | {
    readonly kind: "error";
    /** Null: the server could not read the request that it answers. */
    readonly id: RpcId | null;
    readonly error: { readonly code: number; readonly message: string; readonly data?: Json };
  }
  /** Not JSON-RPC, with the reason. `answers` is the request that a malformed answer was for. */
  | { readonly kind: "bad"; readonly why: string; readonly answers?: RpcId };

/** UTF-8 takes at most three bytes for a UTF-16 unit. */
const LIMITS = { frameBytes: 3 * MCP_LINE, depth: MAX_MESSAGE_DEPTH, nodes: MAX_MESSAGE_NODES };

/** Parses a message's text. Returns a message of kind `bad` instead of throwing. */
export function readMessage(text: string): Message {
  let value: Json;
  try {
    value = parseJson(text, LIMITS);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const why = error.message.replace("Cannot parse JSON: ", "");
    const answers = idIn(text);
    return { kind: "bad", why, ...(answers === undefined ? {} : { answers }) };
  }
  return sortMessage(value, mayNameProto(text));
}

/** The places of an answer's id: before its result, or at the end. */
const ID_FIRST =
  /^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*([0-9]{1,15})\s*,\s*"(?:result|error)"\s*:/;
const ID_LAST = /,\s*"id"\s*:\s*([0-9]{1,15})\s*\}\s*$/;
const SEARCHED_UNITS = 256;

/** The id in an answer that does not parse, so that its request fails now, not at the deadline. */
function idIn(text: string): RpcId | undefined {
  const [, id] = ID_FIRST.exec(text.slice(0, SEARCHED_UNITS)) ??
    ID_LAST.exec(text.slice(-SEARCHED_UNITS)) ?? [];
  return id === undefined ? undefined : Number(id);
}

/** Decides the kind of a parsed message; `searched`: it may hold a member named `__proto__`. */
export function sortMessage(value: Json, searched: boolean = true): Message {
  if (Array.isArray(value)) return { kind: "bad", why: "a batch, which no revision here has" };
  if (!isObject(value)) return { kind: "bad", why: "no object" };
  const { id, method, params } = value;
  const named = isId(id) ? id : undefined;
  const answers = method === undefined && named !== undefined ? { answers: named } : {};
  const bad = (why: string): Message => ({ kind: "bad", why, ...answers });
  if (searched && namesProto(value)) return bad('a member named "__proto__"');
  if (value["jsonrpc"] !== "2.0") return bad("not JSON-RPC 2.0");
  if (method === undefined) return sortAnswer(value, named, bad);
  if (typeof method !== "string" || method.length > MAX_NAME_UNITS) return bad("no proper method");
  if ("result" in value || "error" in value) return bad("a request and an answer in one");
  if (params !== undefined && !isObject(params)) return bad("parameters that are no object");
  if (!("id" in value)) return { kind: "notification", method, params };
  if (named === undefined) return bad("no proper id");
  return { kind: "request", id: named, method, params };
}

function sortAnswer(
  value: JsonObject,
  id: RpcId | undefined,
  bad: (why: string) => Message,
): Message {
  const { result, error } = value;
  if (result !== undefined) {
    if (error !== undefined) return bad("a result and an error in one");
    if (id === undefined) return bad("a result without a proper id");
    return isObject(result) ? { kind: "result", id, result } : bad("a result that is no object");
  }
  if (!isObject(error ?? null)) return bad("neither method, result nor error");
  const { code, message, data } = error as JsonObject;
  if (!Number.isSafeInteger(code) || typeof message !== "string") return bad("a malformed error");
  if (id === undefined && value["id"] !== null && "id" in value) {
    return bad("an error without a proper id");
  }
  return {
    kind: "error",
    id: id ?? null,
    error: { code: code as number, message, ...(data === undefined ? {} : { data }) },
  };
}

/** A JSON-RPC answer that says that a request failed. */
export function errorAnswer(id: RpcId, code: number, message: string): JsonObject {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

function isId(id: Json | undefined): id is RpcId {
  return typeof id === "string" ? id.length <= MAX_NAME_UNITS : Number.isSafeInteger(id);
}

function mayNameProto(text: string): boolean {
  return text.includes("__proto__") || text.includes("\\u");
}

function namesProto(value: Json): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Object.hasOwn(value, "__proto__")) return true;
  return Object.values(value).some(namesProto);
}
