/** An answer's bytes, within limits: size, length of a line, credential taken out. @module */
import { Fault } from "../../../contracts/fault.ts";
import type { ByteScrub } from "../redact/scrub.ts";

/** Most bytes of one answer, after decompression. */
const ANSWER_BYTES = 16 * 1024 * 1024;
/** Most bytes of a line of a stream. */
export const LINE_BYTES = 1024 * 1024;
/** So many bytes are progress although no line ended. */
const PROGRESS_BYTES = 4_096;
const NEWLINE = 0x0a;

/** What a body is read with. */
interface BodyParts {
  readonly host: string;
  readonly scrub: ByteScrub;
  /** Longest line in bytes; absent: not looked at. */
  readonly lineBytes: number | undefined;
  /** A line ended, or much came. */
  readonly onProgress: () => void;
  readonly onBytes: (bytes: Uint8Array) => void;
}

/** Gives on what `source` holds. Rejects with `upstream` past a limit, and with what `source` rejects. */
export async function* boundedBody(
  source: AsyncIterable<Uint8Array<ArrayBuffer>>,
  { host, scrub, lineBytes = Infinity, onProgress, onBytes }: BodyParts,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  let total = 0;
  let line = 0;
  let sinceProgress = 0;
  for await (const bytes of source) {
    total += bytes.length;
    if (total > ANSWER_BYTES) throw tooMuch(host, `more than ${ANSWER_BYTES} bytes`);
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

/** The longest line that a piece begins, continues or holds. */
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

// A bounded answer as text.

/** Reads `body` to its end. Rejects as it does. */
export async function textOfBody(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  for await (const bytes of body) parts.push(decoder.decode(bytes, { stream: true }));
  return parts.join("") + decoder.decode();
}
