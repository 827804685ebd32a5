/** Which passages want a vector, and keeping what an embedder made. @module */
import { Fault, type Label } from "../../contracts/mod.ts";
import type { SearchedStore } from "./searched_store.ts";
import type { KeptIndexes } from "./kept_indexes.ts";
import { chunkVectorKey, pageVectorKey, readVectors } from "./vector_space.ts";

/** See {@link makeEmbedding}. */
export interface Embedding {
  plan(
    embedder: string,
    limit: number,
    clearance?: Label,
  ): readonly { readonly key: string; readonly text: string }[];
  taken(
    embedder: string,
    vectors: readonly { readonly key: string; readonly vector: readonly number[] }[],
  ): void;
}

/** Longest text that is given to an embedder, UTF-16 code units. */
const MOST_TEXT = 4_000;
const ASKED_AT_ONCE = 500;
const MOST_DIMENSIONS = 4_096;
const KEY = /^(?:chunk:\d+|page:[^:]{1,480}:\d+:\d+)$/;

/** Makes the plan of vectors of one wiki: sources first, then pages. */
export function makeEmbedding(store: SearchedStore, indexes: Pick<KeptIndexes, "of">): Embedding {
  const known = new Map<string, Set<string>>();
  const pageTexts = (embedder: string, clearance: Label, limit: number) => {
    const pages = indexes.of(clearance);
    const places = [...pages.places()].map(({ name, version, n }) => ({
      key: pageVectorKey(name, version, n),
      name,
      n,
    }));
    return withoutVector(embedder, places, limit).flatMap(({ key, name, n }) => {
      const passage = pages.passage(name, n);
      const page = passage === undefined ? undefined : store.pages.find(name);
      if (passage === undefined || page === undefined) return [];
      const lines = (store.pages.text(page.name, passage.version) ?? "").split("\n");
      const body = lines.slice(passage.startLine - 1, passage.endLine).join("\n");
      return [{ key, text: textOf([page.title, ...passage.headings], body) }];
    });
  };

  /** The first of `places` that have no vector; what was found to have one is not asked for again. */
  const withoutVector = <Place extends { readonly key: string }>(
    embedder: string,
    places: readonly Place[],
    limit: number,
  ): readonly Place[] => {
    const had = known.get(embedder) ?? new Set();
    known.set(embedder, had);
    const missing: Place[] = [];
    const open = places.filter(({ key }) => !had.has(key));
    for (let at = 0; at < open.length && missing.length < limit; at += ASKED_AT_ONCE) {
      const some = open.slice(at, at + ASKED_AT_ONCE);
      const there = readVectors(store, embedder, some.map(({ key }) => key));
      for (const key of there.keys()) had.add(key);
      missing.push(...some.filter(({ key }) => !there.has(key)));
    }
    return missing.slice(0, limit);
  };

  return Object.freeze<Embedding>({
    plan(embedder, limit, clearance = "secret") {
      const chunks = store.vectors.missing(embedder, clearance, limit).flatMap((chunk) => {
        const source = store.sources.byId(chunk.source);
        if (source === undefined) return [];
        const text = textOf([source.title, chunk.heading], store.sources.passage(chunk));
        return [{ key: chunkVectorKey(chunk.id), text }];
      });
      if (chunks.length >= limit) return chunks;
      return [...chunks, ...pageTexts(embedder, clearance, limit - chunks.length)];
    },
    taken(embedder, vectors) {
      for (const { key, vector } of vectors) {
        const sound = KEY.test(key) && vector.length > 0 && vector.length <= MOST_DIMENSIONS &&
          vector.every(Number.isFinite);
        if (!sound) {
          throw new Fault(
            "invalidInput",
            `Cannot keep a vector: "${key.slice(0, 80)}" is not sound`,
          );
        }
      }
      store.vectors.put(
        embedder,
        vectors.map(({ key, vector }) => ({ key, vector: Float32Array.from(vector) })),
      );
    },
  });
}

/** What it is about, and what it says. */
function textOf(titles: readonly string[], body: string): string {
  return [...new Set(titles.filter((title) => title !== ""))].concat(body).join("\n")
    .slice(0, MOST_TEXT);
}
