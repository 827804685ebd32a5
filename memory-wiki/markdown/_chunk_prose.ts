/** Chunks of plain text: along paragraphs, under what looks like a heading. @module */
import type { ByteLine } from "./_byte_lines.ts";
import type { Chunker } from "./_chunk_markdown.ts";
import type { Cutter } from "./_cutter.ts";

const NUMBERED =
  /^(?:(\d{1,3}(?:\.\d{1,3}){0,5})\.?|Appendix ([A-Z])\.?|Chapter (\d{1,3})\.?)\s+\S.{0,80}$/;
const UNDERLINE = /^(?:={3,}|-{3,}|~{3,}|\*{3,})\s*$/;
const CAPITALS = /^[\p{Lu}\p{N}][\p{Lu}\p{N} ,&:'/()-]{3,60}$/u;
const LEADERS = /(?:\.\s?){4,}|\s\d+$/;

/** The heading that a paragraph is, if it is one. */
export function plainHeading(
  lines: readonly string[],
): { readonly level: number; readonly text: string } | undefined {
  const text = (lines[0] ?? "").trim();
  if (lines.length === 2 && UNDERLINE.test(lines[1] ?? "") && text.length <= 100) {
    return { level: lines[1]?.startsWith("=") === true ? 1 : 2, text };
  }
  if (lines.length !== 1 || text !== (lines[0] ?? "").trimEnd()) return undefined;
  const numbered = NUMBERED.exec(text);
  if (numbered !== null && !LEADERS.test(text) && !/[.;,]$/.test(text)) {
    return { level: (numbered[1] ?? "").split(".").length, text };
  }
  return CAPITALS.test(text) && /\p{Lu}{3}/u.test(text) ? { level: 1, text } : undefined;
}

/** A chunker of plain text. */
export function makeProseChunker(cutter: Cutter): Chunker {
  let paragraph: ByteLine[] = [];
  let path: { readonly level: number; readonly text: string }[] = [];

  function close(): void {
    if (paragraph.length === 0) return;
    const heading = paragraph.length <= 2
      ? plainHeading(paragraph.map(({ text }) => text))
      : undefined;
    if (heading === undefined) cutter.divide();
    else {
      cutter.section();
      path = [...path.filter(({ level }) => level < heading.level), heading];
      cutter.under(path.map(({ text }) => text));
    }
    for (const line of paragraph) cutter.add(line, heading !== undefined);
    paragraph = [];
  }

  return {
    line(line): void {
      if (line.text.trim() === "") return close();
      paragraph.push(line);
      // A text without empty lines is no paragraph, however long it gets.
      if (paragraph.length >= 64) close();
    },
    end(): void {
      close();
      cutter.end();
    },
  };
}
