/** HTML in which every value is text: what is put into a template is escaped, whatever it is. @module */

/** Finished HTML. Made by {@link html} alone. */
export interface Markup {
  readonly markup: string;
}

/** What a template takes: text, finished HTML, or lists of them; nothing for `undefined`. */
export type Piece = string | number | Markup | undefined | readonly Piece[];

const SIGNS: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/** Text as it stands in an element or in a quoted attribute. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (sign) => SIGNS[sign] ?? sign);
}

/**
 * Makes HTML.
 * @example
 * ```ts
 * import { html } from "./markup.ts";
 * const { markup } = html`<p title="${'"'}">${"<b>"}</p>`;
 * if (markup !== '<p title="&quot;">&lt;b&gt;</p>') throw new Error(markup);
 * ```
 */
export function html(words: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  const markup = words.reduce((made, word, n) => made + textOf(pieces[n - 1]) + word);
  return Object.freeze({ markup });
}

function textOf(piece: Piece): string {
  if (piece === undefined) return "";
  if (typeof piece === "string") return escapeHtml(piece);
  if (typeof piece === "number") return String(piece);
  return "markup" in piece ? piece.markup : piece.map(textOf).join("");
}
