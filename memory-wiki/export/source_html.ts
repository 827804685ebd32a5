/** One source as a page of the site: its text, line by line, with what is cited marked. @module */
import { chips, documentHtml } from "./document_html.ts";
import type { ExportedStore } from "./exported_store.ts";
import { escapeHtml, hrefTo } from "./html.ts";
import type { SiteMap, SiteSource } from "./site_map.ts";

const DEPTH = 1;
/** A source up to this is shown whole; of a longer one, what is cited and its surroundings. */
const WHOLE_LINES = 20_000;
const WHOLE_BYTES = 2 * 1024 * 1024;
const AROUND = 20;
/** A longer line is cut: nobody reads it, and a browser would choke. Characters. */
const LINE = 4_000;

/** Renders a source. A file that is gone shows nothing but that. */
export function sourceHtml(store: ExportedStore, site: SiteMap, shown: SiteSource): string {
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

/** Ranges of lines that are shown, ascending and apart. */
function rangesOf({ source, uses }: SiteSource): readonly (readonly [number, number])[] {
  if (source.lines === 0) return [];
  if (source.lines <= WHOLE_LINES && source.bytes <= WHOLE_BYTES) return [[1, source.lines]];
  const wanted = [
    { startLine: 1, endLine: 1 },
    ...uses,
  ].map(({ startLine, endLine }): [number, number] => [
    Math.max(1, startLine - AROUND),
    Math.min(source.lines, endLine + AROUND),
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
      // A range's own anchor, so that its footnote leads here also without the script.
      const anchors = [...starts.get(next) ?? []].map((id) => `<i id="${id}"></i>`).join("");
      const mark = cited.has(next) ? ' class="cited"' : "";
      const whole = text.length > LINE
        ? `${text.slice(0, LINE)}… (${text.length} characters)`
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
