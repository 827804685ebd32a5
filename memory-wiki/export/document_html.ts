/** The frame of every page of the site: head, content security policy, navigation, script and style. @module */
import { createHash } from "node:crypto";
import type { Colour, Label } from "../../contracts/authority/mod.ts";
import { type Trust } from "../store/trust_rules.ts";

// The site's only script: search in the catalogue, and highlighting of the lines that a footnote links to.

/** Never builds markup from text; no network access. */
const SCRIPT = `
"use strict";
(() => {
  const lines = () => {
    const found = /^#L(\\d{1,9})(?:-L(\\d{1,9}))?$/.exec(location.hash);
    for (const old of document.querySelectorAll(".here")) old.classList.remove("here");
    if (!found) return;
    const first = Number(found[1]), last = Math.min(Number(found[2] || first), first + 2000);
    for (let n = first; n <= last; n += 1) {
      const line = document.getElementById("L" + n);
      if (line) line.classList.add("here");
    }
    const top = document.getElementById("L" + first);
    if (top) top.scrollIntoView({ block: "center" });
  };
  addEventListener("hashchange", lines);
  lines();

  const held = document.getElementById("remit-index");
  const field = document.getElementById("remit-search");
  const list = document.getElementById("remit-found");
  if (!held || !field || !list) return;
  const rows = JSON.parse(held.textContent);
  const plain = (text) => text.normalize("NFKC").toLowerCase();
  const texts = rows.map((row) => [plain(row.t), plain(row.w)]);
  const wordsOf = (text) =>
    plain(text).match(/[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}]|[\\p{L}\\p{N}]+/gu) || [];
  const search = () => {
    const words = wordsOf(field.value);
    list.replaceChildren();
    if (words.length === 0) return;
    const found = [];
    texts.forEach(([title, text], at) => {
      let score = 0;
      for (const word of words) {
        const inTitle = title.includes(word), inText = (" " + text).includes(" " + word) || text.includes(word);
        if (!inTitle && !inText) return;
        score += (inTitle ? 3 : 0) + (inText ? 1 : 0) + (title === word ? 5 : 0);
      }
      found.push([score, at]);
    });
    found.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
    for (const [, at] of found.slice(0, 50)) {
      const row = rows[at], item = document.createElement("li"), link = document.createElement("a");
      link.setAttribute("href", row.u);
      link.textContent = row.t;
      const about = document.createElement("small");
      about.textContent = row.k + ", " + row.c + ", " + row.l + (row.x ? ": " + row.x : "");
      item.append(link, about);
      list.append(item);
    }
    if (found.length === 0) {
      const item = document.createElement("li");
      item.textContent = "Nothing here holds all of these words.";
      list.append(item);
    }
  };
  field.addEventListener("input", search);
  const asked = () => {
    // index.html#q=lease is a shareable search.
    if (!location.hash.startsWith("#q=")) return;
    try { field.value = decodeURIComponent(location.hash.slice(3)); } catch { return; }
    search();
  };
  addEventListener("hashchange", asked);
  asked();
})();
`.trim();

// One style for every page, light and dark, embedded in each.

/** Loads nothing. */
const STYLE = `
:root{color-scheme:light dark;--back:#fbfaf7;--text:#1d1f21;--soft:#5b6166;--line:#dcd8cf;--link:#0b57a4;--mark:#fff1b8;
--card:#fff;--blue:#1f5fbf;--yellow:#8a6100;--red:#b3261e}
@media (prefers-color-scheme:dark){:root{--back:#16181a;--text:#e6e4df;--soft:#a2a8ad;--line:#34383c;--link:#8ab8ff;
--mark:#4a4016;--card:#1e2124;--blue:#8ab8ff;--yellow:#e3b341;--red:#ff8a80}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:62rem;padding:0 1.25rem 4rem;background:var(--back);color:var(--text);
font:1.05rem/1.6 Charter,Georgia,"Noto Serif",serif;overflow-wrap:anywhere}
nav,footer,.meta,.chip,aside,input,label{font-family:system-ui,"Segoe UI",Roboto,sans-serif;font-size:.9rem}
nav{display:flex;gap:1.25rem;padding:.9rem 0;border-bottom:1px solid var(--line);margin-bottom:1.5rem;flex-wrap:wrap}
nav b{margin-right:auto}
a{color:var(--link);text-decoration-thickness:.06em;text-underline-offset:.15em}
a.out::after{content:" \\2197";font-size:.8em}
h1,h2,h3,h4{line-height:1.25;margin:1.6em 0 .5em}h1{margin-top:.3em;font-size:2rem}
.meta{color:var(--soft);margin:0 0 1.5rem}
.chip{display:inline-block;padding:0 .55em;border:1px solid currentColor;border-radius:1em;font-size:.78rem;
line-height:1.55;margin-right:.35em;white-space:nowrap}
.chip.BLUE{color:var(--blue)}.chip.YELLOW{color:var(--yellow)}.chip.RED{color:var(--red)}
.warn{border-left:.3rem solid var(--red);padding:.4rem .9rem;background:var(--card)}
pre,code{font-family:ui-monospace,"Cascadia Mono",Menlo,Consolas,monospace;font-size:.88em}
pre{padding:.8rem 1rem;background:var(--card);border:1px solid var(--line);border-radius:.4rem;overflow-x:auto}
.raw{opacity:.65}
blockquote{margin:1em 0;padding-left:1rem;border-left:.25rem solid var(--line);color:var(--soft)}
.wide{overflow-x:auto}table{border-collapse:collapse}th,td{border:1px solid var(--line);padding:.3em .7em;text-align:left;
vertical-align:top}
sup{line-height:0}sup.lost{color:var(--red)}
aside,section.notes{border-top:1px solid var(--line);margin-top:2.5rem;padding-top:.5rem}
section.notes{font-size:.95rem}
ul.rows{list-style:none;padding:0}ul.rows li{padding:.35rem 0;border-bottom:1px solid var(--line)}
ul.rows small{color:var(--soft);display:block}
input[type=search]{width:100%;padding:.6em .8em;font-size:1rem;border:1px solid var(--line);border-radius:.4rem;
background:var(--card);color:inherit}
.lines{counter-reset:none;padding:.6rem 0;white-space:pre-wrap}
.lines span{display:block;padding:0 1rem 0 4.5rem;position:relative;min-height:1.5em}
.lines span>a{position:absolute;left:0;width:3.7rem;text-align:right;color:var(--soft);text-decoration:none;
user-select:none}
.lines .cited{background:var(--mark)}
.lines span:target,.lines .here{outline:2px solid var(--link);outline-offset:-2px}
.gap{color:var(--soft);padding:.3rem 1rem;font-style:italic}
footer{color:var(--soft);margin-top:3rem;border-top:1px solid var(--line);padding-top:.7rem}
`.trim();

/** A page of the site. `main` is HTML; other texts are escaped here. */
export interface SiteDocument extends Trust {
  readonly title: string;
  readonly kind: "index" | "page" | "source" | "sources";
  /** Folders between the page and the root of the site. */
  readonly depth: number;
  readonly main: string;
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** Nothing is loaded; only our own script and style run, by hash. */
const POLICY = [
  "default-src 'none'",
  `style-src ${hashOf(STYLE)}`,
  `script-src ${hashOf(SCRIPT)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const PLACES = [
  ["index.html", "Pages"],
  ["sources.html", "Sources"],
] as const;

/** The complete HTML of a page. */
export function documentHtml({ title, kind, colour, label, depth, main }: SiteDocument): string {
  const places = PLACES.map(([path, name]) => `<a href="${hrefTo(path, depth)}">${name}</a>`);
  // The policy must precede everything it applies to.
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta http-equiv="x-dns-prefetch-control" content="off">
<meta name="remit:kind" content="${kind}">
<meta name="remit:colour" content="${colour}">
<meta name="remit:label" content="${label}">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<nav><b>Wiki</b>${places.join("")}</nav>
<main>
${main}
</main>
<footer>${chips(colour, label)} Exported by Remit. It works offline and loads nothing.</footer>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

/** Colour and label beside a title. */
export function chips(colour: Colour, label: Label): string {
  return `<span class="chip ${colour}">${colour}</span><span class="chip">${label}</span>`;
}

// Escaping: no text of a page or source reaches a browser as markup.

const SIGNS: Readonly<Record<string, string>> = Object.freeze({
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
});

/** Control characters, bidirectional overrides, language tags: characters that hide or reorder text. */
const HIDDEN =
  // deno-lint-ignore no-control-regex -- controls are what it looks for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** Escapes a text for an element or a quoted attribute. Hidden characters become visible. */
export function escapeHtml(text: string): string {
  return text.toWellFormed().replaceAll("\r\n", "\n")
    .replaceAll(HIDDEN, (sign) => `\u27e8U+${hex(sign)}\u27e9`)
    .replaceAll(/[&<>"'`]/g, (sign) => SIGNS[sign] ?? "");
}

function hex(sign: string): string {
  return (sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}

/** JSON for a `<script type="application/json">` block: without `<`, so that no text closes the block. */
export function scriptJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${hex(sign).toLowerCase()}`,
  );
}

/** A path of the site, relative to a page `depth` folders beneath the root. */
export function hrefTo(path: string, depth: number): string {
  return escapeHtml("../".repeat(depth) + path.split("/").map(encodeURIComponent).join("/"));
}

/** Schemes of external links. Nothing is loaded; a person may click. */
const OUTWARD = /^(?:https?:\/\/[^\s/?#\\][^\s\\]*|mailto:[^\s\\]+)$/i;

/** The normalised `url` if a page may link to it, else undefined. */
export function outwardUrl(url: string): string | undefined {
  if (url.length > 2_000 || !OUTWARD.test(url)) return undefined;
  const parsed = URL.parse(url);
  const kind = parsed?.protocol;
  return kind === "http:" || kind === "https:" || kind === "mailto:" ? parsed?.href : undefined;
}
