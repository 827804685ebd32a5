/** Vectors of passages in one block: every one that the caller may see while there are few. @module */
import type { Label, WikiSource } from "../../contracts/mod.ts";
import type { Chunk } from "../store/wiki_store.ts";
import type { PageIndex } from "./page_index.ts";
import { type Passage, passageKey } from "./passage.ts";
import type { SearchedStore } from "./searched_store.ts";
import { isFound } from "./source_passages.ts";

/** Up to so many vectors all are compared; beyond, only those of passages that words found. */
const MOST_VECTORS = 50_000;
const KEYS_AT_ONCE = 500;
const SOURCES_AT_ONCE = 1_000;

type Place = Pick<Passage, "file" | "startLine" | "startByte">;

/** What a vector stands for. */
export type VectorPlace =
  | Place & { readonly kind: "page"; readonly name: string; readonly n: number }
  | Place & { readonly kind: "source"; readonly source: WikiSource; readonly chunk: Chunk };

/** Vectors of length 1. */
export interface VectorSpace {
  readonly dimensions: number;
  readonly places: readonly VectorPlace[];
  /** Number of a place by its passage's key. */
  readonly numbers: ReadonlyMap<string, number>;
  /** One after the other. */
  readonly block: Float32Array;
}

/** Key of a passage of a page in the store's table of vectors. */
export const pageVectorKey = (name: string, version: number, n: number): string =>
  `page:${name}:${version}:${n}`;
/** Key of a chunk there. */
export const chunkVectorKey = (id: number): string => `chunk:${id}`;

/** Gathers the vectors of everything visible; undefined when there are more than {@link MOST_VECTORS}. */
export function gatherVectors(
  store: SearchedStore,
  pages: PageIndex,
  options: { readonly embedder: string; readonly clearance: Label; readonly now: number },
): VectorSpace | undefined {
  const { embedder, clearance, now } = options;
  if (store.sources.count(clearance).chunks + pages.passages > MOST_VECTORS) return undefined;
  const places: VectorPlace[] = [];
  const keys: string[] = [];
  for (const { name, version, n, startLine } of pages.places()) {
    places.push({ kind: "page", file: `pages/${name}.md`, startLine, startByte: 0, name, n });
    keys.push(pageVectorKey(name, version, n));
  }
  for (const source of allSources(store, clearance)) {
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
  return packVectors(places, keys, readVectors(store, embedder, keys));
}

/** Vectors by key, in steps that the store can take. */
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

/** The places that have a vector, in one block. All vectors have the dimensions of the first. */
export function packVectors(
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

/** Of length 1; a vector without length becomes zeros. */
export function normalised(vector: ArrayLike<number>): Float32Array {
  let square = 0;
  for (let n = 0; n < vector.length; n++) square += (vector[n] ?? 0) ** 2;
  const factor = square > 0 && Number.isFinite(square) ? 1 / Math.sqrt(square) : 0;
  return Float32Array.from(vector, (each) => each * factor);
}

/** The cosine of each place; undefined for a vector of other dimensions. */
export function cosinesOf(space: VectorSpace, wanted: Float32Array): Float32Array | undefined {
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

/** Numbers of the `limit` nearest places that `asked` takes, nearest first; none that is turned away. */
export function nearest(
  cosines: Float32Array,
  limit: number,
  asked: (n: number) => boolean,
): readonly number[] {
  const best: number[] = [];
  let least = 0;
  const settle = (): void => {
    best.sort((a, b) => (cosines[b] ?? 0) - (cosines[a] ?? 0) || a - b);
    best.length = Math.min(best.length, limit);
    if (best.length === limit) least = cosines[best.at(-1) ?? 0] ?? 0;
  };
  for (let n = 0; n < cosines.length; n++) {
    if ((cosines[n] ?? 0) <= least || !asked(n)) continue;
    best.push(n);
    if (best.length >= 4 * limit) settle();
  }
  settle();
  return best;
}

/** All current sources at or below a clearance. */
function* allSources(store: SearchedStore, clearance: Label): Iterable<WikiSource> {
  for (let afterId = 0; true;) {
    const sources = store.sources.list({
      clearance,
      state: "current",
      afterId,
      limit: SOURCES_AT_ONCE,
    });
    yield* sources;
    const last = sources.at(-1);
    if (last === undefined || sources.length < SOURCES_AT_ONCE) return;
    afterId = last.id;
  }
}
