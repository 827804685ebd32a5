/** The wiki as a site of static files, one after another. @module */
import { createHash } from "node:crypto";
import { type Colour, Digest, type Label } from "../../contracts/mod.ts";
import { aboutOf } from "../markdown/mod.ts";
import { catalogueHtml, type CatalogueRow, paintOfAll, sourcesHtml } from "./catalogue.ts";
import type { ExportedStore } from "./exported_store.ts";
import type { ExportedFile, ExportManifest } from "./manifest.ts";
import { pageHtml } from "./page_html.ts";
import { searchWords } from "./search_words.ts";
import { makeSiteMap } from "./site_map.ts";
import { sourceHtml } from "./source_html.ts";

/** What is exported, and for whom. */
export interface ExportOptions {
  /** Nothing above it leaves, nor leaves a trace. */
  readonly clearance: Label;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Whether the store notes colour and label of each file, so that it comes back as what it is. Default true. */
  readonly record?: boolean;
}

/** One file: its path beneath the site's root, `/` between folders, and its text. */
export interface SiteFile {
  readonly path: string;
  readonly text: string;
}

/**
 * Files of the site in a fixed order, each made when it is asked for; `remit.json` is the last. The same wiki, clearance
 * and time give the same bytes, whatever is above the clearance.
 *
 * @throws Fault `storeCorrupt` when the store cannot be read.
 */
export function* exportSite(store: ExportedStore, options: ExportOptions): Generator<SiteFile> {
  const { clearance, now, record = true } = options;
  const site = makeSiteMap(store, { clearance, now });
  const files: ExportedFile[] = [];
  const rows: CatalogueRow[] = [];

  const written = (
    file: SiteFile,
    paint: { readonly colour: Colour; readonly label: Label },
    of: Pick<ExportedFile, "page" | "source"> = {},
  ): SiteFile => {
    const digest = Digest.parse(createHash("sha256").update(file.text).digest("hex"));
    if (record) store.sources.recordExport(digest, paint.colour, paint.label);
    const { colour, label } = paint;
    files.push({ path: file.path, digest, colour, label, ...of });
    return file;
  };

  for (const { page, path } of site.pages.values()) {
    const { html, shown } = pageHtml(store, site, page);
    rows.push({ page, path, about: aboutOf(shown), words: searchWords(shown) });
    const { name, version, digest } = page;
    yield written({ path, text: html }, page, { page: { name, version, digest } });
  }
  for (const shown of site.sources.values()) {
    const { text, version, digest } = shown.source;
    const html = sourceHtml(store, site, shown);
    yield written({ path: shown.path, text: html }, shown, { source: { text, version, digest } });
  }
  const pages = [...site.pages.values()].map(({ page }) => page);
  const all = paintOfAll([...pages, ...site.sources.values()]);
  yield written({ path: "index.html", text: catalogueHtml(rows) }, paintOfAll(pages));
  yield written(
    { path: "sources.html", text: sourcesHtml(site) },
    paintOfAll(site.sources.values()),
  );
  const manifest: ExportManifest = {
    ...{ remit: "wiki-export", version: 1, exportedAt: now, clearance },
    ...all,
    files: [...files],
  };
  yield written({ path: "remit.json", text: `${JSON.stringify(manifest, undefined, 1)}\n` }, all);
}
