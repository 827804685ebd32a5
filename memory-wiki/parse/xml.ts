/**
 * XML as events, a part at a time. A document type is skipped and no entity of its own is ever put in;
 * nothing is fetched. Any text is read: what is not well-formed makes fewer events, and no error.
 * @module
 */
import { Parser } from "htmlparser2";

/** What hears of elements, by their names without prefix. */
export interface XmlHandler {
  open(name: string, attribute: (name: string) => string | undefined): void;
  close(name: string): void;
  text(text: string): void;
}

/** Takes the parts of a document. */
export interface XmlReader {
  /** False when nothing more is read: elements lie absurdly deep. */
  write(part: Uint8Array): boolean;
  /** Says whether elements lay deeper than is read. Open ones are closed first. */
  end(): { readonly tooDeep: boolean };
}

/** Deepest element that a handler hears of; what lies deeper is as if it were not there. */
const DEEPEST = 256;
/** Where reading ends: the library's time is the square of the depth. */
const ABSURD = 4_096;

/** Makes a reader of UTF-8, or of UTF-16 with a mark. */
export function makeXmlReader(handler: XmlHandler): XmlReader {
  let depth = 0;
  let tooDeep = false;
  let decoder: TextDecoder | undefined;
  const parser = new Parser({
    onopentag(name, attributes) {
      depth += 1;
      if (depth > DEEPEST) tooDeep = true;
      if (depth > ABSURD) parser.pause();
      else if (depth <= DEEPEST) {
        handler.open(local(name), (wanted) => attributeOf(attributes, wanted));
      }
    },
    onclosetag(name) {
      if (depth <= DEEPEST) handler.close(local(name));
      depth -= 1;
    },
    ontext(text) {
      if (depth <= DEEPEST) handler.text(text);
    },
  }, { xmlMode: true, decodeEntities: true });
  return Object.freeze({
    write(part: Uint8Array) {
      decoder ??= new TextDecoder(encodingOf(part));
      if (depth <= ABSURD) parser.write(decoder.decode(part, { stream: true }));
      return depth <= ABSURD;
    },
    end() {
      if (depth <= ABSURD) parser.end();
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
