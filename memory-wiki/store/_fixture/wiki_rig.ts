/** A real wiki in a temporary folder, for tests of the store. @module */
import type { Colour, Label } from "../../../contracts/authority/mod.ts";
import {
  type PageChange,
  PageName,
  type PagePatch,
  type WikiSource,
} from "../../../contracts/memory/mod.ts";
import { citationLine } from "../../markdown/citation_line.ts";
import { writePage } from "../../markdown/front_matter.ts";
import { linkKey } from "../../markdown/page_name.ts";
import { readPage } from "../../markdown/read_page.ts";
import { aboutOf, renderIndex } from "../../markdown/render_index.ts";
import type { StorePowers } from "../inside.ts";
import { type OpenedWiki, openWikiStore, type WikiParts } from "../open.ts";
import { wikiStorePowers } from "../store_powers.ts";
import type { NewChunk, NewSource, WikiStore } from "../wiki_store.ts";

/** A wiki's two folders, removed at the end. */
export interface Rig extends Disposable {
  readonly dir: string;
  readonly folder: string;
  readonly stateFolder: string;
  open(more?: Partial<WikiParts>): Promise<OpenedWiki>;
}

/** Options of every opening in tests. */
export function partsFor(folder: string, stateFolder: string, powers: StorePowers): WikiParts {
  return {
    folder,
    stateFolder,
    create: true,
    readOnly: false,
    trustedKeys: [],
    powers,
    readPage,
    writePage,
    renderIndex,
    aboutOf,
    linkKey,
    instructions: "# Instructions\n",
  };
}

/** A new place for a wiki. */
export function makeRig(): Rig {
  const dir = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "remit-wiki-store-" }));
  const [folder, stateFolder] = [`${dir}/wiki`, `${dir}/state`];
  return {
    dir,
    folder,
    stateFolder,
    open: (more = {}) =>
      openWikiStore({ ...partsFor(folder, stateFolder, wikiStorePowers()), ...more }),
    [Symbol.dispose]: () => Deno.removeSync(dir, { recursive: true }),
  };
}

/** One passage for every non-empty line. */
export function chunksOf(text: string): readonly NewChunk[] {
  let at = 0;
  return text.split("\n").flatMap((line, index) => {
    const startByte = at;
    const endByte = startByte + new TextEncoder().encode(line).length;
    at = endByte + 1;
    if (line === "") return [];
    const terms = line.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean).join(" ");
    const [startLine, endLine] = [index + 1, index + 1];
    return [{ startLine, endLine, startByte, endByte, heading: "", terms, headingTerms: "" }];
  });
}

/** A Markdown source of `text`. */
export function sourceFrom(key: string, text: string, more: Partial<NewSource> = {}): NewSource {
  return {
    key,
    kind: "markdown",
    title: key.slice(0, 512),
    raw: new TextEncoder().encode(text),
    label: "internal",
    colour: "YELLOW",
    owner: "alice",
    provenance: { origin: key, by: "operator", retrievedAt: 1 },
    chunks: chunksOf(text),
    ...more,
  };
}

/** A footnote's definition for lines of a source. */
export function citing(
  note: string,
  source: WikiSource,
  startLine: number,
  endLine = startLine,
): string {
  return citationLine({
    note,
    file: source.text,
    shown: source.title,
    digest: source.digest,
    startLine,
    endLine,
  });
}

/** A change that writes a page. */
export function writing(name: string, body: string, base = 0, fresh = false): PageChange {
  return {
    kind: "write",
    base,
    fresh,
    draft: {
      name: PageName.parse(name),
      kind: "concept",
      title: name,
      aliases: [],
      confidence: "high",
      body,
    },
  };
}

/** Proposes and applies a change. */
export async function writePages(
  store: WikiStore,
  changes: readonly PageChange[],
  trust: { readonly colour: Colour; readonly label: Label } = { colour: "BLUE", label: "public" },
): Promise<PagePatch> {
  const patch = store.patches.propose({ author: "operator", reason: "test", changes, ...trust });
  return await store.patches.apply(patch.id, "operator");
}

/** A page's name. */
export const named = (name: string): PageName => PageName.parse(name);
