/** Passages near a question by their vectors. @module */
import type { WikiQuery } from "../../contracts/wire_wiki.ts";
import type { PageIndex } from "./page_index.ts";
import { type Passage, passageKey } from "./passage.ts";
import type { SearchedStore } from "./searched_store.ts";
import { sourcePassage } from "./source_passages.ts";
import {
  chunkVectorKey,
  cosinesOf,
  gatherVectors,
  nearest,
  normalised,
  packVectors,
  pageVectorKey,
  readVectors,
  type VectorPlace,
  type VectorSpace,
} from "./vector_space.ts";

/** What is compared. */
export interface NearnessContext {
  readonly pages: PageIndex;
  readonly now: number;
  readonly limit: number;
  /** What words found: alone compared where there are too many vectors for all of them. */
  readonly candidates: readonly Passage[];
}

/** What is near. */
export interface Near {
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
