/**
 * Vector search over all visible passages: exact for few, otherwise preselected by the signs of the components.
 * Used by retrieval.ts and search.ts.
 * @module
 */
import type { Label } from "../../contracts/authority/mod.ts";
import type { WikiSource } from "../../contracts/memory/mod.ts";
import type { WikiQuery } from "../../contracts/wire/wire_wiki.ts";
import { eachSource } from "../store/each_row.ts";
import type { Chunk } from "../store/wiki_store.ts";
import type { PageIndex } from "./page_index.ts";
import { isFound, type Passage, passageKey, type SearchedStore, sourcePassage } from "./passage.ts";

/** Vectors held completely; with more, signs preselect the ones to read. */
const MAX_VECTORS = 50_000;
/** Signs held; with more, only passages found by words are compared. */
const MAX_CODES = 2_000_000;
/** Preselected vectors per requested passage, and their minimum. */
const LIKELY = 20;
const MIN_LIKELY = 500;
const KEYS_AT_ONCE = 500;

type Place = Pick<Passage, "file" | "startLine" | "startByte">;

/** The passage of a vector. */
export type VectorPlace =
  | Place & { readonly kind: "page"; readonly name: string; readonly n: number }
  | Place & { readonly kind: "source"; readonly source: WikiSource; readonly chunk: Chunk };

/** Unit vectors. */
export interface VectorSpace {
  readonly dimensions: number;
  readonly places: readonly VectorPlace[];
  /** Index of a place by passage key. */
  readonly numbers: ReadonlyMap<string, number>;
  /** Concatenated. */
  readonly block: Float32Array;
}

/** Key of a page's passage in the store's table of vectors. */
export const pageVectorKey = (name: string, version: number, n: number): string =>
  `page:${name}:${version}:${n}`;
/** Key of a chunk in that table. */
export const chunkVectorKey = (id: number): string => `chunk:${id}`;

/** All visible places with the keys of their vectors. */
interface Visible {
  readonly places: readonly VectorPlace[];
  readonly keys: readonly string[];
}

/** Visible places with the signs of their vectors: 32 components per number, `words` numbers each. */
interface CodeSpace extends Visible {
  readonly dimensions: number;
  readonly words: number;
  readonly codes: Uint32Array;
}

/** Collects visible places. */
function gatherVisible(
  store: SearchedStore,
  pages: PageIndex,
  { clearance, now }: { readonly clearance: Label; readonly now: number },
): Visible {
  const places: VectorPlace[] = [];
  const keys: string[] = [];
  for (const { name, version, n, startLine } of pages.places()) {
    places.push({ kind: "page", file: `pages/${name}.md`, startLine, startByte: 0, name, n });
    keys.push(pageVectorKey(name, version, n));
  }
  for (const source of eachSource(store, { clearance, state: "current" })) {
    if (!isFound(source, now)) continue;
    for (const chunk of store.sources.chunksOf(source.id)) {
      places.push({
        kind: "source",
        file: source.text,
        startLine: chunk.startLine,
        startByte: chunk.startByte,
        source,
        chunk,
      });
      keys.push(chunkVectorKey(chunk.id));
    }
  }
  return { places, keys };
}

/** Collects signs. Vectors of other dimensions than the first are skipped. */
function gatherCodes(
  store: SearchedStore,
  embedder: string,
  { places, keys }: Visible,
): CodeSpace {
  const kept: { readonly place: VectorPlace; readonly key: string }[] = [];
  let dimensions = 0, words = 0, codes = new Uint32Array();
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
    const some = keys.slice(at, at + KEYS_AT_ONCE);
    const found = store.vectors.get(embedder, some);
    for (const [n, key] of some.entries()) {
      const vector = found.get(key), place = places[at + n];
      if (vector === undefined || place === undefined) continue;
      if (dimensions === 0) {
        dimensions = vector.length;
        words = Math.ceil(dimensions / 32);
        codes = new Uint32Array(keys.length * words);
      }
      if (vector.length !== dimensions) continue;
      codes.set(signsOf(vector, words), kept.length * words);
      kept.push({ place, key });
    }
  }
  return {
    places: kept.map(({ place }) => place),
    keys: kept.map(({ key }) => key),
    ...{ dimensions, words, codes },
  };
}

/** A bit per positive component. */
function signsOf(vector: ArrayLike<number>, words: number): Uint32Array {
  const signs = new Uint32Array(words);
  for (let n = 0; n < vector.length; n++) {
    if ((vector[n] ?? 0) > 0) signs[n >> 5] = (signs[n >> 5] ?? 0) | 1 << (n & 31);
  }
  return signs;
}

/** The `limit` entries that `asked` accepts with the smallest Hamming distance to a vector. */
export function likeliest(
  { codes, words, dimensions, places, keys }: CodeSpace,
  wanted: Float32Array,
  { limit, asked }: { readonly limit: number; asked(place: VectorPlace): boolean },
): Visible {
  if (wanted.length !== dimensions) return { places: [], keys: [] };
  const signs = signsOf(wanted, words);
  const by: number[][] = Array.from({ length: dimensions + 1 }, () => []);
  for (let n = 0, at = 0; n < keys.length; n++) {
    let differ = 0;
    for (let k = 0; k < words; k++) differ += bits((codes[at++] ?? 0) ^ (signs[k] ?? 0));
    by[differ]?.push(n);
  }
  const found: number[] = [];
  for (const some of by) {
    for (const n of some) {
      const place = places[n];
      if (found.length < limit && place !== undefined && asked(place)) found.push(n);
    }
    if (found.length >= limit) break;
  }
  return {
    places: found.flatMap((n) => places[n] ?? []),
    keys: found.flatMap((n) => keys[n] ?? []),
  };
}

/** Population count. */
function bits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555);
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}

/** Vectors by key, read in batches. */
export function readVectors(
  store: SearchedStore,
  embedder: string,
  keys: readonly string[],
): ReadonlyMap<string, Float32Array> {
  const found = new Map<string, Float32Array>();
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
    for (const [key, vector] of store.vectors.get(embedder, keys.slice(at, at + KEYS_AT_ONCE))) {
      found.set(key, vector);
    }
  }
  return found;
}

/** Packs the vectors of places into one block. Vectors of other dimensions than the first are skipped. */
function packVectors(
  places: readonly VectorPlace[],
  keys: readonly string[],
  vectors: ReadonlyMap<string, Float32Array>,
): VectorSpace {
  const dimensions = vectors.values().next().value?.length ?? 0;
  const kept = places.flatMap((place, n) => {
    const vector = vectors.get(keys[n] ?? "");
    return vector?.length === dimensions && dimensions > 0 ? [{ place, vector }] : [];
  });
  const block = new Float32Array(kept.length * dimensions);
  kept.forEach(({ vector }, n) => block.set(normalised(vector), n * dimensions));
  return {
    dimensions,
    places: kept.map(({ place }) => place),
    numbers: new Map(kept.map(({ place }, n) => [passageKey(place), n])),
    block,
  };
}

/** Normalises to length 1; a zero vector remains. */
export function normalised(vector: ArrayLike<number>): Float32Array {
  let square = 0;
  for (let n = 0; n < vector.length; n++) square += (vector[n] ?? 0) ** 2;
  const factor = square > 0 && Number.isFinite(square) ? 1 / Math.sqrt(square) : 0;
  return Float32Array.from(vector, (each) => each * factor);
}

/** The cosine of each place; undefined for other dimensions. */
function cosinesOf(space: VectorSpace, wanted: Float32Array): Float32Array | undefined {
  const { dimensions, places, block } = space;
  if (wanted.length !== dimensions || dimensions === 0) return undefined;
  const cosines = new Float32Array(places.length);
  for (let n = 0, at = 0; n < places.length; n++) {
    let sum = 0;
    for (let k = 0; k < dimensions; k++) sum += (block[at++] ?? 0) * (wanted[k] ?? 0);
    cosines[n] = sum;
  }
  return cosines;
}

/** The `limit` nearest indexes that `asked` accepts, nearest first. */
export function nearest(
  cosines: Float32Array,
  limit: number,
  asked: (n: number) => boolean,
): readonly number[] {
  const best: number[] = [];
  let min = 0;
  const settle = (): void => {
    best.sort((a, b) => (cosines[b] ?? 0) - (cosines[a] ?? 0) || a - b);
    best.length = Math.min(best.length, limit);
    if (best.length === limit) min = cosines[best.at(-1) ?? 0] ?? 0;
  };
  for (let n = 0; n < cosines.length; n++) {
    if ((cosines[n] ?? 0) <= min || !asked(n)) continue;
    best.push(n);
    if (best.length >= 4 * limit) settle();
  }
  settle();
  return best;
}

// Passages near a question by their vectors.

/** Input of the vector search. */
interface NearnessContext {
  readonly pages: PageIndex;
  readonly now: number;
  readonly limit: number;
  /** Passages found by words: the only ones compared if there are too many vectors. */
  readonly candidates: readonly Passage[];
}

/** Result of the vector search. */
interface Near {
  /** Nearest first. */
  readonly passages: readonly Passage[];
  /** Cosines of the candidates and the nearest passages, by key. */
  readonly cosines: ReadonlyMap<string, number>;
  readonly largest: number;
}

/** Makes the vector search of a wiki. Up to `whole` vectors are held, gathered once per clearance and generation. */
export function makeNearness(
  store: SearchedStore,
  whole = MAX_VECTORS,
): (q: WikiQuery, context: NearnessContext) => Near | undefined {
  let held:
    | { readonly of: string; readonly space: VectorSpace | CodeSpace | undefined }
    | undefined;

  const spaceOf = (embedder: string, q: WikiQuery, context: NearnessContext) => {
    const { clearance } = q;
    const of = [embedder, clearance, store.generation(), store.vectors.count(embedder)].join(" ");
    if (held?.of !== of) {
      held = { of, space: gather(embedder, { clearance, now: context.now }, context.pages) };
    }
    return held.space;
  };
  const gather = (
    embedder: string,
    options: { readonly clearance: Label; readonly now: number },
    pages: PageIndex,
  ): VectorSpace | CodeSpace | undefined => {
    const count = store.sources.count(options.clearance).chunks + pages.passages;
    if (count > MAX_CODES) return undefined;
    const visible = gatherVisible(store, pages, options);
    if (count > whole) return gatherCodes(store, embedder, visible);
    return packVectors(visible.places, visible.keys, readVectors(store, embedder, visible.keys));
  };

  return (q, context) => {
    const { vector, within } = q;
    if (vector === undefined || store.vectors.count(vector.embedder) === 0) return undefined;
    const asked = (kind: "page" | "source"): boolean =>
      within === undefined || within === (kind === "page" ? "pages" : "sources");
    const wanted = normalised(vector.values);
    const gathered = spaceOf(vector.embedder, q, context);
    const space = gathered !== undefined && "block" in gathered
      ? gathered
      : nearSpace(store, vector.embedder, [
        ...context.candidates.map((place) => ({ place, key: keyOf(place) })),
        ...likely(gathered, wanted, { limit: context.limit, asked: ({ kind }) => asked(kind) }),
      ]);
    const all = cosinesOf(space, wanted);
    if (all === undefined) return undefined;
    const known = new Map(context.candidates.map((each) => [passageKey(each), each]));
    const cosines = new Map<string, number>();
    for (const key of known.keys()) {
      const n = space.numbers.get(key);
      if (n !== undefined) cosines.set(key, all[n] ?? 0);
    }
    const passages = nearest(all, context.limit, (n) => asked(space.places[n]?.kind ?? "page"))
      .flatMap((n) => {
        const place = space.places[n];
        const passage = place === undefined ? undefined : passageOf(store, context, place, known);
        if (passage !== undefined) cosines.set(passageKey(passage), all[n] ?? 0);
        return passage ?? [];
      });
    const first = passages[0];
    return {
      passages,
      cosines,
      largest: first === undefined ? 0 : cosines.get(passageKey(first)) ?? 0,
    };
  };
}

function passageOf(
  store: SearchedStore,
  { pages, now }: NearnessContext,
  place: VectorPlace,
  known: ReadonlyMap<string, Passage>,
): Passage | undefined {
  const found = known.get(passageKey(place));
  if (found !== undefined) return found;
  if (place.kind === "page") return pages.passage(place.name, place.n);
  const { source, chunk } = place;
  if (source.expiresAt !== undefined && source.expiresAt <= now) return undefined;
  return sourcePassage(store, source, chunk);
}

function keyOf(passage: Passage): string {
  return passage.kind === "page"
    ? pageVectorKey(passage.name, passage.version, passage.n)
    : chunkVectorKey(passage.chunk.id);
}

/** Passages preselected by signs. */
function likely(
  space: CodeSpace | undefined,
  wanted: Float32Array,
  { limit, asked }: { readonly limit: number; asked(place: VectorPlace): boolean },
): readonly { readonly place: VectorPlace; readonly key: string }[] {
  if (space === undefined) return [];
  const max = Math.max(MIN_LIKELY, limit * LIKELY);
  const { places, keys } = likeliest(space, wanted, { limit: max, asked });
  return places.map((place, n) => ({ place, key: keys[n] ?? "" }));
}

/** The vectors of some passages, without duplicates. */
function nearSpace(
  store: SearchedStore,
  embedder: string,
  some: readonly { readonly place: VectorPlace; readonly key: string }[],
): VectorSpace {
  const by = new Map(some.map(({ place, key }) => [key, place]));
  const keys = [...by.keys()];
  return packVectors([...by.values()], keys, readVectors(store, embedder, keys));
}
