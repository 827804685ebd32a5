/** What the search reads of a store: nothing that changes pages or sources. @module */
import type {
  ChunkSearch,
  PageTable,
  SourceTable,
  VectorTable,
  WikiStore,
} from "../store/wiki_store.ts";

/** A {@link WikiStore}, narrowed to its reading parts and the table of vectors. */
export interface SearchedStore extends Pick<WikiStore, "generation"> {
  readonly sources: Pick<
    SourceTable,
    "byId" | "byDigest" | "list" | "count" | "chunksOf" | "passage"
  >;
  readonly chunks: ChunkSearch;
  readonly pages: Pick<PageTable, "find" | "list" | "text">;
  readonly vectors: Pick<VectorTable, "put" | "get" | "missing" | "count">;
}
