/** Converts a server's results to bounded, typed parts (contracts/wire/wire_mcp.ts); no link is followed. @module */
import { isObject, type Json, type JsonObject } from "../../../../contracts/base/json.ts";
import type { McpCallResult, McpPart } from "../../../../contracts/wire/wire_mcp.ts";
import { cutText, MAX_RESULT_PARTS, MAX_RESULT_UNITS } from "../limits.ts";

const MAX_TEXT_UNITS = 8_000_000;
const MAX_BLOB_UNITS = 12_000_000;
const MAX_URI_UNITS = 4_096;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

interface Room {
  readonly parts: McpPart[];
  text(text: string): void;
  add(block: Json | undefined): void;
  blob(blob: Json | undefined, what: "image" | "audio" | "resource", of: JsonObject): void;
  resource(resource: Json | undefined): void;
  cut(): number;
}

/** The result of a tool. */
export function toolResult(result: JsonObject): McpCallResult {
  const room = makeRoom();
  const content = result["content"];
  if (Array.isArray(content)) { for (const block of content) room.add(block); }
  return { isError: result["isError"] === true, parts: room.parts, cutBytes: room.cut() };
}

/** The result of reading a resource. */
export function resourceResult(result: JsonObject): McpCallResult {
  const room = makeRoom();
  const contents = result["contents"];
  if (Array.isArray(contents)) { for (const resource of contents) room.resource(resource); }
  return { isError: false, parts: room.parts, cutBytes: room.cut() };
}

/** The result of a prompt: a text `user:` or `assistant:` precedes each message's parts. */
export function promptResult(result: JsonObject): McpCallResult {
  const room = makeRoom();
  const messages = result["messages"];
  for (const message of Array.isArray(messages) ? messages : []) {
    if (!isObject(message)) continue;
    room.text(message["role"] === "assistant" ? "assistant:" : "user:");
    const { content } = message;
    for (const block of Array.isArray(content) ? content : [content]) room.add(block);
  }
  return { isError: false, parts: room.parts, cutBytes: room.cut() };
}

function makeRoom(): Room {
  const parts: McpPart[] = [];
  let left = MAX_RESULT_UNITS, cut = 0;

  function bytesOf(value: Json | undefined): number {
    return value === undefined ? 0 : JSON.stringify(value).length;
  }

  /** The part of a text that fits the remaining room. */
  function fitting(text: string): string {
    const fit = text.slice(0, Math.min(left, MAX_TEXT_UNITS));
    cut += text.length - fit.length;
    left -= fit.length;
    return fit;
  }

  function put(part: McpPart): void {
    parts.push(part);
  }

  function named(value: Json | undefined, units: number): string | undefined {
    return typeof value === "string" ? cutText(value, units) : undefined;
  }

  const room: Room = {
    parts,
    cut: () => cut,
    text: (text) => put({ kind: "text", text: fitting(text) }),
    add(block) {
      const full = parts.length >= MAX_RESULT_PARTS || left <= 0;
      if (full || !isObject(block)) return void (cut += bytesOf(block));
      const { type, text, data } = block;
      if (type === "text" && typeof text === "string") return room.text(text);
      if (type === "image" || type === "audio") return room.blob(data, type, block);
      if (type === "resource") return room.resource(block["resource"]);
      const uri = block["uri"];
      if (type === "resource_link" && typeof uri === "string" && uri.length <= MAX_URI_UNITS) {
        const mimeType = named(block["mimeType"], 256);
        return put({
          kind: "link",
          uri,
          name: named(block["name"], 512) ?? "",
          ...(mimeType === undefined ? {} : { mimeType }),
        });
      }
      cut += bytesOf(block);
    },
    blob(blob, what, of) {
      const fits = typeof blob === "string" && blob.length <= Math.min(left, MAX_BLOB_UNITS);
      if (!fits || !BASE64.test(blob)) return void (cut += bytesOf(of));
      left -= blob.length;
      const uri = of["uri"];
      put({
        kind: "blob",
        what,
        mimeType: named(of["mimeType"], 256) ?? "application/octet-stream",
        data: blob,
        ...(typeof uri === "string" && uri.length <= MAX_URI_UNITS ? { uri } : {}),
      });
    },
    resource(resource) {
      const full = parts.length >= MAX_RESULT_PARTS || left <= 0;
      if (full || !isObject(resource)) return void (cut += bytesOf(resource));
      const { uri, text, blob } = resource;
      if (typeof uri !== "string" || uri.length > MAX_URI_UNITS) {
        return void (cut += bytesOf(resource));
      }
      if (typeof text !== "string") return room.blob(blob, "resource", resource);
      const mimeType = named(resource["mimeType"], 256);
      put({
        kind: "resource",
        uri,
        ...(mimeType === undefined ? {} : { mimeType }),
        text: fitting(text),
      });
    },
  };
  return room;
}
