/** Converts parts of messages and artifacts from and to A2A's form. Used by incoming_message.ts and task.ts. @module */
import { Buffer } from "node:buffer";
import type { Part } from "@a2a-js/sdk";
import type { PeerPart } from "../../../contracts/exchange/exchange.ts";
import { unreachable } from "../../../contracts/base/fault.ts";
import { isObject, type Json } from "../../../contracts/base/json.ts";
import { canonicalJson } from "../../../port/canonical.ts";
import { parseJson } from "../../../port/parse.ts";
import { malformed, notTaken } from "./refusal.ts";

/** The media type of a text by default. */
const TEXT = "text/plain";
const JSON_TYPE = "application/json";
const BYTES = "application/octet-stream";

/** A part's media type without parameters, in lower case. */
export function mediaTypeOf(part: PeerPart): string {
  const type = part.kind === "data" ? JSON_TYPE : part.mediaType;
  const known = (type ?? (part.kind === "text" ? TEXT : BYTES)).split(";", 1)[0] ?? "";
  return known.trim().toLowerCase();
}

/** Converts a part that was parsed with limits; its metadata is dropped. */
export function peerPartOf(part: Part): PeerPart {
  const { content } = part;
  const type = part.mediaType === "" ? {} : { mediaType: part.mediaType };
  const named = part.filename === "" ? type : { ...type, name: part.filename };
  switch (content?.$case) {
    case "text":
      return { kind: "text", text: content.value, ...type };
    case "raw":
      return { kind: "bytes", data: content.value.toString("base64"), ...named };
    case "url":
      return { kind: "link", url: content.value, ...named };
    case "data": {
      const json = canonicalJson(asJson(content.value));
      if (json.length > 262_144) throw malformed("message.parts: data longer than 262,144");
      return { kind: "data", json };
    }
    case undefined:
      throw notTaken("a part without content");
    default:
      return unreachable(content);
  }
}

/** Converts a part to A2A's form. */
export function partOf(part: PeerPart): Part {
  const none = { metadata: undefined, filename: "", mediaType: "" };
  switch (part.kind) {
    case "text":
      return {
        ...none,
        content: { $case: "text", value: part.text },
        mediaType: part.mediaType ?? "",
      };
    case "data":
      return { ...none, content: { $case: "data", value: parseJson(part.json) } };
    case "bytes":
      return {
        ...none,
        content: { $case: "raw", value: Buffer.from(part.data, "base64") },
        mediaType: part.mediaType ?? "",
        filename: part.name ?? "",
      };
    case "link":
      return {
        ...none,
        content: { $case: "url", value: part.url },
        mediaType: part.mediaType ?? "",
        filename: part.name ?? "",
      };
    default:
      return unreachable(part);
  }
}

/** Metadata as canonical JSON for storage; undefined without any. */
export function metadataText(
  metadata: Readonly<Record<string, unknown>> | undefined,
): string | undefined {
  if (metadata === undefined || Object.keys(metadata).length === 0) return undefined;
  const text = canonicalJson(asJson(metadata));
  if (text.length > 16_384) throw malformed("metadata: longer than 16,384");
  return text;
}

/** Stored metadata as an object. */
export function metadataOf(text: string | undefined): Record<string, Json> | undefined {
  if (text === undefined) return undefined;
  const value = parseJson(text);
  return isObject(value) ? { ...value } : undefined;
}

/** TRUST: the value comes from parseJson, through a schema that keeps values. */
function asJson(value: unknown): Json {
  return value as Json;
}
