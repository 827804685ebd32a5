/** Footnotes of a page that cite sources. @module */
import type { WikiSource } from "../../contracts/memory/mod.ts";
import { citationLine } from "./citation_line.ts";

/** Lines of a source, from 1, inclusive. */
export interface SourceLines {
  readonly source: WikiSource;
  readonly startLine: number;
  readonly endLine: number;
}

/** Characters of a source's name. */
const MAX_NAME = 120;

/**
 * The last two segments of a source's path or URL, without the query, so that no page reveals where a
 * person's files lie; else its title.
 */
export function shownName(source: Pick<WikiSource, "key" | "title" | "provenance">): string {
  const { key, title, provenance: { origin } } = source;
  const [path = ""] = (origin === "-" ? key : origin).split(/[?#]/, 1);
  const parts = path.replace(/^[a-z][a-z0-9+.-]*:(?:\/\/)?/i, "").split("/").filter((part) =>
    part !== ""
  );
  const name = parts.slice(-2).join("/");
  return (name === "" ? title : name).slice(-MAX_NAME).toWellFormed();
}

/** The definition of footnote `note`. */
export function citeSource(note: string, { source, startLine, endLine }: SourceLines): string {
  const { text: file, digest } = source;
  return citationLine({ note, file, shown: shownName(source), digest, startLine, endLine });
}

/** Footnotes of one page. */
export interface Footnotes {
  /** `[^N]`; the same lines share a number. */
  mark(lines: SourceLines): string;
  /** In order of their numbers. */
  readonly definitions: readonly string[];
}

/** Numbers footnotes. `taken`: names of those that the page already has. */
export function makeFootnotes(taken: ReadonlySet<string> = new Set()): Footnotes {
  const marks = new Map<string, string>();
  const definitions: string[] = [];
  let next = 1;
  return Object.freeze<Footnotes>({
    definitions,
    mark(lines) {
      const key = `${lines.source.digest}:${lines.startLine}-${lines.endLine}`;
      return marks.getOrInsertComputed(key, () => {
        while (taken.has(String(next))) next++;
        const note = String(next++);
        definitions.push(citeSource(note, lines));
        return `[^${note}]`;
      });
    },
  });
}
