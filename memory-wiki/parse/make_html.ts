/** Powers of the parser: HTML as Markdown through the web tools' reader, and the runtime's own decompressor. @module */
import type { HtmlReader, Inflate } from "./document.ts";

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

const MAX = 16_777_216;
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
    const written = toMarkdown(part.root, { base, without: part.without, most: MAX });
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

// Unpacks raw deflate within bounds, by the runtime's own decompressor.

/** Bytes that go in at once: a thousand times as many may come out before a bound is looked at. */
const STEP = 4_096;

/** See {@link Inflate}. */
export const inflate: Inflate = async (packed, most, take) => {
  const stream = new DecompressionStream("deflate-raw");
  const reader = stream.readable.getReader();
  const feeding = feed(stream.writable.getWriter(), packed);
  let left = most;
  let whole = true;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const part = value.subarray(0, left);
    left -= part.length;
    whole = part.length === value.length;
    if (take(part) && whole) continue;
    whole = false;
    await reader.cancel();
    break;
  }
  await feeding;
  return whole;
};

async function feed(
  writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>,
  packed: Uint8Array,
): Promise<void> {
  try {
    for (let at = 0; at < packed.length; at += STEP) {
      await writer.write(packed.slice(at, at + STEP));
    }
    await writer.close();
  } catch {
    // What is wrong with the stream, or that it was cancelled, the reading end tells.
  }
}
