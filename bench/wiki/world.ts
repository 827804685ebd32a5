/** A real wiki in a temporary folder, filled for benches. @module */
import { PageName, type PagePatch } from "../../contracts/memory/mod.ts";
import { chunkText } from "../../memory-wiki/markdown/mod.ts";
import {
  makeIndexFiles,
  makeWikiSearch,
  termsOf,
  type WikiSearch,
} from "../../memory-wiki/search/mod.ts";
import { makeRig } from "../../memory-wiki/store/_fixture/wiki_rig.ts";
import type { NewSource, WikiStore } from "../../memory-wiki/store/wiki_store.ts";

/** One text to take in. */
export interface Text {
  readonly name: string;
  readonly title: string;
  readonly text: string;
}

/** A wiki with its search. Closed and removed when it is disposed of. */
export interface WikiWorld extends Disposable {
  readonly store: WikiStore;
  readonly search: WikiSearch;
  /** Bytes of the wiki's folder and its state. */
  bytes(): number;
  /** Another search over the same files, as the next process would have it. */
  again(): WikiSearch;
}

const SOURCES_AT_ONCE = 200;
const PAGES_AT_ONCE = 200;
const encoder = new TextEncoder();

/** Opens an empty one. */
export async function makeWikiWorld(): Promise<WikiWorld> {
  const rig = makeRig();
  const { store } = await rig.open();
  const again = (): WikiSearch =>
    makeWikiSearch(store, {
      now: Date.now,
      files: makeIndexFiles(`${rig.stateFolder}/search`),
    });
  return {
    store,
    search: again(),
    again,
    bytes: () => folderBytes(rig.dir),
    [Symbol.dispose]() {
      store.close();
      rig[Symbol.dispose]();
    },
  };
}

/** Takes texts in as Markdown sources, chunked as `remit wiki ingest` does; gives the count of chunks. */
export async function takeSources(store: WikiStore, texts: readonly Text[]): Promise<number> {
  let chunks = 0;
  for (let at = 0; at < texts.length; at += SOURCES_AT_ONCE) {
    const sources = texts.slice(at, at + SOURCES_AT_ONCE).map((text) => sourceOf(text));
    for (const source of sources) chunks += source.chunks.length;
    await store.sources.addAll(sources);
  }
  return chunks;
}

function sourceOf({ name, title, text }: Text): NewSource {
  const raw = encoder.encode(text);
  const cut = chunkText("markdown", raw, { termsOf, title });
  return {
    key: `file:/${name}`,
    kind: "markdown",
    title: cut.title,
    raw,
    label: "internal",
    colour: "YELLOW",
    owner: "operator",
    provenance: { origin: `/${name}`, by: "operator", retrievedAt: 1 },
    chunks: cut.chunks,
  };
}

/** Writes texts as pages of these names; `base` is the version that is there. */
export async function writePages(
  store: WikiStore,
  texts: readonly Text[],
  base = 0,
): Promise<void> {
  for (let at = 0; at < texts.length; at += PAGES_AT_ONCE) {
    const changes: PagePatch["changes"] = texts.slice(at, at + PAGES_AT_ONCE).map((text) => ({
      kind: "write",
      base,
      fresh: false,
      draft: {
        name: PageName.parse(text.name),
        kind: "summary",
        title: text.title.slice(0, 256),
        aliases: [],
        confidence: "extracted",
        body: text.text,
      },
    }));
    const patch = store.patches.propose({
      author: "operator",
      reason: "bench",
      changes,
      colour: "YELLOW",
      label: "internal",
    });
    const { state } = await store.patches.apply(patch.id, "operator");
    if (state !== "applied") throw new Error(`Cannot write pages: the patch is ${state}`);
  }
}

function folderBytes(folder: string): number {
  let sum = 0;
  for (const entry of Deno.readDirSync(folder)) {
    const path = `${folder}/${entry.name}`;
    sum += entry.isDirectory ? folderBytes(path) : Deno.lstatSync(path).size;
  }
  return sum;
}
