/** Snippets of pages and sources for an answer: current lines. Used by check_answer.ts and file_answer.ts. @module */
import type { Digest } from "../../contracts/authority/mod.ts";
import type { Citation, Hit } from "../../contracts/memory/mod.ts";
import { PageName } from "../../contracts/memory/wiki_page.ts";
import { sha256Hex } from "../../port/digest.ts";
import { linesOf } from "../ingest/work_store.ts";
import { namesSource } from "../ops/visible.ts";
import type { WikiStore } from "../store/wiki_store.ts";
import { type Trust } from "../store/trust_rules.ts";

/** Lines and characters of one snippet. */
const MAX_LINES = 60;
const MAX_CHARS = 6_000;

/** Lines of a file, in the version that the search found. */
export interface Snippet extends Trust {
  /** From 1; used in citations. */
  readonly number: number;
  readonly file: string;
  readonly title: string;
  readonly digest: Digest;
  readonly startLine: number;
  readonly lines: readonly string[];
}

/** A file in the version that the search found. */
export interface FoundFile extends Trust {
  /** Undefined for lines that do not exist. */
  lines(from: number, to: number): readonly string[] | undefined;
}

/** The page or source with this path and digest; undefined if it changed since, or does not exist. */
export function fileOf(store: WikiStore, file: string, digest: string): FoundFile | undefined {
  if (namesSource(file)) {
    const source = store.sources.byFile(file);
    if (
      source === undefined || ![source.digest, source.textDigest].some((each) => each === digest)
    ) {
      return undefined;
    }
    const { colour, label } = source;
    const lines: FoundFile["lines"] = (from, to) =>
      from < 1 || to < from || to > source.lines ? undefined : linesOf(store, source, from, to);
    return { colour, label, lines };
  }
  const name = PageName.safeParse(/^pages\/([^/]+)\.md$/.exec(file)?.[1]);
  const page = name.success ? store.pages.get(name.data) : undefined;
  const text = page === undefined || page.digest !== digest
    ? undefined
    : store.pages.text(page.name);
  if (page === undefined || text === undefined) return undefined;
  const all = text.split("\n");
  const { colour, label } = page;
  const lines: FoundFile["lines"] = (from, to) =>
    from < 1 || to < from || to > all.length ? undefined : all.slice(from - 1, to);
  return { colour, label, lines };
}

/** The snippets of hits, in order, without those of files that changed since the search. */
export function snippetsOf(store: WikiStore, hits: readonly Hit[]): readonly Snippet[] {
  return hits.flatMap((hit, index): readonly Snippet[] => {
    const { file, digest, startLine, title } = hit;
    const found = fileOf(store, file, digest);
    const to = Math.min(hit.endLine, startLine + MAX_LINES - 1);
    const lines = found?.lines(startLine, to);
    if (found === undefined || lines === undefined) return [];
    const { colour, label } = found;
    return [{
      ...{ number: index + 1, file, title, digest, startLine, colour, label },
      lines: withinChars(lines),
    }];
  });
}

function withinChars(lines: readonly string[]): readonly string[] {
  let left = MAX_CHARS;
  const taken: string[] = [];
  for (const line of lines) {
    if (line.length > left && taken.length > 0) break;
    taken.push(line);
    left -= line.length + 1;
  }
  return taken;
}

/** A citation of lines of a snippet. */
export function citationOf(
  note: string,
  snippet: Snippet,
  lines: { readonly startLine: number; readonly endLine: number },
): Citation & { readonly file: string } {
  const { startLine, endLine } = lines;
  const span = snippet.lines.slice(startLine - snippet.startLine, endLine - snippet.startLine + 1);
  return {
    ...{ note, startLine, endLine, file: snippet.file },
    source: snippet.digest,
    span: sha256Hex(span.join("\n")),
  };
}
