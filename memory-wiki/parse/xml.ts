/**
 * A streaming XML parser. Document types are skipped, their entities never expanded, and nothing is fetched.
 * Malformed input gives fewer events, never an error. Used by memory-wiki/parse/docx/body.ts and
 * memory-wiki/parse/zip/archive.ts.
 * @module
 */
import { Parser } from "htmlparser2";

/** Receives events; element names have no prefix. */
export interface XmlHandler {
  open(name: string, attribute: (name: string) => string | undefined): void;
  close(name: string): void;
  text(text: string): void;
}

/** Parses a document in parts. */
export interface XmlReader {
  /** False when elements are nested too deeply to go on. */
  write(part: Uint8Array): boolean;
  /** Closes open elements. Returns whether elements were ignored for their depth. */
  end(): { readonly tooDeep: boolean };
}

/** Deeper elements are ignored. */
const MAX_DEPTH = 256;
/** Parsing ends at this depth: the library's time is quadratic in it. */
const MAX_PARSED_DEPTH = 4_096;

/** Makes a parser of UTF-8, or UTF-16 with a byte-order mark. */
export function makeXmlReader(handler: XmlHandler): XmlReader {
  let depth = 0;
  let tooDeep = false;
  let decoder: TextDecoder | undefined;
  const parser = new Parser({
    onopentag(name, attributes) {
      depth += 1;
      if (depth > MAX_DEPTH) tooDeep = true;
      if (depth > MAX_PARSED_DEPTH) parser.pause();
      else if (depth <= MAX_DEPTH) {
        handler.open(local(name), (wanted) => attributeOf(attributes, wanted));
      }
    },
    onclosetag(name) {
      if (depth <= MAX_DEPTH) handler.close(local(name));
      depth -= 1;
    },
    ontext(text) {
      if (depth <= MAX_DEPTH) handler.text(text);
    },
  }, { xmlMode: true, decodeEntities: true });
  return Object.freeze({
    write(part: Uint8Array) {
      decoder ??= new TextDecoder(encodingOf(part));
      if (depth <= MAX_PARSED_DEPTH) parser.write(decoder.decode(part, { stream: true }));
      return depth <= MAX_PARSED_DEPTH;
    },
    end() {
      if (depth <= MAX_PARSED_DEPTH) parser.end();
      return { tooDeep };
    },
  });
}

function encodingOf([a, b]: Uint8Array): string {
  if (a === 0xff && b === 0xfe) return "utf-16le";
  return a === 0xfe && b === 0xff ? "utf-16be" : "utf-8";
}

function local(name: string): string {
  return name.slice(name.lastIndexOf(":") + 1);
}

function attributeOf(
  attributes: Readonly<Record<string, string>>,
  wanted: string,
): string | undefined {
  for (const [name, value] of Object.entries(attributes)) if (local(name) === wanted) return value;
  return undefined;
}
