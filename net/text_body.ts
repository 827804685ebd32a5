/** Bodies as text, where they are text. @module */
import { Buffer } from "node:buffer";
import type { NetAnswer } from "../contracts/wire_net.ts";

const TEXT =
  /^(?:text\/|message\/|image\/svg\+xml|application\/(?:[a-z0-9.+-]*\+)?(?:json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-ndjson|ndjson|jsonl|graphql|sql|csv|x-www-form-urlencoded|x-sh|rtf|x-tex)$)/;
const BINARY = /^(?:image|audio|video|font)\/|^application\/(?:pdf|zip|gzip|x-tar|wasm|vnd\.)/;
const HEAD = 1_024;

/** The type of an answer in lower case without parameters; empty when it names none. */
export function mediaType(answer: Pick<NetAnswer, "headers">): string {
  return (answer.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/** The body's bytes. */
export function bodyBytes(answer: Pick<NetAnswer, "body">): Uint8Array {
  return Buffer.from(answer.body, "base64");
}

/**
 * The body as text by its charset (header, byte order mark, `meta` element, else UTF-8), without
 * the mark; undefined for what is not text: a type that is not, a NUL byte, and what is not UTF-8
 * although nothing says that it is anything else.
 */
export function tryText(answer: Pick<NetAnswer, "body" | "headers" | "cut">): string | undefined {
  const type = mediaType(answer);
  if (BINARY.test(type) && !TEXT.test(type)) return undefined;
  const bytes = bodyBytes(answer);
  const named = charsetOf(answer.headers["content-type"] ?? "", bytes);
  const decoder = decoderOf(named);
  if (decoder === undefined && !TEXT.test(type)) return plainText(bytes, answer.cut);
  const text = (decoder ?? new TextDecoder()).decode(bytes);
  return text.includes("\0") ? undefined : text;
}

function plainText(bytes: Uint8Array, cut: boolean): string | undefined {
  try {
    // A cut may have gone through a character: with `stream` an unfinished one is no error.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: cut });
    return text.includes("\0") ? undefined : text;
  } catch {
    // Not UTF-8, hence not text.
    return undefined;
  }
}

function charsetOf(contentType: string, bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  const named = /;\s*charset\s*=\s*"?([A-Za-z0-9_.:+-]{1,40})/i.exec(contentType)?.[1];
  if (named !== undefined) return named;
  if (!/html|xml/i.test(contentType)) return undefined;
  let head = "";
  for (const byte of bytes.subarray(0, HEAD)) head += String.fromCharCode(byte);
  return /<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*["']?([A-Za-z0-9_.:+-]{1,40})/i
    .exec(head)?.[1];
}

function decoderOf(label: string | undefined): TextDecoder | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label);
  } catch {
    // A charset that nobody knows says nothing.
    return undefined;
  }
}
