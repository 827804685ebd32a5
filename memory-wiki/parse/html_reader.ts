/** HTML pages. @module */
import { decodeText } from "./decode_text.ts";
import type { DocumentReader } from "./document.ts";

/** Bytes in which a page's own word on its encoding must lie. */
const HEAD = 4_096;

/** Reads a page: what it marks as its content, as Markdown. */
export const readHtml: DocumentReader = ({ bytes, name }, { html }) => {
  const { text, notes } = decodeText(bytes, name, charsetOf(bytes));
  const page = html(text, { whole: false });
  return { ...page, notes: [...notes, ...page.notes] };
};

/** What `<meta charset>` or an XML declaration names. */
export function charsetOf(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder("windows-1252").decode(bytes.subarray(0, HEAD));
  const said = /<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w:.-]{1,40})/i.exec(head) ??
    /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w:.-]{1,40})/.exec(head);
  const name = said?.[1]?.toLowerCase();
  // Bytes in which this could be read are no UTF-16, whatever it says.
  return name?.startsWith("utf-16") ? "utf-8" : name;
}
