/** Cited sources one after another, so that each text is read once, whatever number of pages cite it. @module */
import type { WikiSource } from "../../contracts/mod.ts";
import type { LintedStore } from "./linted_store.ts";
import { findMoved } from "./find_moved.ts";
import type { CitationUse, CitedSource, Span } from "./rule.ts";

/** A text is read whole up to this; of a longer one, each cited passage by itself. Bytes. */
const WHOLE_BYTES = 32 * 1024 * 1024;
/** Most of one cited passage. Bytes. */
const QUOTE_BYTES = 256 * 1024;
/** Below so many citations of one source, passages are cheaper than the whole. */
const FEW = 4;

function linesOf(store: LintedStore, source: WikiSource): readonly string[] {
  if (source.lines === 0) return [];
  try {
    const lines = store.sources.lines(source, 1, source.lines, WHOLE_BYTES).split("\n");
    return lines.length < source.lines ? [] : lines;
  } catch {
    return []; // alteredSource tells that its file is gone
  }
}

/** One cited source. Nothing is read before it is asked for. */
export function makeCitedSource(
  store: LintedStore,
  source: WikiSource,
  uses: readonly CitationUse[],
): CitedSource {
  const current = source.state === "current" ? source : store.sources.current(source.key);
  let own: readonly string[] | undefined;
  let newer: readonly string[] | undefined;
  let search: ReturnType<typeof findMoved> | undefined;

  const quote = ({ startLine, endLine }: Span): string | undefined => {
    if (endLine > source.lines || startLine > endLine) return undefined;
    if (uses.length > FEW && source.bytes <= WHOLE_BYTES) {
      own ??= linesOf(store, source);
      if (own.length >= endLine) return own.slice(startLine - 1, endLine).join("\n");
    }
    try {
      return store.sources.lines(source, startLine, endLine, QUOTE_BYTES);
    } catch {
      return undefined;
    }
  };
  const currentLines = (): readonly string[] =>
    newer ??= current === undefined ? [] : linesOf(store, current);

  return Object.freeze(
    {
      source,
      current,
      uses,
      quote,
      currentLines,
      moved(span) {
        if (current === undefined) return undefined;
        if (current.textDigest === source.textDigest) return span;
        const words = quote(span);
        if (words === undefined) return undefined;
        search ??= findMoved(currentLines());
        return search(words, span.startLine);
      },
    } satisfies CitedSource,
  );
}
