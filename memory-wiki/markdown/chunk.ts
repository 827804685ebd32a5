/** A source's text as passages that are found as one. @module */
import { Fault, type SourceKind } from "../../contracts/mod.ts";
import type { NewChunk } from "../store/wiki_store.ts";
import { eachLine } from "./_byte_lines.ts";
import { makeCodeChunker } from "./_chunk_code.ts";
import { type Chunker, makeMarkdownChunker } from "./_chunk_markdown.ts";
import { makeProseChunker } from "./_chunk_prose.ts";
import { makeJsonChunker, makeRowChunker } from "./_chunk_rows.ts";
import { makeCutter } from "./_cutter.ts";
import { encodingOf } from "./encoding.ts";
import { readFront, splitFile } from "./front_matter.ts";

/** How a text is cut into chunks. */
export interface ChunkOptions {
  /** Words as the index has them: `termsOf` of search/. */
  termsOf(text: string): readonly string[];
  /** Taken where the text has no title of its own. Of code it is the file's name, whose ending says the language. */
  readonly title: string;
}

/** What {@link chunkText} made. */
export interface ChunkedText {
  readonly chunks: readonly NewChunk[];
  /** The text's own title, else the one that was given; at most 512 characters. */
  readonly title: string;
  /** Line feeds, and one more where the last line has none. */
  readonly lines: number;
}

const FRONT_BYTES = 65_536;
const MAX_TITLE = 512;

/**
 * Cuts the UTF-8 text of a source (its text form, where it has one) into chunks of about 200 to 1,200 characters,
 * along what divides such a text. Throws `invalidInput` for what is no text (NUL bytes, UTF-16: see encoding.ts).
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

/** Kinds whose text, or text form, has the marks of Markdown. */
const MARKED: ReadonlySet<SourceKind> = new Set(["markdown", "html", "docx", "epub"]);

function frontOf(
  bytes: Uint8Array,
): { readonly lines: number; readonly title: string | undefined } {
  if (bytes[0] !== 0x2d && bytes[0] !== 0xef) return { lines: 0, title: undefined };
  const { front } = splitFile(new TextDecoder().decode(bytes.subarray(0, FRONT_BYTES)));
  const title = front === undefined ? undefined : readFront(front).title;
  return { lines: front === undefined ? 0 : front.length + 2, title };
}
