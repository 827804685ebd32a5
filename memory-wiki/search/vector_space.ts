/** Vectors of passages in one block: every one that the caller may see while there are few. @module */
import type { Label } from "../../contracts/authority/mod.ts";
import type { WikiSource } from "../../contracts/memory/mod.ts";
import type { WikiQuery } from "../../contracts/wire/wire_wiki.ts";
import type { Chunk } from "../store/wiki_store.ts";
import type { PageIndex } from "./page_index.ts";
import { isFound, type Passage, passageKey, type SearchedStore, sourcePassage } from "./passage.ts";

/** Up to so many vectors all are compared; beyond, only those of passages that words found. */
const MAX_VECTORS = 50_000;
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

/** Gathers the vectors of everything visible; undefined when there are more than {@link MAX_VECTORS}. */
function gatherVectors(
  store: SearchedStore,
  pages: PageIndex,
  options: { readonly embedder: string; readonly clearance: Label; readonly now: number },
): VectorSpace | undefined {
  const { embedder, clearance, now } = options;
  if (store.sources.count(clearance).chunks + pages.passages > MAX_VECTORS) return undefined;
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

/** Of length 1; a vector without length becomes zeros. */
export function normalised(vector: ArrayLike<number>): Float32Array {
  let square = 0;
  for (let n = 0; n < vector.length; n++) square += (vector[n] ?? 0) ** 2;
  const factor = square > 0 && Number.isFinite(square) ? 1 / Math.sqrt(square) : 0;
  return Float32Array.from(vector, (each) => each * factor);
}

/** The cosine of each place; undefined for a vector of other dimensions. */
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

// Passages near a question by their vectors.

/** What is compared. */
interface NearnessContext {
  readonly pages: PageIndex;
  readonly now: number;
  readonly limit: number;
  /** What words found: alone compared where there are too many vectors for all of them. */
  readonly candidates: readonly Passage[];
}

/** What is near. */
interface Near {
  /** The nearest, nearest first. */
  readonly passages: readonly Passage[];
  /** Of candidates and the nearest, by their keys. */
  readonly cosines: ReadonlyMap<string, number>;
  readonly largest: number;
}

/** Makes the comparison of one wiki; vectors are gathered once for a clearance and generation. */
export function makeNearness(
  store: SearchedStore,
): (q: WikiQuery, context: NearnessContext) => Near | undefined {
  let held: { readonly of: string; readonly space: VectorSpace | undefined } | undefined;

  const spaceOf = (embedder: string, q: WikiQuery, context: NearnessContext) => {
    const { clearance } = q;
    const of = [embedder, clearance, store.generation(), store.vectors.count(embedder)].join(" ");
    if (held?.of !== of) {
      const options = { embedder, clearance, now: context.now };
      held = { of, space: gatherVectors(store, context.pages, options) };
    }
    return held.space;
  };

  return (q, context) => {
    const { vector, within } = q;
    if (vector === undefined || store.vectors.count(vector.embedder) === 0) return undefined;
    const asked = (kind: "page" | "source"): boolean =>
      within === undefined || within === (kind === "page" ? "pages" : "sources");
    const space = spaceOf(vector.embedder, q, context) ??
      candidateSpace(store, vector.embedder, context.candidates);
    const all = cosinesOf(space, normalised(vector.values));
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

/** The vectors of some passages. */
function candidateSpace(
  store: SearchedStore,
  embedder: string,
  candidates: readonly Passage[],
): VectorSpace {
  const keys = candidates.map((each) =>
    each.kind === "page"
      ? pageVectorKey(each.name, each.version, each.n)
      : chunkVectorKey(each.chunk.id)
  );
  return packVectors(candidates, keys, readVectors(store, embedder, keys));
}
