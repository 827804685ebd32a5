/** Writes and parses the one format of a citation footnote, and numbers the footnotes of a page. @module */
import type { WikiSource } from "../../contracts/memory/mod.ts";

/** Parts of a citation footnote. */
export interface CitationParts {
  /** Name of the footnote, without `[^` and `]`. */
  readonly note: string;
  /** `raw/NAME`: the cited file. */
  readonly file: string;
  /** Name of the source in the link, such as `docs/lease.md`. */
  readonly shown: string;
  /** Digest of the source's raw bytes; its first 16 hex characters are written. */
  readonly digest: string;
  readonly startLine: number;
  readonly endLine: number;
}

/** A parsed definition: a citation, or why it is none. */
export type ReadNote =
  | {
    readonly kind: "citation";
    readonly file: string;
    readonly shown: string;
    readonly digestPrefix: string;
    readonly startLine: number;
    readonly endLine: number;
  }
  | { readonly kind: "broken"; readonly why: string };

/** Maximum line number of any source. */
const MAX_LINE = 100_000_000;
const MAX_SHOWN = 512;
const MAX_DEFINITION = 4_096;
const FORM =
  /^\[((?:\\.|[^\[\]\\])*)\]\(\.\.\/(raw\/[^\s()<>#]+)#L(\d{1,12})(?:-L(\d{1,12}))?\) (?:line (\d{1,12})|lines (\d{1,12})-(\d{1,12})) of sha256:([0-9a-f]{16})$/u;

/**
 * Writes a citation footnote on one line: `[^1]: [docs/lease.md](../raw/lease.3f2a90bc12de.md#L31-L33) lines
 * 31-33 of sha256:3f2a90bc12de4567`.
 */
export function citationLine(parts: CitationParts): string {
  const { note, file, startLine, endLine } = parts;
  const [place, words] = startLine === endLine
    ? [`L${startLine}`, `line ${startLine}`]
    : [`L${startLine}-L${endLine}`, `lines ${startLine}-${endLine}`];
  const target = `../${encodedPath(file)}#${place}`;
  return `[^${note}]: [${shownText(parts.shown)}](${target}) ${words} of sha256:${
    parts.digest.slice(0, 16)
  }`;
}

/** Parses the text after `[^NAME]: `. Only the exact format of {@link citationLine} is a citation. */
export function readCitation(definition: string): ReadNote {
  if (definition.length > MAX_DEFINITION) return broken("it is too long for a citation");
  const found = FORM.exec(definition);
  if (found === null) return broken("it is not written as a citation");
  const [, shown = "", path = "", first = "", last = first, one, from, to, digest = ""] = found;
  const file = decodedPath(path);
  if (file === undefined) return broken("its link is no file beneath raw/");
  const [linkStart, linkEnd] = [Number(first), Number(last)];
  const [startLine, endLine] = [Number(one ?? from), Number(one ?? to)];
  if (linkStart !== startLine || linkEnd !== endLine) {
    return broken("its link and its words name different lines");
  }
  if (startLine > endLine) return broken("its lines run backwards");
  if (startLine < 1 || endLine > MAX_LINE) return broken("no source has such lines");
  if (!file.includes(`.${digest.slice(0, 12)}.`)) {
    return broken("its file is not the one that its digest names");
  }
  const name = shown.replace(/\\(.)/gu, "$1");
  const parts = { note: "n", file, shown: name, digest, startLine, endLine };
  // INVARIANT: a citation has one spelling; leading zeros and unnecessary escapes are refused.
  if (citationLine(parts) !== `[^n]: ${definition}`) {
    return broken("it is not written as a citation");
  }
  return { kind: "citation", file, shown: name, digestPrefix: digest, startLine, endLine };
}

function broken(why: string): ReadNote {
  return { kind: "broken", why };
}

function shownText(shown: string): string {
  const line = shown.replace(/[\p{Cc}\p{Cf}\u2028\u2029\s]+/gu, " ").trim().slice(0, MAX_SHOWN);
  const whole = line.isWellFormed() ? line : line.toWellFormed();
  return (whole === "" ? "source" : whole).replace(/[\\\[\]`<>*|]/g, "\\$&");
}

function encodedPath(file: string): string {
  return file.toWellFormed().replace(
    /[^\p{L}\p{N}\p{M}._~/-]/gu,
    (sign) => encodeURIComponent(sign).replace(/[()!'*]/g, percent),
  );
}

function percent(sign: string): string {
  return `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
}

function decodedPath(path: string): string | undefined {
  try {
    const file = decodeURIComponent(path);
    return /^raw\/[^/\\\p{Cc}]{1,255}$/u.test(file) && !/^raw\/\.{1,2}$/.test(file)
      ? file
      : undefined;
  } catch {
    return undefined; // a lone % is no encoding
  }
}

// Footnotes of a page that cite sources.

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
