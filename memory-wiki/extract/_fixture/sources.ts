/** Sources without a store, for tests of the rules' results. @module */
import { createHash } from "node:crypto";
import { type SourceKind, WikiSource } from "../../../contracts/memory/mod.ts";
import { chunkText } from "../../markdown/mod.ts";
import { draftPages } from "../draft_pages.ts";
import type { PageDraft } from "../../../contracts/memory/mod.ts";

/** A source as ingest makes it of a file with this path and text. */
function sourceOf(path: string, text: string, kind: SourceKind = "markdown"): WikiSource {
  const raw = new TextEncoder().encode(text);
  const digest = createHash("sha256").update(raw).digest("hex");
  const file = path.split("/").at(-1) ?? path;
  const { title, lines } = chunkText(kind, raw, { termsOf: () => [], title: file });
  const name = `raw/${file.replace(/\.[a-z]+$/, "")}.${digest.slice(0, 12)}.md`;
  return WikiSource.parse({
    id: 1,
    key: `file:/home/alice/${path}`,
    version: 1,
    digest,
    textDigest: digest,
    kind,
    title,
    raw: name,
    text: name,
    bytes: raw.length,
    lines,
    label: "internal",
    colour: "YELLOW",
    owner: "alice",
    provenance: { origin: `/home/alice/${path}`, by: "operator", retrievedAt: 1 },
    state: "current",
    ingestedAt: 1,
  });
}

/** Drafts of files by path, as one class of sources. */
export function draftsOf(files: Readonly<Record<string, string>>): ReadonlyMap<string, PageDraft> {
  const sources = Object.entries(files).map(([path, text]) => ({
    source: sourceOf(path, text, path.endsWith(".ts") ? "code" : "markdown"),
    text,
  }));
  const texts = new Map(sources.map(({ source, text }) => [source.key, text]));
  const drafts = draftPages({
    sources: sources.map(({ source }) => source),
    text: ({ key }) => texts.get(key) ?? "",
    taken: new Set(),
    suffix: "internal-yellow",
  });
  return new Map(drafts.map((draft) => [draft.name, draft]));
}
