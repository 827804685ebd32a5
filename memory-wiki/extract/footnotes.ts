/** Footnotes of a page under way: the same lines get the same number. @module */
import type { WikiSource } from "../../contracts/mod.ts";
import { citationLine } from "../markdown/mod.ts";
import { shownName } from "./shown_name.ts";

/** Numbers and definitions of citations. */
export interface Footnotes {
  /** `[^N]` for lines of a source. */
  mark(
    source: WikiSource,
    lines: { readonly startLine: number; readonly endLine: number },
  ): string;
  /** Definitions in the order of their numbers. */
  definitions(): readonly string[];
}

/** Footnotes for one page, from `[^1]`. */
export function makeFootnotes(): Footnotes {
  const numbers = new Map<string, number>();
  const definitions: string[] = [];
  return {
    mark(source, { startLine, endLine }): string {
      const key = `${source.digest} ${startLine} ${endLine}`;
      const known = numbers.get(key);
      if (known !== undefined) return `[^${known}]`;
      const number = definitions.length + 1;
      numbers.set(key, number);
      const { text: file, digest } = source;
      const shown = shownName(source);
      definitions.push(
        citationLine({ note: String(number), file, shown, digest, startLine, endLine }),
      );
      return `[^${number}]`;
    },
    definitions: () => definitions,
  };
}
