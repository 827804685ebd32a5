/** Bytes of a web answer as text: by byte order mark, else by the declared charset, else UTF-8. @module */

/** A body as text. */
export interface WebText {
  readonly text: string;
  /** How the bytes were decoded; of an `unknown` charset only ASCII is kept. */
  readonly as: "utf-8" | "utf-16" | "latin" | "unknown";
  /** The charset that the answer or its page declares, in lower case. */
  readonly named: string | undefined;
}

/** Windows-1252 where it differs from Latin-1: 0x80 to 0x9f. */
const WINDOWS = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";
/** ISO 8859-15 where it differs from Latin-1. */
const LATIN_9: Readonly<Record<string, string>> = {
  ...{ "\xa4": "€", "\xa6": "Š", "\xa8": "š", "\xb4": "Ž", "\xb8": "ž" },
  ...{ "\xbc": "Œ", "\xbd": "œ", "\xbe": "Ÿ" },
};
const LATIN: ReadonlySet<string> = new Set(
  "iso-8859-1 iso8859-1 latin1 latin-1 l1 windows-1252 cp1252 x-cp1252 us-ascii ascii".split(" "),
);

/** Decodes a body, given with one byte per character in `bytes`, by its content type. */
export function webText(bytes: string, contentType: string): WebText {
  const named = charsetOf(contentType) ??
    charsetOf(/<meta[^>]{0,500}charset[^>]{0,200}/i.exec(bytes.slice(0, 4_096))?.[0] ?? "");
  const read = (as: WebText["as"], text: string): WebText => ({ text, as, named });
  if (bytes.startsWith("\xef\xbb\xbf")) return read("utf-8", utf8(bytes.slice(3)));
  if (bytes.startsWith("\xff\xfe")) return read("utf-16", utf16(bytes.slice(2), 0));
  if (bytes.startsWith("\xfe\xff")) return read("utf-16", utf16(bytes.slice(2), 1));
  if (named === undefined || named === "utf-8" || named === "utf8") {
    return read("utf-8", utf8(bytes));
  }
  if (LATIN.has(named)) return read("latin", windows(bytes));
  if (named === "iso-8859-15") {
    return read("latin", bytes.replace(/[\xa4-\xbe]/g, (byte) => LATIN_9[byte] ?? byte));
  }
  if (named === "utf-16le" || named === "utf-16") return read("utf-16", utf16(bytes, 0));
  if (named === "utf-16be") return read("utf-16", utf16(bytes, 1));
  return read("unknown", bytes.replace(/[\x80-\xff]+/g, "\ufffd"));
}

/** The charset in a content type or a `<meta>`, in lower case. */
function charsetOf(text: string): string | undefined {
  return /charset\s*=\s*["']?\s*([a-z0-9_:.-]{1,40})/i.exec(text)?.[1]?.toLowerCase();
}

function windows(bytes: string): string {
  return bytes.replace(/[\x80-\x9f]/g, (char) => WINDOWS[char.charCodeAt(0) - 0x80] ?? char);
}

function utf16(bytes: string, high: 0 | 1): string {
  const units: string[] = [];
  for (let at = 0; at + 1 < bytes.length; at += 2) {
    const [one, other] = [bytes.charCodeAt(at), bytes.charCodeAt(at + 1)];
    units.push(String.fromCharCode(high === 1 ? one * 256 + other : other * 256 + one));
  }
  return units.join("").toWellFormed();
}

/** Decodes each run of bytes past ASCII by itself; an invalid sequence becomes a replacement character. */
function utf8(bytes: string): string {
  return bytes.replace(/[\x80-\xff]+/g, (run) => {
    let percent = "";
    for (let at = 0; at < run.length; at += 1) percent += `%${run.charCodeAt(at).toString(16)}`;
    try {
      return decodeURIComponent(percent);
    } catch {
      return run.replace(/[\xc2-\xf4][\x80-\xbf]{1,3}|[\x80-\xff]/g, (part) => {
        try {
          return decodeURIComponent(
            [...part].map((char) => `%${char.charCodeAt(0).toString(16)}`).join(""),
          );
        } catch {
          return "\ufffd";
        }
      });
    }
  });
}
