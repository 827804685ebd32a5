/** Text, emphasis, links, images and code within a line. @module */
import { linearMath, scripted } from "../../text/math.ts";
import type { Hidden } from "./invisible.ts";
import { BLOCKS, type PageElement, type PageNode } from "./page_tree.ts";
import { resolveLink } from "./resolve_link.ts";

/** The parts of a page that its inline text needs. */
export interface InlineOptions {
  /** Base address of links. */
  readonly base: string;
  /** Counts dropped links. */
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
/** Controls: what a person could type or choose is not content. */
const DROPPED = new Set(["input", "select", "textarea", "wbr", "rp", "progress", "meter"]);

/** Writes parts as one text. Collapses blanks; `br` is a line end. */
export function inlineText(nodes: readonly PageNode[], options: InlineOptions): string {
  return nodes.map((node, at) =>
    typeof node === "string" ? escaped(node) : element(node, options, nodes[at + 1])
  ).join("")
    .replace(/[ \t\u00a0]+/g, " ").replace(/ ?\n ?/g, "\n");
}

function element(node: PageElement, options: InlineOptions, after?: PageNode): string {
  const next = typeof after === "string" ? after : "";
  if (node.name === "br") return "\n";
  if (DROPPED.has(node.name)) return "";
  if (node.name === "img") return image(node, options);
  if (CODE.has(node.name)) return code(node);
  if (node.name === "math") return escaped(linearMath(node));
  const inner = inlineText(node.children, options);
  if (BLOCKS.has(node.name) || node.name === "li") return ` ${inner} `;
  if (node.name === "sup" || node.name === "sub") {
    return scripted(node.name, inner, { noted: isNoteMark(node), next });
  }
  if (node.name === "rt") return inner.trim() === "" ? "" : `(${inner.trim()})`;
  if (node.name === "a" && NOTE_MARK.test(roleOf(node))) {
    return scripted("sup", inner, { noted: true });
  }
  if (node.name === "a") return link(node, inner, options);
  if (node.name === "q") return `"${inner}"`;
  const mark = MARKS[node.name];
  if (mark === undefined || inner.trim() === "" || inner.includes("\n") || inner.startsWith("*")) {
    return inner;
  }
  const core = inner.trim();
  const before = inner.startsWith(" ") ? " " : "";
  return `${before}${mark}${core}${mark}${inner.endsWith(" ") ? " " : ""}`;
}

const NOTE_MARK = /\b(?:doc-)?noteref\b/i;

/** An element's declared role, in HTML or in a book. */
function roleOf({ attributes }: PageElement): string {
  return `${attributes.get("role") ?? ""} ${attributes.get("epub:type") ?? ""}`;
}

/** Whether a raised mark leads to a place on the page, or has the role of a note's mark. */
function isNoteMark(node: PageElement): boolean {
  return NOTE_MARK.test(roleOf(node)) ||
    node.children.some((child) =>
      typeof child !== "string" && child.name === "a" && child.attributes.has("href") ||
      typeof child !== "string" && isNoteMark(child)
    );
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
  // An image without a name adds nothing.
  if (alt === "") return "";
  return target.kind === "address" ? `![${alt}](${target.url})` : `[image: ${alt}]`;
}

function code(node: PageElement): string {
  const text = plain(node).replace(/\s+/g, " ").trim();
  if (text === "") return "";
  const longest = (text.match(/`+/g) ?? []).reduce((max, run) => Math.max(max, run.length), 0);
  const fence = "`".repeat(Math.min(longest + 1, 50));
  const pad = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return `${fence}${pad}${text}${pad}${fence}`;
}

/** An element's text without marks, except those that keep numbers apart. */
export function plain(node: PageNode): string {
  if (typeof node === "string") return node;
  if (node.name === "br") return "\n";
  if (node.name === "math") return linearMath(node);
  return node.children.map((child, at) => {
    const next = node.children[at + 1];
    const script = typeof child !== "string" && (child.name === "sup" || child.name === "sub");
    return script
      ? scripted(child.name === "sup" ? "sup" : "sub", plain(child), {
        next: typeof next === "string" ? next : "",
      })
      : plain(child);
  }).join("");
}

/** Escapes a page's text, so that it cannot form links, images or emphasis. */
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
