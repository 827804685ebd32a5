/** Generates the wiki's static site, file by file. Used by memory-wiki/ops/lint_ops.ts. @module */
import { createHash } from "node:crypto";
import * as z from "zod";
import { Colour, Digest, Label, Millis } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { type Page, PageKind } from "../../contracts/memory/mod.ts";
import type { ExportReport } from "../../contracts/wire/wire_wiki.ts";
import { aboutOf } from "../markdown/mod.ts";
import { chips, documentHtml, escapeHtml, hrefTo, scriptJson } from "./document_html.ts";
import { pageHtml } from "./page_html.ts";
import { type ExportedStore, makeSiteMap, type SiteMap, type SiteSource } from "./site_map.ts";
import { type Trust, trustOfAll } from "../store/trust_rules.ts";

/** Options of an export. */
export interface ExportOptions {
  /** Pages and sources above it are not exported and leave no trace. */
  readonly clearance: Label;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Whether the store records colour and label of each file's digest, for the case that a file comes back. True. */
  readonly record?: boolean;
}

/** A file: path beneath the root of the site, with `/`, and text. */
export interface SiteFile {
  readonly path: string;
  readonly text: string;
}

/**
 * The files of the site in a fixed order, generated on demand; `remit.json` is last. Deterministic for a
 * wiki, clearance and time, whatever lies above the clearance.
 *
 * @throws Fault `storeCorrupt` when the store cannot be read
 */
export function* exportSite(store: ExportedStore, options: ExportOptions): Generator<SiteFile> {
  const { clearance, now, record = true } = options;
  const site = makeSiteMap(store, { clearance, now });
  const files: ExportedFile[] = [];
  const rows: CatalogueRow[] = [];

  const written = (
    file: SiteFile,
    paint: Trust,
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
  const all = trustOfAll([...pages, ...site.sources.values()]);
  yield written({ path: "index.html", text: catalogueHtml(rows) }, trustOfAll(pages));
  yield written(
    { path: "sources.html", text: sourcesHtml(site) },
    trustOfAll(site.sources.values()),
  );
  const manifest: ExportManifest = {
    ...{ remit: "wiki-export", version: 1, exportedAt: now, clearance },
    ...all,
    files: [...files],
  };
  yield written({ path: "remit.json", text: `${JSON.stringify(manifest, undefined, 1)}\n` }, all);
}

// `remit.json`: all files of an export with digest, colour and label.

const ExportedFile = z.object({
  path: z.string().min(1).max(1_024),
  /** Of the file's bytes. */
  digest: Digest,
  colour: Colour,
  label: Label,
  /** The page or source shown; absent for lists. */
  page: z.object({ name: z.string(), version: z.int(), digest: Digest }).strict().optional(),
  source: z.object({ text: z.string(), version: z.int(), digest: Digest }).strict().optional(),
}).strict();
type ExportedFile = z.infer<typeof ExportedFile>;

/** The manifest. Informative only: for a file that comes back, the store's own record counts. */
export const ExportManifest = z.object({
  remit: z.literal("wiki-export"),
  version: z.literal(1),
  exportedAt: Millis,
  clearance: Label,
  colour: Colour,
  label: Label,
  files: z.array(ExportedFile),
}).strict();
export type ExportManifest = z.infer<typeof ExportManifest>;

/**
 * Counts the files of an export by its manifest, including the manifest.
 *
 * @throws Fault `invalidInput` unless the text is a manifest
 */
export function reportOf(manifest: string): ExportReport {
  const { files, colour, label } = parseManifest(manifest);
  return {
    files: files.length + 1,
    pages: files.filter(({ page }) => page !== undefined).length,
    sources: files.filter(({ source }) => source !== undefined).length,
    colour,
    label,
  };
}

function parseManifest(text: string): ExportManifest {
  try {
    return ExportManifest.parse(JSON.parse(text));
  } catch (cause) {
    throw new Fault("invalidInput", "Cannot read an export's manifest: it is none", { cause });
  }
}

// The words of a page for the site's search, limited in number.

const MAX_WORDS = 150;
const MAX_WORD = 40;

/** Distinct lower-case words in order; runs of up to 40 characters in scripts without spaces. */
function searchWords(text: string): string {
  const words = new Set<string>();
  const found = text.normalize("NFKC").toLowerCase().matchAll(
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{1,40}|[\p{L}\p{N}]+/gu,
  );
  for (const [word] of found) {
    if (word.length > 1 && word.length <= MAX_WORD) words.add(word);
    if (words.size === MAX_WORDS) break;
  }
  return [...words].join(" ");
}

// Renders a source: its text line by line, with cited lines marked.

const DEPTH = 1;
/** Longer sources are shown in part: cited lines with their context. */
const WHOLE_LINES = 20_000;
const WHOLE_BYTES = 2 * 1024 * 1024;
const CONTEXT_LINES = 20;
/** Characters of a line; longer lines are cut, since they would slow down a browser. */
const MAX_LINE = 4_000;

/** Renders a source; without lines if its file is missing. */
function sourceHtml(store: ExportedStore, site: SiteMap, shown: SiteSource): string {
  const { source, colour, label, uses } = shown;
  const title = source.title === "" ? source.text : source.title;
  const { provenance: { origin, retrievedAt }, version, state, kind, lines, digest } = source;
  const said = [
    `${kind}, ${lines} lines`,
    `version ${version}, ${state}`,
    `from ${origin}`,
    `retrieved ${new Date(retrievedAt).toISOString().slice(0, 10)}`,
    `sha256 ${digest.slice(0, 16)}`,
  ];
  const main = [
    `<h1>${escapeHtml(title)}</h1>`,
    `<p class="meta">${chips(colour, label)}${escapeHtml(said.join(" · "))}</p>`,
    `<pre class="lines">${linesHtml(store, shown)}</pre>`,
    citingHtml(site, uses),
  ].join("\n");
  return documentHtml({ title, kind: "source", colour, label, depth: DEPTH, main });
}

/** Ranges of lines to show, ascending and disjoint. */
function rangesOf({ source, uses }: SiteSource): readonly (readonly [number, number])[] {
  if (source.lines === 0) return [];
  if (source.lines <= WHOLE_LINES && source.bytes <= WHOLE_BYTES) return [[1, source.lines]];
  const wanted = [
    { startLine: 1, endLine: 1 },
    ...uses,
  ].map(({ startLine, endLine }): [number, number] => [
    Math.max(1, startLine - CONTEXT_LINES),
    Math.min(source.lines, endLine + CONTEXT_LINES),
  ]).sort(([a], [b]) => a - b);
  const ranges: [number, number][] = [];
  for (const [from, to] of wanted) {
    const last = ranges.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else ranges.push([from, to]);
  }
  return ranges;
}

function linesHtml(store: ExportedStore, shown: SiteSource): string {
  const { source, uses } = shown;
  const cited = new Set<number>();
  const starts = new Map<number, Set<string>>();
  for (const { startLine, endLine } of uses) {
    for (let line = startLine; line <= endLine; line += 1) cited.add(line);
    if (endLine === startLine) continue;
    const ids = starts.get(startLine) ?? new Set();
    ids.add(`L${startLine}-L${endLine}`);
    starts.set(startLine, ids);
  }
  const out: string[] = [];
  let next = 1;
  for (const [from, to] of rangesOf(shown)) {
    if (from > next) out.push(gapHtml(next, from - 1));
    next = from;
    for (const text of textLines(store, source, [from, to])) {
      // An anchor for each cited range, so that footnotes work without the script.
      const anchors = [...starts.get(next) ?? []].map((id) => `<i id="${id}"></i>`).join("");
      const mark = cited.has(next) ? ' class="cited"' : "";
      const whole = text.length > MAX_LINE
        ? `${text.slice(0, MAX_LINE)}… (${text.length} characters)`
        : text;
      out.push(
        `<span id="L${next}"${mark}>${anchors}<a href="#L${next}">${next}</a>${
          escapeHtml(whole)
        }</span>`,
      );
      next += 1;
    }
  }
  if (next <= source.lines) out.push(gapHtml(next, source.lines));
  return out.join("");
}

function textLines(
  store: ExportedStore,
  source: SiteSource["source"],
  [from, to]: readonly [number, number],
): readonly string[] {
  try {
    return store.sources.lines(source, from, to, 4 * WHOLE_BYTES).split("\n");
  } catch {
    return []; // the lint tells that its file is gone; the gap shows here
  }
}

function gapHtml(from: number, to: number): string {
  return `<span class="gap">lines ${from} to ${to} are not shown</span>`;
}

function citingHtml(site: SiteMap, uses: SiteSource["uses"]): string {
  const names = [...new Set(uses.map(({ page }) => page))];
  if (names.length === 0) return "";
  const items = names.flatMap((name) => {
    const found = site.pages.get(name);
    return found === undefined
      ? []
      : [`<li><a href="${hrefTo(found.path, DEPTH)}">${escapeHtml(found.page.title)}</a></li>`];
  });
  return `<aside><h2>Cited by</h2><ul>${items.join("")}</ul></aside>`;
}

// The front page: pages by kind, and a search over an embedded index.

interface CatalogueRow {
  readonly page: Page;
  readonly path: string;
  /** One sentence. */
  readonly about: string;
  /** Distinct words, for the search. */
  readonly words: string;
}

/** The combined colour and label of what is shown; BLUE and public for nothing. */
const HEADS: Readonly<Record<Page["kind"], string>> = Object.freeze({
  summary: "Summaries",
  entity: "Entities",
  concept: "Concepts",
  comparison: "Comparisons",
  synthesis: "Syntheses",
});

function catalogueHtml(rows: readonly CatalogueRow[]): string {
  const paint = trustOfAll(rows.map(({ page }) => page));
  const index = rows.map(({ page, path, about, words }) => ({
    t: page.title,
    u: encodeURI(path).replaceAll("#", "%23").replaceAll("?", "%3F"),
    k: page.kind,
    c: page.colour,
    l: page.label,
    x: about,
    w: words,
  }));
  const lists = PageKind.options.map((kind) => {
    const ofKind = rows.filter(({ page }) => page.kind === kind)
      .sort((a, b) => order(a.page.title, b.page.title) || order(a.path, b.path));
    if (ofKind.length === 0) return "";
    return `<h2>${HEADS[kind]}</h2>\n<ul class="rows">${ofKind.map(rowHtml).join("\n")}</ul>`;
  });
  const main = [
    `<h1>Wiki</h1>`,
    `<p class="meta">${chips(paint.colour, paint.label)}${rows.length} pages</p>`,
    '<label for="remit-search">Search titles and words</label>',
    '<input type="search" id="remit-search" autocomplete="off" spellcheck="false">',
    '<ul class="rows" id="remit-found"></ul>',
    ...lists.filter((list) => list !== ""),
    `<script type="application/json" id="remit-index">${scriptJson(index)}</script>`,
  ].join("\n");
  return documentHtml({ title: "Wiki", kind: "index", ...paint, depth: 0, main });
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function rowHtml({ page, path, about }: CatalogueRow): string {
  return `<li><a href="${hrefTo(path, 0)}">${escapeHtml(page.title)}</a> ${
    chips(page.colour, page.label)
  }<small>${escapeHtml(about)}</small></li>`;
}

function sourcesHtml(site: SiteMap): string {
  const sources = [...site.sources.values()].sort((a, b) => order(a.path, b.path));
  const paint = trustOfAll(sources);
  const items = sources.map((one: SiteSource) => {
    const { source, path, colour, label, uses } = one;
    const title = source.title === "" ? source.text : source.title;
    const cited = `cited ${uses.length} times`;
    return `<li><a href="${hrefTo(path, 0)}">${escapeHtml(title)}</a> ${
      chips(colour, label)
    }<small>${escapeHtml(`${source.provenance.origin} · ${source.state} · ${cited}`)}</small></li>`;
  });
  const main = [
    "<h1>Sources</h1>",
    `<p class="meta">${chips(paint.colour, paint.label)}${sources.length} sources</p>`,
    `<ul class="rows">${items.join("\n")}</ul>`,
  ].join("\n");
  return documentHtml({ title: "Sources", kind: "sources", ...paint, depth: 0, main });
}
