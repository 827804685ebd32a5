/** The frame of every page of the site: head, policy, navigation. @module */
import { createHash } from "node:crypto";
import type { Colour, Label } from "../../contracts/mod.ts";
import { escapeHtml, hrefTo } from "./html.ts";
import { SCRIPT } from "./script.ts";
import { STYLE } from "./style.ts";

/** What one page of the site is. `main` is HTML already; everything else is text. */
export interface SiteDocument {
  readonly title: string;
  readonly kind: "index" | "page" | "source" | "sources";
  readonly colour: Colour;
  readonly label: Label;
  /** How many folders beneath the site's root it lies. */
  readonly depth: number;
  readonly main: string;
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** Nothing is loaded, from nowhere; of scripts and styles only our own two texts run. */
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

/** The whole HTML text of a page. */
export function documentHtml({ title, kind, colour, label, depth, main }: SiteDocument): string {
  const places = PLACES.map(([path, name]) => `<a href="${hrefTo(path, depth)}">${name}</a>`);
  // The policy stands before anything that it could judge.
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

/** Colour and label, as they are shown beside a title. */
export function chips(colour: Colour, label: Label): string {
  return `<span class="chip ${colour}">${colour}</span><span class="chip">${label}</span>`;
}
