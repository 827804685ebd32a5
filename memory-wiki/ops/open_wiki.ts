/** What every op works with: one open wiki, and the few powers beside its store. @module */
import type { ContentColours, Json, ParseAsk, Parsed, WikiStatus } from "../../contracts/mod.ts";
import type { WikiSearch } from "../search/search.ts";
import type { WikiStore } from "../store/wiki_store.ts";
import type { SourceReader } from "../ingest/source_reader.ts";

/** What the wiki's process has beside its store. */
export interface WikiHands {
  readonly now: () => number;
  /** Reads the files that are taken in. */
  readonly reader: SourceReader;
  /** Makes text of a document, in a process without permissions. */
  readonly parse: (ask: ParseAsk) => Promise<Parsed>;
  /** What the whole state knows of a content. */
  readonly known: (digest: string) => Promise<ContentColours>;
  /** Tells the starter. */
  readonly tell: (op: "progress" | "file", body: Json) => void;
}

/** One open wiki. */
export interface OpenWiki {
  readonly store: WikiStore;
  readonly search: WikiSearch;
  readonly hands: WikiHands;
  readonly readOnly: boolean;
  /** What the opening repaired, sentences. */
  readonly repaired: readonly string[];
  /** Files that could not be taken in when hand edits were last looked for. */
  readonly problems: () => readonly FileProblem[];
  readonly sync: () => Promise<Synced>;
  /** Items of model ingests that are known to be answered: they are not looked up again. */
  readonly answered: Set<string>;
}

/** What a look for hand edits found. */
export type Synced = Awaited<ReturnType<WikiStore["pages"]["sync"]>>;
/** A file that is no page. */
export type FileProblem = Synced["problems"][number];

/** How the wiki stands. */
export function statusOf({ store, search, repaired }: OpenWiki): WikiStatus {
  const { sources, chunks } = store.sources.count("secret");
  return {
    folder: store.folder,
    pages: store.pages.count("secret"),
    sources,
    passages: chunks,
    generation: store.generation(),
    index: search.state(),
    repaired,
    patches: store.patches.list("proposed").length,
    notesWaiting: store.notes.list({ clearance: "secret", state: "waiting" }).length,
  };
}
