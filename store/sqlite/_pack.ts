/**
 * Event bodies as they lie on disk: half their size, because most of a body is digests and field
 * names. Packing is a bijection onto its image, and reading checks that: no two byte strings read
 * as one body.
 *
 * A packed body is its UTF-8 text, in which the bytes below 0x20, that JSON text never holds raw,
 * stand for what follows them:
 *
 * - 0x01 and 32 bytes: 64 hex digits;
 * - 0x02, a length of two bytes (big-endian) and so many bytes: base64url text without padding;
 * - 0x03 and one byte: a string of {@link WORDS} by its number, in quotes;
 * - 0x04 and one byte: the same, with the colon of a field name;
 * - 0x00 as the very first byte: all that follows is the text as it is.
 *
 * @module
 */
import { Buffer } from "node:buffer";

const [RAW, HEX, BASE64, WORD, FIELD] = [0, 1, 2, 3, 4];
const MOST_BASE64 = 65_535;

// Part of the format: words may be added at the end, never moved, and never more than 256.
const WORDS = (
  "h s k private call at task kind outcome ok error tool decision mode auto consent stepUp " +
  "forbidden consented reused denied queued rule turn pid session principal conversation model " +
  "backend nonce runner hosted harness descriptor snapshot permission effect read stage " +
  "mutateLocal outboundRead outboundWrite destructive admin colour BLUE YELLOW RED label public " +
  "internal secret lease key argumentsHash expiresAt resultHash resultBytes ms question actor " +
  "scope step code status from to phase reason why profile operator guest anonymous id parent " +
  "usage inputTokens outputTokens cachedTokens money finish stop toolCalls text role system user " +
  "assistant content seq bytes digest path version name signal exit message limit state by " +
  "channel terminal refusedByPolicy deniedByUser executionError timedOut cancelled " +
  "invalidArguments unknownTool open blocked needsApproval reviewing done failed expired main " +
  "scripted demo model tools resource right grantedAt until ppid spec depth started ended"
).split(" ").filter((word, i, all) => all.indexOf(word) === i);
const NUMBER: ReadonlyMap<string, number> = new Map(WORDS.map((word, i) => [word, i]));

// deno-lint-ignore no-control-regex -- what JSON text never holds
const CONTROL = /[\x00-\x1f]/;
const PART = /[0-9a-f]{64}|[A-Za-z0-9_-]{43,}|"[A-Za-z]{1,24}":?/g;
const BASE64URL = { alphabet: "base64url", omitPadding: true } as const;
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const ENCODER = new TextEncoder();

/** Bytes of base64url text, if they write it again. */
function tryBase64(text: string): Uint8Array | undefined {
  // Of four lengths modulo 4 base64 has three; the decoder's own error costs far more than this.
  if (text.length % 4 === 1) return undefined;
  const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
  return bytes.length <= MOST_BASE64 && bytes.toBase64(BASE64URL) === text ? bytes : undefined;
}

/** Packs a body. */
export function packBody(text: string): Uint8Array {
  if (CONTROL.test(text)) return Buffer.concat([Uint8Array.of(RAW), ENCODER.encode(text)]);
  const out = new Uint8Array(text.length * 3);
  let length = 0;
  const literal = (from: number, to: number): void => {
    for (let i = from; i < to; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) {
        length += ENCODER.encodeInto(text.slice(i, to), out.subarray(length)).written;
        return;
      }
      out[length++] = code;
    }
  };
  let done = 0;
  const mark = (index: number, part: string, ...codes: readonly number[]): void => {
    literal(done, index);
    for (const code of codes) out[length++] = code;
    done = index + part.length;
  };
  PART.lastIndex = 0;
  for (let found = PART.exec(text); found !== null; found = PART.exec(text)) {
    const { index, 0: part } = found;
    if (part.charCodeAt(0) === 0x22) {
      const field = part.endsWith(":");
      const number = NUMBER.get(part.slice(1, field ? -2 : -1));
      if (number !== undefined) mark(index, part, field ? FIELD : WORD, number);
      // A closing quote may open the next match: look again from it.
      else PART.lastIndex = index + 1;
      continue;
    }
    const bytes = PLAIN_HEX.test(part) ? Uint8Array.fromHex(part) : tryBase64(part);
    if (bytes === undefined) continue;
    if (part.length === 64 && PLAIN_HEX.test(part)) mark(index, part, HEX);
    else mark(index, part, BASE64, bytes.length >> 8, bytes.length & 0xff);
    out.set(bytes, length);
    length += bytes.length;
  }
  literal(done, text.length);
  return out.slice(0, length);
}
const PLAIN_HEX = /^[0-9a-f]{64}$/;

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

function tryExpand(packed: Uint8Array): string | undefined {
  if (packed[0] === RAW) return UTF8.decode(packed.subarray(1));
  const parts: Uint8Array[] = [];
  let literal = 0;
  let at = 0;
  const expand = (text: string, length: number): void => {
    parts.push(packed.subarray(literal, at), ENCODER.encode(text));
    at += length;
    literal = at;
  };
  while (at < packed.length) {
    const code = packed[at] ?? 0;
    if (code >= 0x20) at++;
    else if (code === HEX) expand(packed.subarray(at + 1, at + 33).toHex(), 33);
    else if (code === BASE64) {
      const length = ((packed[at + 1] ?? 0) << 8) | (packed[at + 2] ?? 0);
      expand(packed.subarray(at + 3, at + 3 + length).toBase64(BASE64URL), 3 + length);
    } else if (code === WORD || code === FIELD) {
      const word = WORDS[packed[at + 1] ?? WORDS.length];
      if (word === undefined) return undefined;
      expand(`"${word}"${code === FIELD ? ":" : ""}`, 2);
    } else return undefined;
  }
  parts.push(packed.subarray(literal));
  return UTF8.decode(Buffer.concat(parts));
}

/** The body that packs to exactly these bytes; undefined when there is none. */
export function tryUnpackBody(packed: Uint8Array): string | undefined {
  try {
    const text = tryExpand(packed);
    return text !== undefined && sameBytes(packBody(text), packed) ? text : undefined;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
