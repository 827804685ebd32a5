/** A page of cited statements under way: a new one, or sections behind what stands. @module */
import type { WikiSource } from "../../contracts/mod.ts";
import { escapeLine } from "../markdown/mod.ts";
import { citeSource } from "./cite_source.ts";

/** One statement with the lines that it rests on. */
export interface CitedLine {
  /** Markdown, one line, already escaped. */
  readonly text: string;
  readonly source: WikiSource;
  readonly startLine: number;
  readonly endLine: number;
}

/** Collects sections and gives each cited span one footnote. */
export interface PageBuilder {
  section(heading: string | undefined, lines: readonly CitedLine[]): void;
  /** Sections, then the footnotes. Empty when nothing was added. */
  text(): string;
  /** Statements that were added. */
  count(): number;
}

/** Begins. `taken` are names of footnotes that stand on the page already. */
export function makePageBuilder(taken: ReadonlySet<string>): PageBuilder {
  const blocks: string[] = [];
  const notes = new Map<string, string>();
  const definitions: string[] = [];
  let next = 1;
  let count = 0;

  function noteOf({ source, startLine, endLine }: CitedLine): string {
    const span = `${source.digest}:${startLine}-${endLine}`;
    const known = notes.get(span);
    if (known !== undefined) return known;
    while (taken.has(String(next))) next++;
    const note = String(next++);
    notes.set(span, note);
    definitions.push(citeSource(note, source, { startLine, endLine }));
    return note;
  }

  return Object.freeze<PageBuilder>({
    section(heading, lines) {
      if (lines.length === 0) return;
      if (heading !== undefined) blocks.push(`## ${escapeLine(heading)}`);
      blocks.push(lines.map((line) => `- ${line.text}[^${noteOf(line)}]`).join("\n"));
      count += lines.length;
    },
    text: () => blocks.length === 0 ? "" : `${[...blocks, definitions.join("\n")].join("\n\n")}\n`,
    count: () => count,
  });
}
