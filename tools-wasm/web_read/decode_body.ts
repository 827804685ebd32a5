/** Bytes of an answer as text, by the charset that the answer or the page names. @module */

/** What an answer's body is. */
export interface Body {
  readonly text: string;
  /** A charset that is not known: other than plain letters are lost. */
  readonly unknown?: string;
}

/** Windows-1252 where it differs from Latin-1: 0x80 to 0x9f. */
const WINDOWS = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";
const LATIN = new Set([
  "iso-8859-1",
  "latin1",
  "windows-1252",
  "cp1252",
  "us-ascii",
  "ascii",
  "iso-8859-15",
  "l1",
]);

/** Decodes base64 of a body. */
export function decodeBody(base64: string, contentType: string): Body {
  const bytes = atob(base64);
  if (bytes.startsWith("\xef\xbb\xbf")) return { text: utf8(bytes.slice(3)) };
  if (bytes.startsWith("\xff\xfe")) return { text: utf16(bytes.slice(2), 0) };
  if (bytes.startsWith("\xfe\xff")) return { text: utf16(bytes.slice(2), 1) };
  const named = charsetOf(contentType) ??
    charsetOf(/<meta[^>]{0,500}charset[^>]{0,200}/i.exec(bytes.slice(0, 4_096))?.[0] ?? "");
  if (named === undefined || named === "utf-8" || named === "utf8") return { text: utf8(bytes) };
  if (LATIN.has(named)) return { text: windows(bytes) };
  if (named === "utf-16le" || named === "utf-16") return { text: utf16(bytes, 0) };
  if (named === "utf-16be") return { text: utf16(bytes, 1) };
  return { text: bytes.replace(/[\x80-\xff]+/g, "\ufffd"), unknown: named };
}

/** The charset that a content type or a `<meta>` names, in lower case. */
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

/** Runs of bytes past ASCII, each decoded by itself; what is wrong in one becomes a replacement character. */
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
