/** The site's front page: pages by kind, and a search over a small index that it carries itself. @module */
import { mixColour, mixLabel, PageKind } from "../../contracts/mod.ts";
import type { Colour, Label, Page } from "../../contracts/mod.ts";
import { chips, documentHtml } from "./document_html.ts";
import { escapeHtml, hrefTo, scriptJson } from "./html.ts";
import type { SiteMap, SiteSource } from "./site_map.ts";

/** A row of the front page. */
export interface CatalogueRow {
  readonly page: Page;
  readonly path: string;
  /** One sentence. */
  readonly about: string;
  /** Distinct words, for the search. */
  readonly words: string;
}

/** Of all that the site shows. Nothing shown: as trusted and as public as can be. */
export function paintOfAll(
  shown: Iterable<{ readonly colour: Colour; readonly label: Label }>,
): { readonly colour: Colour; readonly label: Label } {
  let [colour, label]: [Colour, Label] = ["BLUE", "public"];
  for (const one of shown) {
    colour = mixColour(colour, one.colour);
    label = mixLabel(label, one.label);
  }
  return { colour, label };
}

const HEADS: Readonly<Record<Page["kind"], string>> = Object.freeze({
  summary: "Summaries",
  entity: "Entities",
  concept: "Concepts",
  comparison: "Comparisons",
  synthesis: "Syntheses",
});

/** The front page. */
export function catalogueHtml(rows: readonly CatalogueRow[]): string {
  const paint = paintOfAll(rows.map(({ page }) => page));
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

/** The list of sources. */
export function sourcesHtml(site: SiteMap): string {
  const sources = [...site.sources.values()].sort((a, b) => order(a.path, b.path));
  const paint = paintOfAll(sources);
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
