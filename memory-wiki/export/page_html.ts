/** Renders a page of the wiki for the site. Used by site.ts. @module */
import type { Page, PageName } from "../../contracts/memory/mod.ts";
import { type Block, blocksOf } from "../markdown/blocks.ts";
import { piecesOf } from "../markdown/inline.ts";
import { linkKey, readPage } from "../markdown/mod.ts";
import type { ReadPage } from "../markdown/page_text.ts";
import { blocksHtml, headingId, inlineHtml, type InlineLinks } from "./blocks_html.ts";
import { chips, documentHtml, escapeHtml, hrefTo, outwardUrl } from "./document_html.ts";
import type { ExportedStore, SiteMap } from "./site_map.ts";

/** Shown for a link to a page that is missing or not exported, so that the two look the same. */
const NOT_HERE = "(not in this export)";
const DEPTH = 1;

/** A rendered page. */
export interface RenderedPage {
  readonly html: string;
  /** Its body as text, without footnotes, with links as shown; the catalogue quotes only this. */
  readonly shown: string;
}

/** Renders a page. Internal links lead within the site or nowhere. */
export function pageHtml(store: ExportedStore, site: SiteMap, page: Page): RenderedPage {
  const read = readPage(store.pages.text(page.name) ?? "");
  const notes = makeNotes(read, site);
  const links: InlineLinks = {
    wiki: (target, shown) => wikiLink(store, site, { target, shown }),
    url: (url) => pageUrl(site, url),
    note: notes.refer,
  };
  const body = withoutTitle(read.body, page.title);
  const content = blocksHtml(body, links);
  const main = [
    `<h1>${escapeHtml(page.title)}</h1>`,
    metaHtml(page),
    page.colour === "RED"
      ? '<p class="warn">This page rests on sources that nobody vouches for (RED).</p>'
      : "",
    content,
    notes.html(links),
    backlinksHtml(site, page.name),
  ].filter((part) => part !== "").join("\n");
  const { title, colour, label } = page;
  const shown = body.replaceAll(/^\[\^[^\n]*$/gmu, "").replaceAll(
    /\[\[[^[\]\n]{1,400}\]\]/gu,
    (link) => {
      const [piece] = piecesOf(link);
      return piece?.kind === "link" ? links.wiki(piece.target, piece.shown).text : "";
    },
  );
  return { shown, html: documentHtml({ title, kind: "page", colour, label, depth: DEPTH, main }) };
}

function metaHtml(page: Page): string {
  const { colour, label, kind, confidence, version, reviewed, updatedAt, aliases } = page;
  const said = [
    `${kind}, confidence ${confidence}`,
    `version ${version} of ${new Date(updatedAt).toISOString().slice(0, 10)}`,
    reviewed === undefined ? "not reviewed" : `reviewed by ${reviewed.by}`,
    ...(aliases.length === 0 ? [] : [`also: ${aliases.join(", ")}`]),
  ];
  return `<p class="meta">${chips(colour, label)}${escapeHtml(said.join(" · "))}</p>`;
}

/** The template shows the title already. */
function withoutTitle(body: string, title: string): string {
  const found = /^\s*#[ \t]+([^\n]*)\n?/.exec(body);
  return found !== null && linkKey(found[1] ?? "") === linkKey(title)
    ? body.slice(found[0].length)
    : body;
}

/**
 * Resolves a link by name. Pages above the clearance look like pages that do not exist, and their titles stay hidden.
 */
function wikiLink(
  store: ExportedStore,
  site: SiteMap,
  { target, shown }: { readonly target: string; readonly shown: string },
): { readonly href?: string; readonly text: string } {
  const name = site.find(target);
  const found = name === undefined ? undefined : site.pages.get(name);
  if (found !== undefined) {
    return { href: hrefTo(found.path, DEPTH), text: shown === target ? found.page.title : shown };
  }
  const own = shown !== "" && linkKey(shown.split("#", 1)[0] ?? "") !== linkKey(target);
  // The author's own link text is shown, unless it is the title of a hidden page.
  return { text: own && store.pages.find(shown) === undefined ? shown : NOT_HERE };
}

/** Resolves a link by address: external (https, http, mailto), within the page, or to an exported file. */
function pageUrl(site: SiteMap, url: string): ReturnType<InlineLinks["url"]> {
  if (url.startsWith("#")) return { href: `#${headingId(decoded(url.slice(1)))}`, outward: false };
  const outward = outwardUrl(url);
  if (outward !== undefined) return { href: escapeHtml(outward), outward: true };
  const [path = ""] = decoded(url).split("#", 1);
  const raw = /^(?:\.\.\/|\.\/)?(raw\/[^/\\]{1,255})$/.exec(path)?.[1];
  const source = raw === undefined ? undefined : site.sources.get(raw);
  if (source !== undefined) return { href: hrefTo(source.path, DEPTH), outward: false };
  const name = /^(?:\.\/|\.\.\/pages\/|pages\/)?([^/\\]{1,240})\.md$/.exec(path)?.[1];
  const page = name === undefined ? undefined : site.find(name);
  const found = page === undefined ? undefined : site.pages.get(page);
  return found === undefined ? undefined : { href: hrefTo(found.path, DEPTH), outward: false };
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url; // a lone % is no encoding
  }
}

interface Notes {
  readonly refer: InlineLinks["note"];
  /** The list of footnotes, in order of definition. */
  html(links: InlineLinks): string;
}

function makeNotes(read: ReadPage, site: SiteMap): Notes {
  const defined = new Map<
    string,
    { readonly block: Block; readonly number: number; refs: number }
  >();
  for (const block of blocksOf(read.body.split("\n"), read.bodyLine)) {
    const key = block.note?.toLowerCase();
    if (block.kind !== "note" || key === undefined || defined.has(key)) continue;
    defined.set(key, { block, number: defined.size + 1, refs: 0 });
  }
  const cited = new Map(read.citations.map((citation) => [citation.line, citation]));
  return {
    refer(name) {
      const note = defined.get(name.toLowerCase());
      if (note === undefined) return undefined;
      note.refs += 1;
      const { number, refs } = note;
      return { href: `#fn-${number}`, id: `ref-${number}-${refs}`, number };
    },
    html(links) {
      if (defined.size === 0) return "";
      const items = [...defined.values()].map(({ block, number, refs }) => {
        const citation = cited.get(block.line);
        const text = citation === undefined
          ? inlineHtml(block.text, { ...links, note: () => undefined })
          : citationHtml(citation);
        const back = refs === 0 ? "" : ` <a href="#ref-${number}-1" title="back">↩</a>`;
        return `<li id="fn-${number}" value="${number}">${text}${back}</li>`;
      });
      return `<section class="notes"><h2>Sources</h2><ol>${items.join("\n")}</ol></section>`;
    },
  };

  function citationHtml(citation: ReadPage["citations"][number]): string {
    const { digestPrefix, startLine, endLine } = citation;
    const source = site.sourceOf(digestPrefix);
    // A page shown in part may cite a source that is not exported; not even its name is shown.
    if (source === undefined || source.source.text !== citation.file) {
      return "A source that is not in this export.";
    }
    const lines = startLine === endLine ? `line ${startLine}` : `lines ${startLine}-${endLine}`;
    const place = startLine === endLine ? `L${startLine}` : `L${startLine}-L${endLine}`;
    const name = source.source.title === "" ? source.source.text : source.source.title;
    return `<a href="${hrefTo(source.path, DEPTH)}#${place}">${escapeHtml(name)}, ${lines}</a> ${
      chips(source.colour, source.label)
    }`;
  }
}

function backlinksHtml(site: SiteMap, name: PageName): string {
  const from = site.backlinks.get(name) ?? [];
  if (from.length === 0) return "";
  const items = from.flatMap((other) => {
    const found = site.pages.get(other);
    return found === undefined
      ? []
      : [`<li><a href="${hrefTo(found.path, DEPTH)}">${escapeHtml(found.page.title)}</a></li>`];
  });
  return `<aside><h2>Linked from</h2><ul>${items.join("")}</ul></aside>`;
}
