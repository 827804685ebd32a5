/**
 * The file of the lexical embedder, all numbers little-endian:
 *
 * | bytes      | what                                                                            |
 * | ---------- | ------------------------------------------------------------------------------- |
 * | 8          | `RMTLEX1\n`                                                                     |
 * | 4, 4, 4, 4 | words N, dimensions K, bytes of the word list B, bytes of the notice L          |
 * | L          | the licence of what it was made from, UTF-8                                     |
 * | B          | the words, `a-z` in ascending order, each followed by a line feed               |
 * | 0 to 3     | zeros up to a multiple of 4                                                     |
 * | 4 N        | 32-bit floats: what one step of each word's vector is worth, its weight with it |
 * | K N        | the vectors, a signed byte each number                                          |
 *
 * @module
 */
import { Fault } from "../../../contracts/fault.ts";

/** Words with their vectors. */
export interface Lexicon {
  readonly dimensions: number;
  /** The number of a word; undefined for one that is not here. */
  find(word: string): number | undefined;
  /** Words that are here. */
  readonly size: number;
  /** Adds the vector of word `n` to `sum`, `times` its weight. */
  addTo(sum: Float64Array, n: number, times: number): void;
  /** The licence of what it was made from. */
  readonly notice: string;
}

/** What a file is written from. */
export interface LexiconParts {
  /** `a-z`, in ascending order. */
  readonly words: readonly string[];
  readonly dimensions: number;
  /** One for each word. */
  readonly steps: Float32Array;
  /** `dimensions` for each word. */
  readonly vectors: Int8Array;
  readonly notice: string;
}

const MAGIC = "RMTLEX1\n";
const HEAD = MAGIC.length + 16;
const MOST_WORDS = 1_000_000;
const MOST_DIMENSIONS = 1_024;
const MOST_BYTES = 64_000_000;
const LARGEST_STEP = 1;
const WORD = /^[a-z]{1,64}$/;

/** Writes a lexicon: the same parts give the same bytes. */
export function writeLexicon(parts: LexiconParts): Uint8Array {
  const { words, dimensions, steps, vectors } = parts;
  const list = new TextEncoder().encode(words.map((word) => `${word}\n`).join(""));
  const notice = new TextEncoder().encode(parts.notice);
  const at = aligned(HEAD + notice.length + list.length);
  const bytes = new Uint8Array(at + 4 * words.length + vectors.length);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode(MAGIC));
  [words.length, dimensions, list.length, notice.length].forEach((each, n) => {
    view.setUint32(MAGIC.length + 4 * n, each, true);
  });
  bytes.set(notice, HEAD);
  bytes.set(list, HEAD + notice.length);
  steps.forEach((step, n) => view.setFloat32(at + 4 * n, step, true));
  bytes.set(
    new Uint8Array(vectors.buffer, vectors.byteOffset, vectors.length),
    at + 4 * words.length,
  );
  return bytes;
}

/** Reads a lexicon. Throws `invalidInput` for anything that {@link writeLexicon} would not write. */
export function parseLexicon(bytes: Uint8Array): Lexicon {
  if (bytes.length > MOST_BYTES) throw bad("it is too large");
  if (bytes.length < HEAD || latin(bytes.subarray(0, MAGIC.length)) !== MAGIC) {
    throw bad("it does not begin as one");
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const [size, dimensions, listBytes, noticeBytes] = [0, 4, 8, 12].map((at) =>
    view.getUint32(MAGIC.length + at, true)
  ) as [number, number, number, number];
  if (size < 1 || size > MOST_WORDS || dimensions < 8 || dimensions > MOST_DIMENSIONS) {
    throw bad(`${size} words in ${dimensions} dimensions`);
  }
  const at = aligned(HEAD + noticeBytes + listBytes);
  if (bytes.length !== at + 4 * size + dimensions * size) {
    throw bad("its length is not what its head says");
  }
  const notice = utf8(bytes.subarray(HEAD, HEAD + noticeBytes));
  const index = indexOf(
    latin(bytes.subarray(HEAD + noticeBytes, HEAD + noticeBytes + listBytes)),
    size,
  );
  const steps = Float32Array.from({ length: size }, (_, n) => view.getFloat32(at + 4 * n, true));
  if (!steps.every((step) => step >= 0 && step <= LARGEST_STEP)) {
    throw bad("a step is out of range");
  }
  const start = bytes.byteOffset + at + 4 * size;
  const vectors = new Int8Array(bytes.buffer, start, dimensions * size);
  return Object.freeze<Lexicon>({
    dimensions,
    size,
    notice,
    find: (word) => index.get(word),
    addTo(sum, n, times) {
      const factor = (steps[n] ?? 0) * times;
      const from = n * dimensions;
      for (let k = 0; k < dimensions; k++) {
        sum[k] = (sum[k] ?? 0) + factor * (vectors[from + k] ?? 0);
      }
    },
  });
}

function indexOf(list: string, size: number): ReadonlyMap<string, number> {
  const words = list.split("\n");
  if (words.pop() !== "" || words.length !== size) throw bad(`its list is not of ${size} words`);
  const index = new Map<string, number>();
  let before = "";
  for (const [n, word] of words.entries()) {
    if (!WORD.test(word) || word <= before) throw bad(`word ${n} is out of order, or none`);
    index.set(word, n);
    before = word;
  }
  return index;
}

const aligned = (at: number): number => (at + 3) - (at + 3) % 4;
const latin = (bytes: Uint8Array): string => new TextDecoder("latin1").decode(bytes);

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw bad("its notice is not UTF-8");
  }
}

function bad(why: string): Fault {
  return new Fault("invalidInput", `Cannot read the lexicon: ${why}`);
}
