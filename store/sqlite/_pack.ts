/**
 * Packs event bodies for the disk, to half their size, because a body is mostly digests and field
 * names. Packing is a bijection onto its image, and reading checks that: no two byte strings read
 * as one body.
 *
 * A packed body is its UTF-8 text, in which bytes below 0x20, which JSON text never contains raw,
 * replace a string and its quotes:
 *
 * - 0x01 and 32 bytes: 64 hex digits;
 * - 0x02, a length of two bytes (big-endian) and that number of bytes: base64url text without padding, of at least 43
 *   characters;
 * - 0x03 and one byte: a string of {@link WORDS} by its number;
 * - 0x04 and one byte: the same, and the colon after a field's name;
 * - 0x00 as the first byte: the rest is the unpacked text.
 *
 * Used by _writer.ts and store.ts.
 *
 * @module
 */
import { Buffer } from "node:buffer";

const [RAW, HEX, BASE64, WORD, FIELD] = [0, 1, 2, 3, 4];
const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const MAX_WORD = 24;
const [SHORTEST_BASE64, LONGEST_BASE64] = [43, 87_380];

// Part of the format: words may be added at the end, up to 256, and never moved.
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

/** The encodings that allow a byte of a string, as bits; {@link STOP} for a byte that needs a check. */
const [LETTER, HEX_DIGIT, BASE64_DIGIT, STOP] = [1, 2, 4, 8];
const KIND = new Uint8Array(256).fill(STOP, 0, 0x20);
KIND[QUOTE] = KIND[BACKSLASH] = STOP;

/** Values of digits, hex and base64url. */
const HEX_VALUE = new Uint8Array(256);
const BASE64_VALUE = new Uint8Array(256);
for (
  const [i, char] of [...("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")]
    .entries()
) {
  const code = char.charCodeAt(0);
  BASE64_VALUE[code] = i;
  KIND[code] = BASE64_DIGIT | (/[A-Za-z]/.test(char) ? LETTER : 0);
}
for (const [i, char] of [..."0123456789abcdef"].entries()) {
  const code = char.charCodeAt(0);
  HEX_VALUE[code] = i;
  KIND[code] = (KIND[code] ?? 0) | HEX_DIGIT;
}

const ENCODER = new TextEncoder();
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const WORD_BYTES = WORDS.map((word) => ENCODER.encode(word));

/** Numbers of words plus one, by {@link slot}; {@link NEXT} has the next word of the same slot. */
const SLOTS = new Uint16Array(1_024);
const NEXT = new Uint16Array(WORDS.length + 1);
for (const [number, bytes] of WORD_BYTES.entries()) {
  const at = slot(bytes, 0, bytes.length);
  NEXT[number + 1] = SLOTS[at] ?? 0;
  SLOTS[at] = number + 1;
}

/** Hashes a word by its length and three letters: most slots have one word. */
function slot(buffer: Uint8Array, from: number, length: number): number {
  const [first, middle, last] = [
    buffer[from] ?? 0,
    buffer[from + (length >> 1)] ?? 0,
    buffer[from + length - 1] ?? 0,
  ];
  return (length * 7 + first * 31 + middle * 257 + last * 73) & 1_023;
}

/** The number of the word at `from`, or -1. */
function wordAt(buffer: Uint8Array, from: number, length: number): number {
  for (let at = SLOTS[slot(buffer, from, length)] ?? 0; at > 0; at = NEXT[at] ?? 0) {
    const word = WORD_BYTES[at - 1];
    if (word?.length !== length) continue;
    let i = 0;
    while (i < length && word[i] === buffer[from + i]) i++;
    if (i === length) return at - 1;
  }
  return -1;
}

/** Writes the bytes of hex text at `to`, which is not after the text. */
function packHex(buffer: Uint8Array, from: number, to: number): void {
  for (let i = 0; i < 32; i++) {
    const high = HEX_VALUE[buffer[from + 2 * i] ?? 0] ?? 0;
    buffer[to + i] = (high << 4) | (HEX_VALUE[buffer[from + 2 * i + 1] ?? 0] ?? 0);
  }
}

/** True where base64url text of this length and last digit is its bytes' canonical text. */
function isExact(length: number, last: number): boolean {
  const spare = [0, -1, 0b1111, 0b11][length % 4] ?? 0;
  return spare !== -1 && ((BASE64_VALUE[last] ?? 0) & spare) === 0;
}

/** Like {@link packHex}, for base64url text of `length` characters; returns the number of bytes. */
function packBase64(buffer: Uint8Array, from: number, length: number, to: number): number {
  let at = to;
  let read = from;
  const digit = (): number => BASE64_VALUE[buffer[read++] ?? 0] ?? 0;
  for (const end = from + length - 3; read < end;) {
    const held = (digit() << 18) | (digit() << 12) | (digit() << 6) | digit();
    buffer[at++] = held >> 16;
    buffer[at++] = held >> 8;
    buffer[at++] = held;
  }
  const spare = length % 4;
  if (spare > 0) {
    const held = (digit() << 12) | (digit() << 6) | (spare === 3 ? digit() : 0);
    buffer[at++] = held >> 10;
    if (spare === 3) buffer[at++] = held >> 2;
  }
  return at - to;
}

function packRaw(text: string): Uint8Array {
  return Buffer.concat([Uint8Array.of(RAW), ENCODER.encode(text)]);
}

/** Buffer for texts that need no separate array. */
const SCRATCH = new Uint8Array(3 * 65_536 + 1);

/**
 * Packs a body in one pass over its bytes, in place, because the output is never longer. The result
 * is valid until the next call, which may use the same array.
 */
export function packBody(text: string): Uint8Array {
  const room = text.length * 3 + 1;
  const buffer = room <= SCRATCH.length ? SCRATCH : new Uint8Array(room);
  const end = ENCODER.encodeInto(text, buffer).written;
  // A sentinel: every search for the end of a string ends.
  buffer[end] = 0;
  let read = 0;
  let write = 0;
  while (read < end) {
    const byte = buffer[read] ?? 0;
    if (byte !== QUOTE) {
      if (byte < 0x20) return packRaw(text);
      buffer[write++] = byte;
      read++;
      continue;
    }
    const from = read + 1;
    let close = from;
    let kinds = LETTER | HEX_DIGIT | BASE64_DIGIT;
    for (;; close++) {
      const inner = buffer[close] ?? 0;
      const kind = KIND[inner] ?? 0;
      if ((kind & STOP) === 0) {
        kinds &= kind;
        continue;
      }
      if (inner === QUOTE || close >= end) break;
      if (inner < 0x20) return packRaw(text);
      // The character after a backslash is literal, even a quote.
      kinds = 0;
      if (close + 1 < end && (buffer[++close] ?? 0) < 0x20) return packRaw(text);
    }
    const length = close < end ? close - from : 0;
    const number = (kinds & LETTER) !== 0 && length > 0 && length <= MAX_WORD
      ? wordAt(buffer, from, length)
      : -1;
    if (number >= 0) {
      const isField = buffer[close + 1] === COLON;
      buffer[write++] = isField ? FIELD : WORD;
      buffer[write++] = number;
      read = close + (isField ? 2 : 1);
    } else if ((kinds & HEX_DIGIT) !== 0 && length === 64) {
      buffer[write] = HEX;
      packHex(buffer, from, write + 1);
      write += 33;
      read = close + 1;
    } else if (
      (kinds & BASE64_DIGIT) !== 0 && length >= SHORTEST_BASE64 && length <= LONGEST_BASE64 &&
      isExact(length, buffer[close - 1] ?? 0)
    ) {
      // Written first where it overwrites no unread text, then moved behind its length.
      const size = packBase64(buffer, from, length, write);
      buffer.copyWithin(write + 3, write, write + size);
      buffer[write] = BASE64;
      buffer[write + 1] = size >> 8;
      buffer[write + 2] = size & 0xff;
      write += 3 + size;
      read = close + 1;
    } else {
      const after = close < end ? close + 1 : end;
      while (read < after) buffer[write++] = buffer[read++] ?? 0;
    }
  }
  return buffer.subarray(0, write);
}

function tryExpand(packed: Uint8Array): string | undefined {
  if (packed[0] === RAW) return UTF8.decode(packed.subarray(1));
  const parts: Uint8Array[] = [];
  let [literal, at] = [0, 0];
  const expand = (text: string, length: number): void => {
    parts.push(packed.subarray(literal, at), ENCODER.encode(text));
    at += length;
    literal = at;
  };
  while (at < packed.length) {
    const code = packed[at] ?? 0;
    if (code >= 0x20) at++;
    else if (code === HEX) expand(`"${packed.subarray(at + 1, at + 33).toHex()}"`, 33);
    else if (code === BASE64) {
      const size = ((packed[at + 1] ?? 0) << 8) | (packed[at + 2] ?? 0);
      const bytes = packed.subarray(at + 3, at + 3 + size);
      expand(`"${bytes.toBase64({ alphabet: "base64url", omitPadding: true })}"`, 3 + size);
    } else if (code === WORD || code === FIELD) {
      const word = WORDS[packed[at + 1] ?? WORDS.length];
      if (word === undefined) return undefined;
      expand(`"${word}"${code === FIELD ? ":" : ""}`, 2);
    } else return undefined;
  }
  parts.push(packed.subarray(literal));
  return UTF8.decode(Buffer.concat(parts));
}

/** The body that packs to exactly these bytes; undefined where there is none. */
export function tryUnpackBody(packed: Uint8Array): string | undefined {
  try {
    const text = tryExpand(packed);
    if (text === undefined) return undefined;
    return Buffer.compare(packBody(text), packed) === 0 ? text : undefined;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
