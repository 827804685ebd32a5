/**
 * Converts a server's results to bounded, typed parts (contracts/wire/wire_mcp.ts); no link is
 * followed. Used by server_ops.ts and call.ts.
 * @module
 */
import { isObject, type Json, type JsonObject } from "../../../../contracts/base/json.ts";
import type { McpCallResult, McpPart } from "../../../../contracts/wire/wire_mcp.ts";
import { cutText, MAX_RESULT_PARTS, MAX_RESULT_UNITS } from "../limits.ts";

const MAX_TEXT_UNITS = 8_000_000;
const MAX_BLOB_UNITS = 12_000_000;
const MAX_URI_UNITS = 4_096;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The result of a tool. */
export function toolResult(result: JsonObject): McpCallResult {
  const room = makeRoom();
  for (const block of listOf(result["content"])) room.add(block);
  return room.result(result["isError"] === true);
}

/** The result of reading a resource. */
export function resourceResult(result: JsonObject): McpCallResult {
  const room = makeRoom();
  for (const resource of listOf(result["contents"])) room.resource(resource);
  return room.result(false);
}

/** The result of a prompt: a text `user:` or `assistant:` precedes each message's parts. */
export function promptResult(result: JsonObject): McpCallResult {
  const room = makeRoom();
  for (const message of listOf(result["messages"])) {
    if (!isObject(message)) continue;
    room.text(message["role"] === "assistant" ? "assistant:" : "user:");
    const { content } = message;
    for (const block of Array.isArray(content) ? content : [content]) room.add(block);
  }
  return room.result(false);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function named(value: Json | undefined, units: number): string | undefined {
  return typeof value === "string" ? cutText(value, units) : undefined;
}

/** Collects parts up to the limits, and counts the bytes that were left out. */
function makeRoom() {
  const parts: McpPart[] = [];
  let left = MAX_RESULT_UNITS, cut = 0;

  function leaveOut(value: Json | undefined): void {
    cut += value === undefined ? 0 : JSON.stringify(value).length;
  }

  /** The part of a text that fits the remaining room. */
  function fitting(text: string): string {
    const fit = text.slice(0, Math.min(left, MAX_TEXT_UNITS));
    cut += text.length - fit.length;
    left -= fit.length;
    return fit;
  }

  const isFull = (): boolean => parts.length >= MAX_RESULT_PARTS || left <= 0;

  const room = {
    result: (isError: boolean): McpCallResult => ({ isError, parts, cutBytes: cut }),
    text(text: string): void {
      parts.push({ kind: "text", text: fitting(text) });
    },
    add(block: Json | undefined): void {
      if (isFull() || !isObject(block)) return leaveOut(block);
      const { type, text, data } = block;
      if (type === "text" && typeof text === "string") return room.text(text);
      if (type === "image" || type === "audio") return room.blob(data, type, block);
      if (type === "resource") return room.resource(block["resource"]);
      const uri = block["uri"];
      if (type === "resource_link" && typeof uri === "string" && uri.length <= MAX_URI_UNITS) {
        const mimeType = named(block["mimeType"], 256);
        parts.push({
          ...{ kind: "link", uri, name: named(block["name"], 512) ?? "" },
          ...(mimeType === undefined ? {} : { mimeType }),
        });
      } else leaveOut(block);
    },
    blob(blob: Json | undefined, what: "image" | "audio" | "resource", of: JsonObject): void {
      const fits = typeof blob === "string" && blob.length <= Math.min(left, MAX_BLOB_UNITS);
      if (!fits || !BASE64.test(blob)) return leaveOut(of);
      left -= blob.length;
      const uri = of["uri"];
      parts.push({
        ...{ kind: "blob", what, data: blob },
        mimeType: named(of["mimeType"], 256) ?? "application/octet-stream",
        ...(typeof uri === "string" && uri.length <= MAX_URI_UNITS ? { uri } : {}),
      });
    },
    resource(resource: Json | undefined): void {
      if (isFull() || !isObject(resource)) return leaveOut(resource);
      const { uri, text, blob } = resource;
      if (typeof uri !== "string" || uri.length > MAX_URI_UNITS) return leaveOut(resource);
      if (typeof text !== "string") return room.blob(blob, "resource", resource);
      const mimeType = named(resource["mimeType"], 256);
      parts.push({
        ...{ kind: "resource", uri, text: fitting(text) },
        ...(mimeType === undefined ? {} : { mimeType }),
      });
    },
  };
  return room;
}
