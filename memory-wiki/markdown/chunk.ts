/** Splits a source's text into passages for search. @module */
import { Fault } from "../../contracts/base/mod.ts";
import type { SourceKind } from "../../contracts/memory/mod.ts";
import type { NewChunk } from "../store/wiki_store.ts";
import { type Chunker, makeMarkdownChunker } from "./_chunk_markdown.ts";
import { type CodeLine, makeCodeNames } from "./_code_names.ts";
import { type ByteLine, type Cutter, eachLine, makeCutter } from "./_cutter.ts";
import { encodingOf } from "./encoding.ts";
import { readFront, splitFile } from "./front_matter.ts";

/** Options of chunking. */
export interface ChunkOptions {
  /** Words as indexed: `termsOf` of search/. */
  termsOf(text: string): readonly string[];
  /** Used if the text has no title. For code the file name, whose extension determines the language. */
  readonly title: string;
}

/** Result of {@link chunkText}. */
export interface ChunkedText {
  readonly chunks: readonly NewChunk[];
  /** The text's own title, else the given one; at most 512 characters. */
  readonly title: string;
  /** Number of newlines, plus one for a last line without. */
  readonly lines: number;
}

const FRONT_BYTES = 65_536;
const MAX_TITLE = 512;

/**
 * Splits the UTF-8 text of a source (its text form, if any) into chunks of about 200 to 1,200 characters,
 * along the divisions of its kind. Throws `invalidInput` for bytes that are not UTF-8 text (NUL bytes,
 * UTF-16: see encoding.ts).
 */
export function chunkText(kind: SourceKind, bytes: Uint8Array, options: ChunkOptions): ChunkedText {
  const encoding = encodingOf(bytes);
  if (encoding !== "utf-8") {
    const why = encoding === "binary" ? "it is binary, not text" : "it is UTF-16, not UTF-8";
    throw new Fault("invalidInput", `Cannot read the source: ${why}`);
  }
  const front = MARKED.has(kind) ? frontOf(bytes) : { lines: 0, title: undefined };
  let title = front.title ?? options.title;
  const chunks: NewChunk[] = [];
  const cutter = makeCutter({ bytes, termsOf: options.termsOf, title: () => title, chunks });
  const heard = (heading: string): void => {
    title = front.title ?? heading;
  };

  const chunker = chunkerOf();
  const lines = eachLine(bytes, (line) => chunker.line(line));
  chunker.end();
  return { chunks, title: title.slice(0, MAX_TITLE).toWellFormed(), lines };

  function chunkerOf(): Chunker {
    if (MARKED.has(kind)) return makeMarkdownChunker(cutter, { skip: front.lines, heard });
    if (kind === "code") return makeCodeChunker(cutter, options.title);
    if (kind === "csv") return makeRowChunker(cutter);
    if (kind === "json") return makeJsonChunker(cutter);
    return makeProseChunker(cutter);
  }
}

/** Kinds whose text or text form is Markdown. */
const MARKED: ReadonlySet<SourceKind> = new Set(["markdown", "html", "docx", "epub"]);

function frontOf(
  bytes: Uint8Array,
): { readonly lines: number; readonly title: string | undefined } {
  if (bytes[0] !== 0x2d && bytes[0] !== 0xef) return { lines: 0, title: undefined };
  const { front } = splitFile(new TextDecoder().decode(bytes.subarray(0, FRONT_BYTES)));
  const title = front === undefined ? undefined : readFront(front).title;
  return { lines: front === undefined ? 0 : front.length + 2, title };
}

// Chunks of source code: blocks between blank lines, under the name of the enclosing declaration.

/** Characters from which a top-level declaration starts a new chunk. */
const OWN_CHUNK = 200;
const CLOSER = /^(?:[\])}]|end\b|fi\b|done\b|esac\b|else\b|catch\b|finally\b|elif\b|except\b)/;

/** Makes a chunker of code; the file name determines the language. An unknown language has no headings. */
function makeCodeChunker(cutter: Cutter, file: string): Chunker {
  const read = makeCodeNames(file);
  let unit: (ByteLine & { readonly says: CodeLine })[] = [];
  let stack: { readonly indent: number; readonly name: string }[] = [];

  /** Tracks the indentation. Returns the names that enclose the unit's first declaration, else the unit. */
  function follow(): { readonly path: readonly string[]; readonly margin: boolean } {
    let path: readonly string[] | undefined;
    let margin = false;
    for (const { text, says: { name, comment } } of unit) {
      const content = text.trimStart();
      const indent = text.length - content.length;
      // A comment without indentation may lie within an indented block.
      if (comment || CLOSER.test(content)) continue;
      if (name === undefined && indent > 0) continue;
      stack = stack.filter((outer) => outer.indent < indent);
      if (name === undefined) continue;
      stack = [...stack, { indent, name }];
      path ??= stack.map((outer) => outer.name);
      margin ||= indent === 0;
    }
    return { path: path ?? stack.map(({ name }) => name), margin };
  }

  function close(): void {
    if (unit.length === 0) return;
    const { path, margin } = follow();
    if (margin && cutter.size() >= OWN_CHUNK) cutter.section();
    else cutter.divide();
    cutter.under(path);
    for (const line of unit) cutter.add(line);
    unit = [];
  }

  return {
    line(line): void {
      const says = read(line.text);
      if (line.text.trim() === "") return close();
      unit.push({ ...line, says });
      if (unit.length >= 200) close();
    },
    end(): void {
      close();
      cutter.end();
    },
  };
}

// Chunks of plain text: along paragraphs, under lines that look like headings.

const NUMBERED =
  /^(?:(\d{1,3}(?:\.\d{1,3}){0,5})\.?|Appendix ([A-Z])\.?|Chapter (\d{1,3})\.?)\s+\S.{0,80}$/;
const UNDERLINE = /^(?:={3,}|-{3,}|~{3,}|\*{3,})\s*$/;
const CAPITALS = /^[\p{Lu}\p{N}][\p{Lu}\p{N} ,&:'/()-]{3,60}$/u;
const LEADERS = /(?:\.\s?){4,}|\s\d+$/;

/** The heading of a paragraph that consists of one; else undefined. */
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

function makeProseChunker(cutter: Cutter): Chunker {
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
      // Limits the length of a paragraph in a text without blank lines.
      if (paragraph.length >= 64) close();
    },
    end(): void {
      close();
      cutter.end();
    },
  };
}

// Chunks of tables (CSV, TSV) under their column names, and of JSON under its keys.

/** Lines after which an unclosed quote is taken literally. */
const MAX_OPEN = 64;
const KEY = /^"((?:[^"\\]|\\.){1,80})"\s*:\s*([\[{])?/;
/** Maximum indentation at which JSON is divided. */
const MAX_DIVIDED_INDENT = 4;
const MAX_DEPTH = 6;

/** Makes a chunker of records, which may span lines. */
function makeRowChunker(cutter: Cutter): Chunker {
  let record: ByteLine[] = [];
  let open = false;
  let first = true;

  function close(): void {
    if (record.length === 0) return;
    if (first) cutter.under([columnNames(record[0]?.text ?? "")].filter((names) => names !== ""));
    cutter.divide();
    for (const line of record) cutter.add(line, first);
    first = false;
    open = false;
    record = [];
  }

  return {
    line(line): void {
      if (line.text.trim() === "" && !open) return close();
      record.push(line);
      let quotes = 0;
      for (let at = line.text.indexOf('"'); at >= 0; at = line.text.indexOf('"', at + 1)) {
        quotes += 1;
      }
      if (quotes % 2 === 1) open = !open;
      if (!open || record.length >= MAX_OPEN) close();
    },
    end(): void {
      close();
      cutter.end();
    },
  };
}

/** Makes a chunker of JSON and JSON lines. */
function makeJsonChunker(cutter: Cutter): Chunker {
  let stack: { readonly indent: number; readonly key: string }[] = [];
  return {
    line(line): void {
      const content = line.text.slice(0, 2_000).trimStart();
      if (content === "") return;
      const indent = line.text.length - line.text.trimStart().length;
      const key = KEY.exec(content);
      if (indent <= MAX_DIVIDED_INDENT && !/^[\]}]/.test(content)) cutter.divide();
      stack = stack.filter((outer) => outer.indent < indent);
      cutter.under(stack.map((outer) => outer.key));
      cutter.add(line);
      if (key?.[2] !== undefined && stack.length < MAX_DEPTH) {
        stack = [...stack, { indent, key: key[1] ?? "" }];
      }
    },
    end: () => cutter.end(),
  };
}

function columnNames(header: string): string {
  const names = header.slice(0, 400).split(/[,;\t|]/).map((name) =>
    name.replace(/^\s*"|"\s*$/g, "").trim()
  );
  return names.filter((name) => name !== "").join(", ").slice(0, 120);
}
