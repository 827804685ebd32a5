/** The events of a provider's answer, streamed or not. @module */
import { createParser } from "eventsource-parser";
import { Fault } from "../../../contracts/base/fault.ts";
import type { WireResponse } from "../endpoint.ts";
import type { ByteScrub } from "../redact/scrub.ts";

/**
 * Yields the data of each server-sent event; the last event needs no blank line. `body` limits the length of
 * a line and of the whole.
 */
export async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let events: string[] = [];
  // An event without data only keeps the connection alive.
  const parser = createParser({ onEvent: ({ data }) => void (data !== "" && events.push(data)) });
  function read(text: string): readonly string[] {
    events = [];
    parser.feed(text);
    return events;
  }
  for await (const bytes of body) yield* read(decoder.decode(bytes, { stream: true }));
  yield* read(`${decoder.decode()}\n\n`);
}

/**
 * Yields the data of each event. A JSON document is one event: errors, and answers of servers that do not
 * stream. Rejects with `upstream` for an answer without an event.
 */
export async function* eventsOfAnswer(
  { headers, body }: Pick<WireResponse, "headers" | "body">,
  host: string,
): AsyncGenerator<string, void> {
  const type = headers.get("content-type") ?? "";
  if (/^application\/json\b/i.test(type)) {
    yield await textOfBody(body);
    return;
  }
  let came = false;
  for await (const data of eventsOf(body)) {
    came = true;
    yield data;
  }
  if (came) return;
  const what = type === "" ? "nothing" : (type.split(";", 1)[0] ?? "").slice(0, 60);
  throw new Fault(
    "upstream",
    `Cannot infer: ${host} answers with ${what} and no event of its protocol; look at the model's URL`,
  );
}

/** Bytes of one answer after decompression. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** Bytes of a line of a stream. */
export const LINE_BYTES = 1024 * 1024;
/** So many bytes count as progress even within a line. */
const PROGRESS_BYTES = 4_096;
const NEWLINE = 0x0a;

interface BodyParts {
  readonly host: string;
  readonly scrub: ByteScrub;
  /** Maximum length of a line in bytes; absent: unlimited. */
  readonly lineBytes: number | undefined;
  /** Called when a line ended or {@link PROGRESS_BYTES} came. */
  readonly onProgress: () => void;
  readonly onBytes: (bytes: Uint8Array) => void;
}

/** Yields the bytes of `source`. Rejects with `upstream` past a limit, and with every fault of `source`. */
export async function* boundedBody(
  source: AsyncIterable<Uint8Array<ArrayBuffer>>,
  { host, scrub, lineBytes = Infinity, onProgress, onBytes }: BodyParts,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  let total = 0;
  let line = 0;
  let sinceProgress = 0;
  for await (const bytes of source) {
    total += bytes.length;
    if (total > MAX_ANSWER_BYTES) throw tooMuch(host, `more than ${MAX_ANSWER_BYTES} bytes`);
    const lineEnd = bytes.lastIndexOf(NEWLINE);
    if (longest(bytes, line) > lineBytes) throw tooMuch(host, `a line of over ${lineBytes} bytes`);
    line = lineEnd < 0 ? line + bytes.length : bytes.length - lineEnd - 1;
    sinceProgress += bytes.length;
    if (lineEnd >= 0 || sinceProgress >= PROGRESS_BYTES) {
      sinceProgress = 0;
      onProgress();
    }
    const clean = scrub.push(bytes);
    if (clean.length === 0) continue;
    onBytes(clean);
    yield clean;
  }
  const rest = scrub.end();
  if (rest.length === 0) return;
  onBytes(rest);
  yield rest;
}

/** The longest line in a piece, where `before` bytes of its first line came earlier. */
function longest(bytes: Uint8Array, before: number): number {
  let most = 0;
  let from = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
    most = Math.max(most, at - from + (from === 0 ? before : 0));
    from = at + 1;
  }
  return Math.max(most, bytes.length - from + (from === 0 ? before : 0));
}

function tooMuch(host: string, what: string): Fault {
  return new Fault("upstream", `Cannot infer: ${host} sends ${what} in one answer`);
}

/** Reads `body` to its end. Rejects with every fault of `body`. */
export async function textOfBody(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  for await (const bytes of body) parts.push(decoder.decode(bytes, { stream: true }));
  return parts.join("") + decoder.decode();
}
