/** Citations of an older version, moved to where the same words stand in the current one. @module */
import {
  cleared,
  colourSuffices,
  type Finding,
  type Page,
  type WikiSource,
} from "../../contracts/mod.ts";
import { citationLine } from "../markdown/citation_line.ts";
import type { ReadPage } from "../markdown/page_text.ts";
import type { LintedStore } from "./linted_store.ts";
import { makeCitedSource } from "./cited_sources.ts";

/** Whether a page that cites `current` stays as trusted and as public as it is. */
export function mayMoveTo(
  current: Pick<WikiSource, "colour" | "label">,
  page: Pick<Page, "colour" | "label">,
): boolean {
  return cleared(current.label, page.label) && colourSuffices(current.colour, page.colour);
}

/** Writes each footnote of a finding anew, where its words are found again and its source is trusted as before. */
export function moveCitations(
  store: LintedStore,
  page: Page,
  read: Pick<ReadPage, "body" | "bodyLine" | "citations">,
  findings: readonly Finding[],
): { readonly body: string; readonly sources: readonly WikiSource[] } {
  const lines = read.body.split("\n");
  const sources: WikiSource[] = [];
  const at = new Set(findings.map(({ line }) => line));
  for (const { note, digestPrefix, startLine, endLine, line } of read.citations) {
    const source = at.has(line) ? store.sources.byDigest(digestPrefix) : undefined;
    const definition = lines[line - read.bodyLine];
    if (source === undefined || definition === undefined) continue;
    const cited = makeCitedSource(store, source, []);
    const { current } = cited;
    if (current === undefined || current.id === source.id || !mayMoveTo(current, page)) continue;
    const span = cited.moved({ startLine, endLine });
    if (span === undefined) continue;
    const shown = /\]:[ \t]*\[((?:\\.|[^[\]\\])*)\]\(/u.exec(definition)?.[1] ?? current.text;
    lines[line - read.bodyLine] = citationLine({
      note,
      file: current.text,
      shown: shown.replaceAll(/\\(.)/gu, "$1"),
      digest: current.digest,
      ...span,
    });
    sources.push(current);
  }
  return { body: lines.join("\n"), sources };
}
