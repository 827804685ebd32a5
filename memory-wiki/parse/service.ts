/**
 * The parser's end of its port: one document, in pieces, becomes one text.
 *
 * | op | body | answer |
 * |---|---|---|
 * | begin | `{ kind, name, bytes }`: how many bytes will come | `null` |
 * | piece | `{ base64 }`, at most 256 KiB of bytes | `null` |
 * | parse | `null` | `Parsed` of contracts/wire_wiki.ts |
 *
 * INVARIANT: a process reads one document and is then spent (test: "a process that has read one
 * document takes no other"). So nothing that a document leaves behind in a library's caches, and no
 * code that breaks out of a parser, ever meets another document's bytes.
 * @module
 */
import { Fault } from "../../contracts/fault.ts";
import type { PortHandler } from "../../contracts/port.ts";
import type { SourceKind } from "../../contracts/wiki_source.ts";
import type { DocumentBytes, DocumentReader, DocumentText, ReadParts } from "./document.ts";
import { readerOf } from "./readers.ts";
import { tidyText } from "./tidy_text.ts";

/** Most bytes of a document. */
export const MOST_DOCUMENT = 32 * 1024 * 1024;
/** Most bytes of a piece. */
const MOST_PIECE = 256 * 1024;
const MOST_NOTES = 64;
const MOST_WORDS = 512;

interface Document {
  readonly kind: SourceKind;
  readonly name: string;
  readonly bytes: Uint8Array;
  filled: number;
}

/** Makes the handler of the one document of this process. */
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
    if (bytes.length > MOST_PIECE || document.filled + bytes.length > document.bytes.length) {
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
      notes: [...read.notes, ...notes].slice(0, MOST_NOTES).map(oneLine),
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
    // Whatever a library throws over hostile bytes: it says nothing that can be relied on.
    const why = error instanceof Error ? oneLine(error.message).slice(0, 200) : "";
    throw new Fault(
      "invalidInput",
      `Cannot read ${JSON.stringify(document.name)}: it is damaged${why === "" ? "" : ` (${why})`}`,
    );
  }
}

/** A title or a note: one line of visible characters. */
function oneLine(text: string): string {
  const flat = tidyText(text.slice(0, 8 * MOST_WORDS)).text.replace(/\s+/g, " ").trim();
  return flat.slice(0, MOST_WORDS).toWellFormed();
}

/** By hand and not by zod, which would be half of this program's start. TRUST: from its starter. */
function parseBegin(body: unknown): Pick<Document, "kind" | "name"> & { readonly bytes: number } {
  const { kind, name, bytes } = fields(body);
  if (!isKind(kind) || typeof name !== "string" || name.length > 512) throw refused("kind or name");
  if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes < 0) {
    throw refused("its size is no number");
  }
  if (bytes > MOST_DOCUMENT) {
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
