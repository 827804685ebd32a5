/** What a GGUF file says of itself, as far as its first bytes hold it. The format is llama.cpp's. @module */

/** Facts of a GGUF file; all of them are its own words. */
export interface WeightsFacts {
  readonly name?: string;
  readonly architecture?: string;
  readonly licence?: string;
  readonly contextTokens?: number;
}

/** Bytes that are enough for the facts: what follows them is the vocabulary. */
export const HEADER_BYTES = 1_048_576;

const MAGIC = "GGUF";
const VERSIONS = [2, 3];
const MOST_KEYS = 4_096;
const MOST_TEXT = 65_536;
const [STRING, ARRAY] = [8, 9];
// Bytes of a value by its type; strings and arrays have lengths of their own.
const SIZES: Readonly<Record<number, number>> = {
  ...{ 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1 },
  ...{ 10: 8, 11: 8, 12: 8 },
};
const WANTED = /^general\.(name|architecture|license)$|\.context_length$/;

class End extends Error {}

/** Reads forward over bytes, and ends where they do. */
function makeCursor(bytes: Uint8Array): {
  integer(size: number): number;
  text(): string;
  skip(count: number): void;
} {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const need = (count: number): number => {
    if (!Number.isSafeInteger(count) || count < 0 || at + count > bytes.length) throw new End();
    at += count;
    return at - count;
  };
  const integer = (size: number): number => {
    const from = need(size);
    if (size === 8) return Number(view.getBigUint64(from, true));
    return size === 4 ? view.getUint32(from, true) : view.getUint8(from);
  };
  return {
    integer,
    skip: (count) => void need(count),
    text(): string {
      const length = integer(8);
      if (length > MOST_TEXT) {
        need(length);
        return "";
      }
      const from = need(length);
      return new TextDecoder().decode(bytes.subarray(from, from + length));
    },
  };
}

/** Tells whether bytes begin a GGUF file of a version that engines read. */
export function isWeights(head: Uint8Array): boolean {
  if (head.length < 24 || new TextDecoder().decode(head.subarray(0, 4)) !== MAGIC) return false;
  const version = new DataView(head.buffer, head.byteOffset).getUint32(4, true);
  return VERSIONS.includes(version);
}

/** Reads the facts of a GGUF file from its first bytes; those that come later are left out. */
export function readFacts(head: Uint8Array): WeightsFacts {
  if (!isWeights(head)) return {};
  const facts = new Map<string, string | number>();
  const cursor = makeCursor(head);
  try {
    cursor.skip(16);
    const keys = Math.min(cursor.integer(8), MOST_KEYS);
    for (let n = 0; n < keys; n++) {
      const key = cursor.text();
      const value = readValue(cursor, cursor.integer(4));
      if (value !== undefined && WANTED.test(key)) facts.set(key, value);
    }
  } catch (error) {
    if (!(error instanceof End)) throw error;
  }
  const text = (key: string): string | undefined => {
    const value = facts.get(`general.${key}`);
    return typeof value === "string" && value !== "" ? value.slice(0, 256) : undefined;
  };
  const architecture = text("architecture")?.slice(0, 64);
  const context = facts.get(`${architecture}.context_length`);
  const [name, licence] = [text("name"), text("license")];
  return {
    ...(name === undefined ? {} : { name }),
    ...(architecture === undefined ? {} : { architecture }),
    ...(licence === undefined ? {} : { licence }),
    ...(typeof context === "number" && context >= 1 && context <= 100_000_000
      ? { contextTokens: context }
      : {}),
  };
}

function readValue(
  cursor: ReturnType<typeof makeCursor>,
  type: number,
): string | number | undefined {
  if (type === STRING) return cursor.text();
  if (type === ARRAY) {
    const [inner, count] = [cursor.integer(4), cursor.integer(8)];
    const size = SIZES[inner];
    if (size !== undefined) cursor.skip(size * count);
    else if (inner === STRING) { for (let n = 0; n < count; n++) cursor.text(); }
    else throw new End();
    return undefined;
  }
  const size = SIZES[type];
  if (size === undefined) throw new End();
  if (type === 4 || type === 10) return cursor.integer(size);
  cursor.skip(size);
  return undefined;
}
