/** A line of a recording: one exchange with a provider, without what could be a credential. @module */
import { z } from "zod";
import { Fault } from "../../contracts/fault.ts";

/** A piece of an answer: milliseconds since the request, and its text; or base64 where it is not UTF-8. */
const Piece = z.union([
  z.tuple([z.number(), z.string()]),
  z.tuple([z.number(), z.object({ base64: z.string() }).strict()]),
]);

/** One exchange. */
export const Exchange = z.object({
  v: z.literal(1),
  request: z.object({
    method: z.enum(["GET", "POST"]),
    /** Absolute. */
    url: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
  }).strict(),
  response: z.object({
    /** 0: none came. */
    status: z.int().min(0).max(599),
    headers: z.record(z.string(), z.string()),
    chunks: z.array(Piece),
    /** The answer broke off, or was left before its end. */
    broken: z.literal(true).optional(),
    /** The exchange was too long to keep; its pieces are missing. */
    cut: z.literal(true).optional(),
  }).strict(),
}).strict();
/** See {@link Exchange}. */
export type Exchange = z.infer<typeof Exchange>;

/** Longest line of a recording in characters: what `RemoteConfig.replay` can hold. */
export const EXCHANGE_CHARS = 3_000_000;

/** Headers that tell what was asked and how to read the answer, and never who asked. */
const KEPT: ReadonlySet<string> = new Set([
  "accept",
  "anthropic-beta",
  "anthropic-version",
  "content-type",
  "retry-after",
  "retry-after-ms",
]);

/** The headers that a recording keeps. */
export function keptHeaders(headers: Iterable<readonly [string, string]>): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => KEPT.has(name.toLowerCase())));
}

/** Makes the text of a piece. */
export function pieceOf(offset: number, bytes: Uint8Array): Exchange["response"]["chunks"][number] {
  const at = Math.round(offset);
  try {
    return [at, new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)];
  } catch {
    return [at, { base64: bytes.toBase64() }];
  }
}

/** The bytes of a piece. */
export function bytesOf(
  [, piece]: Exchange["response"]["chunks"][number],
): Uint8Array<ArrayBuffer> {
  return typeof piece === "string"
    ? new TextEncoder().encode(piece)
    : Uint8Array.fromBase64(piece.base64);
}

/** Writes a line. One that would be too long is written without its pieces and marked. */
export function lineOf(exchange: Exchange): string {
  const line = JSON.stringify(exchange);
  if (line.length <= EXCHANGE_CHARS) return line;
  const { request, response } = exchange;
  return JSON.stringify({
    ...exchange,
    request: { ...request, body: "" },
    response: { ...response, chunks: [], cut: true },
  });
}

/** Reads a recording. Throws `invalidInput` with the number of the line that is not one. */
export function parseRecording(text: string): readonly Exchange[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line, index) => {
    try {
      return Exchange.parse(JSON.parse(line));
    } catch (cause) {
      throw new Fault(
        "invalidInput",
        `Cannot replay: line ${index + 1} of the recording is not an exchange`,
        { cause },
      );
    }
  });
}
