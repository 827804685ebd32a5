/**
 * Server-sent events on their way to the SDK: each is bounded, and its message read with our limits before the SDK
 * parses it again.
 * @module
 */
import { MCP_LINE } from "../../../../contracts/mcp_limits.ts";
import { makeEventTexts } from "./event_texts.ts";
import { readMessage } from "../message.ts";
import type { Odd } from "../violations.ts";

/** Longest id of an event: it comes back as a header. */
const ID_UNITS = 1_024;
/** Milliseconds that a server may ask us to wait before we come again. */
const RETRY = { least: 100, most: 30_000 } as const;
const INTERNAL = -32_603;

/** Takes pieces of a stream and returns whole events, written anew. Throws for an event that is too long. */
export interface EventReader {
  take(text: string): string;
}

/** Makes the reader of one stream. */
export function makeEventReader(odd: Odd): EventReader {
  const take = makeEventTexts(MCP_LINE, () => new RangeError("an event that is too long"));
  return Object.freeze<EventReader>({
    take: (text) => take(text).map((event) => rewritten(event, odd)).join(""),
  });
}

function rewritten(event: string, odd: Odd): string {
  const data: string[] = [];
  let id: string | undefined, retry: string | undefined, kind = "message";
  for (const line of event.split("\n")) {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") data.push(value);
    else if (name === "id" && !value.includes("\0")) id = value;
    else if (name === "retry" && /^[0-9]{1,9}$/.test(value)) retry = value;
    else if (name === "event") kind = value === "" ? "message" : value;
  }
  if (id !== undefined && id.length > ID_UNITS) {
    odd("It numbered an event with something too long");
    id = undefined;
  }
  let out = "";
  if (id !== undefined) out += `id: ${id}\n`;
  if (retry !== undefined) {
    out += `retry: ${Math.min(RETRY.most, Math.max(RETRY.least, Number(retry)))}\n`;
  }
  const text = data.join("\n");
  // An event without a message numbers the stream all the same, if it has a line of data.
  const message = kind !== "message" || data.length === 0
    ? undefined
    : text.trim() === ""
    ? ""
    : checked(text, odd);
  if (message !== undefined) out += `data: ${message}\n`;
  return out === "" ? "" : `${out}\n`;
}

/** The message on one line; an answer that is broken becomes an error, so that nobody waits for it. */
function checked(text: string, odd: Odd): string | undefined {
  const message = readMessage(text);
  if (message.kind !== "bad") return text.includes("\n") ? JSON.stringify(JSON.parse(text)) : text;
  odd(`It sent what is no message: ${message.why}`);
  if (message.answers === undefined) return undefined;
  const error = { code: INTERNAL, message: `The answer is ${message.why}` };
  return JSON.stringify({ jsonrpc: "2.0", id: message.answers, error });
}
