/**
 * The parser's service: one document, sent in pieces, becomes one text.
 *
 * | op | body | answer |
 * |---|---|---|
 * | begin | `{ kind, name, bytes }`: how many bytes will come | `null` |
 * | piece | `{ base64 }`, at most 256 KiB of bytes | `null` |
 * | parse | `null` | `Parsed` of contracts/wire/wire_wiki.ts |
 *
 * INVARIANT: a process parses one document only (test: "a process that has read one document takes no
 * other"). So neither a library's caches nor code that breaks out of a parser ever meet another document's
 * bytes. Used by main.ts.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import type { PortHandler } from "../../contracts/base/port.ts";
import type { SourceKind } from "../../contracts/memory/wiki_source.ts";
import { readHtml, readPlain } from "./decode_text.ts";
import type { DocumentBytes, DocumentReader, DocumentText, ReadParts } from "./document.ts";

/** Bytes of a document. */
export const MAX_DOCUMENT = 32 * 1024 * 1024;
/** Bytes of a piece. */
const MAX_PIECE = 256 * 1024;
const MAX_NOTES = 64;
const MAX_WORDS = 512;

interface Document {
  readonly kind: SourceKind;
  readonly name: string;
  readonly bytes: Uint8Array;
  filled: number;
}

/** Makes the handler for this process's document. */
export function makeParseService(parts: ReadParts): PortHandler {
  let state: "empty" | "filling" | "spent" = "empty";
  let document: Document | undefined;

  const begin = (body: unknown): null => {
    if (state !== "empty") throw refused("this process has its document");
    const { kind, name, bytes } = parseBegin(body);
    document = { kind, name, bytes: new Uint8Array(bytes), filled: 0 };
    state = "filling";
    return null;
  };

  const piece = (body: unknown): null => {
    if (state !== "filling" || document === undefined) throw refused("no document has begun");
    const { base64 } = parsePiece(body);
    const bytes = Uint8Array.fromBase64(base64);
    if (bytes.length > MAX_PIECE || document.filled + bytes.length > document.bytes.length) {
      throw refused("the pieces are larger than was told");
    }
    document.bytes.set(bytes, document.filled);
    document.filled += bytes.length;
    return null;
  };

  const parse = async () => {
    if (state !== "filling" || document === undefined) throw refused("no document has begun");
    const { kind, name, bytes, filled } = document;
    state = "spent";
    document = undefined;
    if (filled !== bytes.length) throw refused("pieces are missing");
    const reader = await readerOf(kind);
    const read = await readOrFault(reader.read, { name, bytes }, parts);
    const { text, notes } = tidyText(read.text);
    return {
      text,
      title: oneLine(read.title),
      parser: reader.name,
      notes: [...read.notes, ...notes].slice(0, MAX_NOTES).map(oneLine),
    };
  };

  return Object.freeze<PortHandler>({
    ask(op, body) {
      switch (op) {
        case "begin":
          return begin(body);
        case "piece":
          return piece(body);
        case "parse":
          return parse();
        default:
          throw refused(`it has no op ${JSON.stringify(op.slice(0, 32))}`);
      }
    },
    tell: () => undefined,
  });
}

async function readOrFault(
  read: DocumentReader,
  document: DocumentBytes,
  parts: ReadParts,
): Promise<DocumentText> {
  try {
    return await read(document, parts);
  } catch (error) {
    if (error instanceof Fault) throw error;
    // A library's error over hostile bytes is not reliable, so it is only quoted.
    const why = error instanceof Error ? oneLine(error.message).slice(0, 200) : "";
    throw new Fault(
      "invalidInput",
      `Cannot read ${JSON.stringify(document.name)}: it is damaged${why === "" ? "" : ` (${why})`}`,
    );
  }
}

/** A title or note as one visible line. */
function oneLine(text: string): string {
  const flat = tidyText(text.slice(0, 8 * MAX_WORDS)).text.replace(/\s+/g, " ").trim();
  return flat.slice(0, MAX_WORDS).toWellFormed();
}

/** By hand, because zod would take half of this program's start-up time. TRUST: from its starter. */
function parseBegin(body: unknown): Pick<Document, "kind" | "name"> & { readonly bytes: number } {
  const { kind, name, bytes } = fields(body);
  if (!isKind(kind) || typeof name !== "string" || name.length > 512) throw refused("kind or name");
  if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes < 0) {
    throw refused("its size is no number");
  }
  if (bytes > MAX_DOCUMENT) {
    throw new Fault("tooLarge", `Cannot read ${JSON.stringify(name)}: it is larger than 32 MiB`);
  }
  return { kind, name, bytes };
}

function parsePiece(body: unknown): { readonly base64: string } {
  const { base64 } = fields(body);
  if (typeof base64 !== "string") throw refused("a piece is no text");
  return { base64 };
}

function fields(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body !== "object" || body === null) throw refused("no fields");
  return { ...body };
}

const KINDS: Readonly<Record<SourceKind, true>> = {
  markdown: true,
  text: true,
  code: true,
  csv: true,
  json: true,
  html: true,
  pdf: true,
  docx: true,
  epub: true,
  mail: true,
};

function isKind(kind: unknown): kind is SourceKind {
  return typeof kind === "string" && Object.hasOwn(KINDS, kind);
}

function refused(why: string): Fault {
  return new Fault("refused", `Cannot take the document: ${why}`);
}

// Parsers by kind, loaded on demand.

/** A parser with its name in provenance; a change of its text changes the version. */
interface NamedReader {
  /** `NAME@VERSION`. */
  readonly name: string;
  readonly read: DocumentReader;
}

const plain: NamedReader = { name: "text@2", read: readPlain };

/** The parser of a kind. */
async function readerOf(kind: SourceKind): Promise<NamedReader> {
  switch (kind) {
    case "html":
      return { name: "html@2", read: readHtml };
    case "pdf": {
      const { readPdf } = await import("./pdf/read_pdf.ts");
      return { name: "pdf@2", read: readPdf };
    }
    case "docx": {
      const { readDocx } = await import("./docx/read_docx.ts");
      return { name: "docx@2", read: readDocx };
    }
    case "epub": {
      const { readEpub } = await import("./epub/read_epub.ts");
      return { name: "epub@2", read: readEpub };
    }
    case "mail": {
      const { readMail } = await import("./mail/read_mail.ts");
      return { name: "mail@2", read: readMail };
    }
    default:
      return plain;
  }
}

// Makes a text citable by line: well-formed, visible, of limited size.

/** UTF-8 bytes of a document's text. */
export const MAX_TEXT = 16_777_216;
/** UTF-16 units of a line; longer lines are wrapped at spaces. */
export const MAX_LINE = 10_000;
/** Input units: even with three-byte characters no more would be kept. */
const MAX_UNITS = 3 * MAX_TEXT;

/** A clean text, and the notes of what was changed. */
interface TidyText {
  /** Empty, or lines that each end in `\n`. */
  readonly text: string;
  readonly notes: readonly string[];
}

// deno-lint-ignore no-control-regex -- they end lines in old texts
const LINE_ENDS = /\r\n?|[\u000b\u000c\u0085\u2028\u2029]/g;
// deno-lint-ignore no-control-regex -- these are what is taken out
const CONTROL = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f]/g;
/** Invisible and harmless: byte-order marks, soft hyphens, direction marks. */
const HARMLESS = /[\u00ad\ufeff\u200e\u200f\u061c]/g;
/**
 * Invisible characters that reorder, hide or carry text. Joiners remain where they have a function: within
 * words of non-Latin scripts, and within emoji.
 */
const HIDDEN =
  /[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\uffa0\ufff0-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}#*0-9])[\ufe0e\ufe0f]|(?<![\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])[\u200c\u200d]|(?<=[\p{Script=Latin}])[\u200c\u200d]|[\u200c\u200d](?![\p{L}\p{M}\p{Extended_Pictographic}])/gu;

/** Cleans a text. Never fails; linear time and memory. */
export function tidyText(raw: string): TidyText {
  const notes: string[] = [];
  const whole = raw.length > MAX_UNITS ? raw.slice(0, MAX_UNITS) : raw;
  const plain = whole.toWellFormed().replace(LINE_ENDS, "\n").replace(HARMLESS, "");
  const printed = plain.replace(CONTROL, "");
  if (printed.length < plain.length) {
    notes.push(`${plain.length - printed.length} control characters were removed.`);
  }
  let hidden = 0;
  const drop = (): string => {
    hidden += 1;
    return "";
  };
  const seen = /[\u0300-\uffff]/.test(printed) ? printed.replace(HIDDEN, drop) : printed;
  if (hidden > 0) notes.push(`${hidden} invisible characters were removed.`);
  const wrapped = wrapLines(seen);
  if (wrapped.broken > 0) {
    notes.push(`${wrapped.broken} lines of over ${MAX_LINE} characters were wrapped.`);
  }
  const ended = wrapped.text === "" || wrapped.text.endsWith("\n")
    ? wrapped.text
    : wrapped.text + "\n";
  const text = cutBytes(ended);
  if (text.length < ended.length || whole.length < raw.length) {
    notes.push("The text was cut after 16 MiB.");
  }
  return { text, notes };
}

function wrapLines(text: string): { readonly text: string; readonly broken: number } {
  if (!hasLongLine(text)) return { text, broken: 0 };
  let broken = 0;
  const lines = text.split("\n").map((line) => {
    if (line.length <= MAX_LINE) return line;
    broken += 1;
    return wrapLine(line).join("\n");
  });
  return { text: lines.join("\n"), broken };
}

function hasLongLine(text: string): boolean {
  for (let from = 0; text.length - from > MAX_LINE;) {
    const end = text.lastIndexOf("\n", from + MAX_LINE);
    if (end < from) return true;
    from = end + 1;
  }
  return false;
}

function wrapLine(line: string): string[] {
  const parts: string[] = [];
  let from = 0;
  while (line.length - from > MAX_LINE) {
    // Within a slice, because a search over the whole line without spaces would be quadratic.
    const space = line.slice(from, from + MAX_LINE + 1).lastIndexOf(" ");
    // A space that leaves a short line is not used.
    const at = space > MAX_LINE / 2 ? from + space : notWithin(line, from + MAX_LINE);
    parts.push(line.slice(from, at));
    from = line[at] === " " ? at + 1 : at;
  }
  return [...parts, line.slice(from)];
}

/** Moves a position off the middle of a surrogate pair. */
function notWithin(text: string, at: number): number {
  const unit = text.charCodeAt(at - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? at - 1 : at;
}

function cutBytes(text: string): string {
  if (text.length * 3 <= MAX_TEXT) return text;
  const room = new Uint8Array(MAX_TEXT);
  const { read } = new TextEncoder().encodeInto(text, room);
  if (read === text.length) return text;
  const line = text.lastIndexOf("\n", read - 1);
  return line < 0 ? text.slice(0, read) : text.slice(0, line + 1);
}
