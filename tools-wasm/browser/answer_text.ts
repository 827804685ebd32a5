/** Decodes the text of an answer. @module */
import { mediaType } from "../../text/page_outline.ts";
import { webText } from "../../text/web_text.ts";
import type { WebAnswer } from "../sdk/mod.ts";

/** An answer as text. */
export interface AnswerText {
  readonly text: string;
  /** Present when characters may be wrong. */
  readonly doubt?: string;
}

/** Whether a media type is text other than a page. */
export function isTextType(type: string): boolean {
  return type.startsWith("text/") || /[/+](json|xml|yaml|toml|javascript|csv)$/.test(type) ||
    /json|ndjson/.test(type);
}

/** Decodes an answer as text; undefined where it is not text. */
export function answerText(answer: WebAnswer): AnswerText | undefined {
  if (answer.text !== undefined) return { text: answer.text.replace(/^\ufeff/, "") };
  const bytes = atob(answer.base64 ?? "");
  if (bytes === "") return { text: "" };
  const type = mediaType(answer);
  if (type !== "" && !isTextType(type) && type !== "application/xhtml+xml") return undefined;
  const read = webText(bytes, answer.headers["content-type"] ?? "");
  // Text contains no NUL, except in UTF-16.
  if (!/^(\xff\xfe|\xfe\xff)/.test(bytes) && bytes.slice(0, 2_048).includes("\0")) return undefined;
  const { text, as, named = "not named" } = read;
  if (as === "latin" || as === "utf-16") return { text };
  return answer.cut && as === "utf-8" && text.indexOf("\ufffd") >= text.length - 3
    ? { text: text.replace(/\ufffd+$/, "") }
    : {
      text,
      doubt: `its encoding (${named}) is not read by this version: letters beyond ASCII are lost`,
    };
}
