/** Text, emphasis, links, images and code within a line. @module */
import type { Hidden } from "./invisible.ts";
import { BLOCKS, type PageElement, type PageNode } from "./page_tree.ts";
import { resolveLink } from "./resolve_link.ts";

/** What inline parts need to know of their page. */
export interface InlineOptions {
  /** Address that links are resolved against. */
  readonly base: string;
  /** Links that were dropped are counted here. */
  readonly hidden: Hidden;
}

const MARKS: Readonly<Record<string, string>> = {
  b: "**",
  strong: "**",
  em: "*",
  i: "*",
  del: "~~",
  s: "~~",
  strike: "~~",
};
const CODE = new Set(["code", "kbd", "samp", "tt"]);
/** Controls: what a person could type or choose is no content. */
const DROPPED = new Set(["input", "select", "textarea", "wbr", "rp", "progress", "meter"]);

/** Writes parts as one text. Blanks are collapsed; `br` is a line end. */
export function inlineText(nodes: readonly PageNode[], options: InlineOptions): string {
  return nodes.map((node) => typeof node === "string" ? escaped(node) : element(node, options))
    .join("")
    .replace(/[ \t\u00a0]+/g, " ").replace(/ ?\n ?/g, "\n");
}

function element(node: PageElement, options: InlineOptions): string {
  if (node.name === "br") return "\n";
  if (DROPPED.has(node.name)) return "";
  if (node.name === "img") return image(node, options);
  if (CODE.has(node.name)) return code(node);
  const inner = inlineText(node.children, options);
  if (node.name === "a") return link(node, inner, options);
  if (BLOCKS.has(node.name) || node.name === "li") return ` ${inner} `;
  if (node.name === "q") return `"${inner}"`;
  const mark = MARKS[node.name];
  if (mark === undefined || inner.trim() === "" || inner.includes("\n") || inner.startsWith("*")) {
    return inner;
  }
  const core = inner.trim();
  const before = inner.startsWith(" ") ? " " : "";
  return `${before}${mark}${core}${mark}${inner.endsWith(" ") ? " " : ""}`;
}

function link(node: PageElement, inner: string, { base, hidden }: InlineOptions): string {
  const href = node.attributes.get("href");
  if (href === undefined) return inner;
  const target = resolveLink(href, base);
  if (target.kind === "refused") hidden.links += 1;
  if (target.kind !== "address") return inner;
  const text = inner.replace(/\s+/g, " ").trim();
  return text === "" ? "" : `[${text}](${target.url})`;
}

function image(node: PageElement, { base, hidden }: InlineOptions): string {
  const alt = escaped((node.attributes.get("alt") ?? "").replace(/\s+/g, " ").trim()).slice(0, 500);
  const target = resolveLink(node.attributes.get("src") ?? "", base);
  if (target.kind === "refused") hidden.links += 1;
  // An image that is named by nothing says nothing.
  if (alt === "") return "";
  return target.kind === "address" ? `![${alt}](${target.url})` : `[image: ${alt}]`;
}

function code(node: PageElement): string {
  const text = plain(node).replace(/\s+/g, " ").trim();
  if (text === "") return "";
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0);
  const fence = "`".repeat(Math.min(longest + 1, 50));
  const pad = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return `${fence}${pad}${text}${pad}${fence}`;
}

function plain(node: PageNode): string {
  return typeof node === "string" ? node : node.children.map(plain).join("");
}

/** A page's own text cannot write links, images or emphasis. */
function escaped(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\\`*[\]<]/g, "\\$&").replace(
    /_+/g,
    (run: string, at: number, all: string) => {
      // Within a word an underscore means nothing.
      const inWord = /\w/.test(all[at - 1] ?? " ") && /\w/.test(all[at + run.length] ?? " ");
      return inWord ? run : run.replaceAll("_", "\\_");
    },
  );
}
