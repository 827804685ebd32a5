/** Decodes text by byte-order mark, declared encoding or statistics; parsers of plain text and HTML. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { encodingOf, oldTextOf } from "../markdown/encoding.ts";
import type { DocumentReader } from "./document.ts";

/** A decoded text. */
export interface Decoded {
  readonly text: string;
  /** A WHATWG name: `utf-8`, `utf-16le`, `windows-1252`. */
  readonly encoding: string;
  readonly notes: readonly string[];
}

/**
 * Decodes bytes. `named`: the encoding that the document declares; a byte-order mark takes precedence.
 *
 * @throws Fault `invalidInput` for bytes that are not text in a known encoding
 */
export function decodeText(bytes: Uint8Array, name: string, named?: string): Decoded {
  const marked = encodingOfMark(bytes);
  if (marked !== undefined) return decodeAs(marked, bytes);
  const told = named === undefined ? undefined : decoderOf(named);
  if (told !== undefined && told !== "utf-8") return decodeAs(told, bytes);
  const form = encodingOf(bytes);
  if (form === "binary") {
    throw new Fault("invalidInput", `Cannot read ${JSON.stringify(name)}: it is not text`);
  }
  if (form !== "utf-8") return decodeAs(form, bytes);
  const old = told === "utf-8" ? { kind: "utf-8" as const } : oldTextOf(bytes);
  if (old.kind === "utf-8") {
    const text = new TextDecoder("utf-8").decode(bytes);
    const wrong = text.split("\ufffd").length - 1;
    const notes = wrong === 0 ? [] : [`${wrong} places are no UTF-8 and stand as U+FFFD.`];
    return { text, encoding: "utf-8", notes };
  }
  if (old.kind === "unknown") {
    throw new Fault(
      "invalidInput",
      `Cannot read ${JSON.stringify(name)}: it says no encoding, and its letters speak for none`,
    );
  }
  const { text, encoding, sure } = old;
  return {
    ...{ text, encoding },
    notes: [`It is no UTF-8 and was read as ${encoding}${sure ? "" : ", which is a guess"}.`],
  };
}

function decodeAs(encoding: string, bytes: Uint8Array): Decoded {
  const text = new TextDecoder(encoding).decode(bytes);
  const notes = encoding === "utf-8" ? [] : [`It was read as ${encoding}.`];
  return { text, encoding, notes };
}

function encodingOfMark(bytes: Uint8Array): string | undefined {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  return undefined;
}

/** The decoder's name for an encoding label, if any. */
function decoderOf(label: string): string | undefined {
  try {
    return new TextDecoder(label.trim()).encoding;
  } catch (error) {
    // An unknown label.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

// Plain text that is not UTF-8.

/** Parses plain text in any recognisable encoding. */
export const readPlain: DocumentReader = ({ bytes, name }) => {
  const { text, notes } = decodeText(bytes, name);
  return { text, notes, title: "" };
};

/** Bytes searched for a page's declared encoding. */
const HEAD = 4_096;

/** Parses the main content of a page as Markdown. */
export const readHtml: DocumentReader = ({ bytes, name }, { html }) => {
  const { text, notes } = decodeText(bytes, name, charsetOf(bytes));
  const page = html(text, { whole: false });
  return { ...page, notes: [...notes, ...page.notes] };
};

/** The encoding in `<meta charset>` or an XML declaration. */
export function charsetOf(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder("windows-1252").decode(bytes.subarray(0, HEAD));
  const said = /<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w:.-]{1,40})/i.exec(head) ??
    /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w:.-]{1,40})/.exec(head);
  const name = said?.[1]?.toLowerCase();
  // A declaration readable as ASCII contradicts UTF-16.
  return name?.startsWith("utf-16") ? "utf-8" : name;
}
