/** HTML as Markdown, through the reader that the web's tools use. @module */
import type { HtmlReader } from "./document.ts";

/** What is used of tools-wasm/web_read: main.ts hands it in, since parts do not import each other. */
export interface HtmlParts<Root> {
  readonly readPage: (html: string) => {
    readonly root: Root;
    readonly title: string;
    readonly base: string;
    readonly hidden: {
      readonly elements: number;
      readonly characters: number;
      readonly links: number;
      readonly invisible: number;
    };
    readonly cut: boolean;
  };
  readonly mainPart: (root: Root) => { readonly root: Root; readonly without: ReadonlySet<string> };
  readonly toMarkdown: (
    root: Root,
    options: {
      readonly base: string;
      readonly without: ReadonlySet<string>;
      readonly most: number;
    },
  ) => string;
}

const MOST = 16_777_216;
/** Links that go up further than this stay at the top. */
const LEVELS = 24;
const ORIGIN = "https://relative.invalid";
const HERE = `${ORIGIN}${"/_".repeat(LEVELS)}/`;
const RELATIVE = /https:\/\/relative\.invalid((?:\/_)*)(\/[^\s)]*)?/g;
const IMAGE = /!\[((?:[^\]\\]|\\.){0,600})\]\([^)\s]{0,2100}\)/g;

/** Makes the reader. */
export function makeHtmlReader<Root>(parts: HtmlParts<Root>): HtmlReader {
  const { readPage, mainPart, toMarkdown } = parts;
  return (html, { whole }) => {
    const page = readPage(html);
    const part = whole ? { root: page.root, without: new Set<string>() } : mainPart(page.root);
    const base = /^https?:\/\//i.test(page.base) ? page.base : HERE;
    const written = toMarkdown(part.root, { base, without: part.without, most: MOST });
    const { hidden } = page;
    const notes = [
      ...(page.cut ? ["It has more parts than are read: the text is that of its beginning."] : []),
      ...(hidden.characters > 0
        ? [`${hidden.elements} hidden elements with ${hidden.characters} characters were left out.`]
        : []),
      ...(hidden.links > 0
        ? [`${hidden.links} links that run code or carry data were dropped.`]
        : []),
    ];
    return { text: withoutImages(asWritten(written)), title: page.title, notes, cut: page.cut };
  };
}

/** Links as the page wrote them: relative to itself. */
function asWritten(markdown: string): string {
  return markdown.replace(RELATIVE, (_all, levels: string, rest = "/") => {
    const kept = levels.length / 2;
    if (kept === 0) return rest;
    return "../".repeat(Math.max(0, LEVELS - kept)) + rest.slice(1);
  });
}

/** A picture's address is fetched by whatever shows the text: its words are kept, and it is not. */
function withoutImages(markdown: string): string {
  return markdown.replace(IMAGE, "[image: $1]");
}
