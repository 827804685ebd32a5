/** The text of an answer, whatever its encoding. @module */
import { mediaType } from "../../text/page_outline.ts";
import type { WebAnswer } from "./host.ts";

/** What came back, as text. */
export interface AnswerText {
  readonly text: string;
  /** Set when letters may be wrong. */
  readonly doubt?: string;
}

const LATIN: ReadonlySet<string> = new Set(
  "iso-8859-1 iso8859-1 latin1 latin-1 l1 windows-1252 cp1252 x-cp1252 us-ascii ascii".split(" "),
);

/** What Windows' encoding has between 0x80 and 0x9f. */
const WINDOWS =
  "\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f" +
  "\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178";

/** Whether a media type is text that is not a page. */
export function isTextType(type: string): boolean {
  return type.startsWith("text/") || /[/+](json|xml|yaml|toml|javascript|csv)$/.test(type) ||
    /json|ndjson/.test(type);
}

/** Reads an answer as text; undefined where it is not. */
export function answerText(answer: WebAnswer): AnswerText | undefined {
  if (answer.text !== undefined) return { text: answer.text.replace(/^\ufeff/, "") };
  const bytes = atob(answer.base64 ?? "");
  if (bytes === "") return { text: "" };
  const type = mediaType(answer);
  if (type !== "" && !isTextType(type) && type !== "application/xhtml+xml") return undefined;
  const head = bytes.slice(0, 2_048);
  if (/^(\xff\xfe|\xfe\xff)/.test(head)) return { text: wide(bytes) };
  // A NUL is in no text that is not in two-byte units.
  if (head.includes("\0")) return undefined;
  const named = /charset=["']?([\w-]+)/i.exec(answer.headers["content-type"] ?? "")?.[1] ??
    /<meta[^>]{0,200}charset=["']?([\w-]+)/i.exec(head)?.[1] ?? "";
  if (LATIN.has(named.toLowerCase())) {
    return {
      text: bytes.replace(/[\x80-\x9f]/g, (byte) => WINDOWS[byte.charCodeAt(0) - 128] ?? ""),
    };
  }
  const units = Uint8Array.from(bytes, (byte) => byte.charCodeAt(0));
  const text = new TextDecoder().decode(units);
  return answer.cut && text.indexOf("\ufffd") >= text.length - 3
    ? { text: text.replace(/\ufffd+$/, "") }
    : {
      text,
      doubt: `its encoding (${
        named === "" ? "not named" : named.slice(0, 40)
      }) is not read by this version: letters beyond ASCII are lost`,
    };
}

function wide(bytes: string): string {
  const [low, high] = bytes.startsWith("\xff") ? [0, 1] : [1, 0];
  let text = "";
  for (let at = 2; at + 1 < bytes.length; at += 2) {
    text += String.fromCharCode(bytes.charCodeAt(at + low) + 256 * bytes.charCodeAt(at + high));
  }
  return text;
}
