/** Parses a page's file: front matter, claims, citations, links. Nothing in it is trusted. @module */
import { type Block, blocksOf } from "./blocks.ts";
import { readCitation } from "./citation_line.ts";
import { claimsOf } from "./claims.ts";
import { readFront, splitFile } from "./front_matter.ts";
import { piecesOf, plainLine } from "./inline.ts";
import type { ReadPage } from "./page_text.ts";

/**
 * Parses the text of a page's file. Any text is valid; linear time.
 * @example
 * ```ts
 * import { readPage } from "./read_page.ts";
 * readPage("# Lease\n\nIt ends.[^1]\n").brokenNotes; // [{ note: "1", line: 3, why: "it is not defined" }]
 * ```
 */
export function readPage(text: string): ReadPage {
  const { front, body, bodyLine } = splitFile(text);
  const blocks = blocksOf(body.split("\n"), bodyLine);
  const { links, references } = marksOf(blocks);
  return {
    front: readFront(front),
    body,
    bodyLine,
    claims: claimsOf(blocks),
    ...notesOf(blocks, references),
    links,
    headings: blocks.filter(({ kind }) => kind === "heading").map(({ text, level, line }) => ({
      text: plainLine(text),
      level,
      line,
    })),
  };
}

/** GFM: footnote names ignore case. */
function keyOf(note: string): string {
  return note.toLowerCase();
}

type Reference = { readonly note: string; readonly line: number };

function marksOf(blocks: readonly Block[]): {
  readonly links: ReadPage["links"];
  readonly references: readonly Reference[];
} {
  const links: { target: string; line: number }[] = [];
  const references: Reference[] = [];
  for (const { kind, text, line: first } of blocks) {
    if (kind === "code" || kind === "comment" || kind === "rule") continue;
    let line = first;
    for (const piece of piecesOf(text)) {
      if (piece.kind === "link") {
        if (piece.target !== "") links.push({ target: piece.target, line });
      } else if (piece.kind === "note") references.push({ note: piece.name, line });
      else for (const sign of piece.text) if (sign === "\n") line += 1;
    }
  }
  return { links, references };
}

function notesOf(
  blocks: readonly Block[],
  references: readonly Reference[],
): Pick<ReadPage, "citations" | "brokenNotes"> {
  const citations: ReadPage["citations"][number][] = [];
  const brokenNotes: ReadPage["brokenNotes"][number][] = [];
  const told = new Set<string>();
  for (const { kind, note, line, text } of blocks) {
    if (kind !== "note" || note === undefined) continue;
    if (told.has(keyOf(note))) {
      brokenNotes.push({ note, line, why: "it is defined twice" });
      continue;
    }
    told.add(keyOf(note));
    const read = readCitation(text);
    if (read.kind === "broken") brokenNotes.push({ note, line, why: read.why });
    else {
      const { file, digestPrefix, startLine, endLine } = read;
      citations.push({ note, file, digestPrefix, startLine, endLine, line });
    }
  }
  for (const { note, line } of references) {
    if (told.has(keyOf(note))) continue;
    told.add(keyOf(note));
    brokenNotes.push({ note, line, why: "it is not defined" });
  }
  return { citations, brokenNotes };
}
