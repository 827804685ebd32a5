/** Collects Markdown: blocks with blank lines between them, under the marks of lists and quotes. @module */

/** Where Markdown is written to. */
export interface MarkdownOut {
  /** A block of one or more lines, set apart by blank lines. */
  block(text: string): void;
  /** Writes what `write` writes with `first` before its first line and `rest` before the others. */
  under(
    marks: { readonly first: string; readonly rest: string; readonly tight: boolean },
    write: () => void,
  ): void;
  /** Whether enough was written. */
  full(): boolean;
  text(): string;
}

/** Most levels of lists and quotes that are marked: deeper ones lie on the deepest. */
const MARKED = 8;

/** Makes a collector that is full after `most` characters. */
export function makeMarkdownOut(most: number): MarkdownOut {
  const lines: string[] = [];
  let size = 0;
  let prefix = "";
  let pending: string | undefined;
  let levels = 0;
  let tight = false;
  let written = false;

  const line = (text: string): void => {
    if (size > most) return;
    const full = (pending ?? prefix) + text;
    pending = undefined;
    lines.push(text === "" ? full.trimEnd() : full);
    size += full.length + 1;
  };

  const block = (text: string): void => {
    if (text.trim() === "") return;
    if (written && pending === undefined && !tight) line("");
    for (const part of text.split("\n")) line(part);
    written = true;
    tight = false;
  };

  return Object.freeze({
    block,
    under: (
      marks: { readonly first: string; readonly rest: string; readonly tight: boolean },
      write: () => void,
    ) => {
      if (levels >= MARKED) return write();
      if (written && pending === undefined && !marks.tight) line("");
      const outer = prefix;
      const before = lines.length;
      levels += 1;
      pending = (pending ?? prefix) + marks.first;
      prefix = outer + marks.rest;
      tight = false;
      write();
      levels -= 1;
      prefix = outer;
      pending = undefined;
      if (lines.length > before) written = true;
    },
    full: () => size > most,
    text: () => lines.join("\n").replace(/\n{3,}/g, "\n\n").trim(),
  });
}
