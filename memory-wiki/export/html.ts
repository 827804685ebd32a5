/** Text made safe for HTML: nothing that a page or source holds reaches a browser as markup. @module */

const SIGNS: Readonly<Record<string, string>> = Object.freeze({
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
});

/** What moves text about, or hides in it: controls, overrides of direction, tags of language. */
const HIDDEN =
  // deno-lint-ignore no-control-regex -- controls are what it looks for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** `text` for an element or a quoted attribute. Hidden characters are spelled out, so that a reader sees them. */
export function escapeHtml(text: string): string {
  return text.toWellFormed().replaceAll("\r\n", "\n")
    .replaceAll(HIDDEN, (sign) => `\u27e8U+${hex(sign)}\u27e9`)
    .replaceAll(/[&<>"'`]/g, (sign) => SIGNS[sign] ?? "");
}

function hex(sign: string): string {
  return (sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}

/** A JSON text for a `<script type="application/json">` block: it holds no `<`, and so ends nowhere early. */
export function scriptJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${hex(sign).toLowerCase()}`,
  );
}

/** A path of the site, from a page that lies `depth` folders beneath its root. */
export function hrefTo(path: string, depth: number): string {
  return escapeHtml("../".repeat(depth) + path.split("/").map(encodeURIComponent).join("/"));
}

/** Schemes that a page may link to. Nothing is loaded from them: a person may click. */
const OUTWARD = /^(?:https?:\/\/[^\s/?#\\][^\s\\]*|mailto:[^\s\\]+)$/i;

/** `url` where a page may link to it, else undefined. */
export function outwardUrl(url: string): string | undefined {
  if (url.length > 2_000 || !OUTWARD.test(url)) return undefined;
  const parsed = URL.parse(url);
  const kind = parsed?.protocol;
  return kind === "http:" || kind === "https:" || kind === "mailto:" ? parsed?.href : undefined;
}
