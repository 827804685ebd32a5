/** Powers of the parsers: HTML to Markdown by the web tools' converter, and the runtime's decompression. @module */
import type { HtmlReader, Inflate } from "./document.ts";

/** The functions of tools-wasm/web_read in use. main.ts injects them, since parts do not import each other. */
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

const MAX_TEXT = 16_777_216;
/** Maximum `..` segments of a relative link. */
const LEVELS = 24;
const ORIGIN = "https://relative.invalid";
const HERE = `${ORIGIN}${"/_".repeat(LEVELS)}/`;
const RELATIVE = /https:\/\/relative\.invalid((?:\/_)*)(\/[^\s)]*)?/g;
const IMAGE = /!\[((?:[^\]\\]|\\.){0,600})\]\([^)\s]{0,2100}\)/g;

/** Makes the converter. */
export function makeHtmlReader<Root>(parts: HtmlParts<Root>): HtmlReader {
  const { readPage, mainPart, toMarkdown } = parts;
  return (html, { whole }) => {
    const page = readPage(html);
    const part = whole ? { root: page.root, without: new Set<string>() } : mainPart(page.root);
    const base = /^https?:\/\//i.test(page.base) ? page.base : HERE;
    const written = toMarkdown(part.root, { base, without: part.without, most: MAX_TEXT });
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

/** Restores relative links as the page wrote them. */
function asWritten(markdown: string): string {
  return markdown.replace(RELATIVE, (_all, levels: string, rest = "/") => {
    const kept = levels.length / 2;
    if (kept === 0) return rest;
    return "../".repeat(Math.max(0, LEVELS - kept)) + rest.slice(1);
  });
}

/** Replaces images by their descriptions, since a viewer would fetch the address. */
function withoutImages(markdown: string): string {
  return markdown.replace(IMAGE, "[image: $1]");
}

// Decompresses raw deflate within limits, by the runtime's decompressor.

/** Input bytes per step: a thousand times as many may be decompressed before a limit applies. */
const STEP = 4_096;

/** See {@link Inflate}. */
export const inflate: Inflate = async (packed, max, take) => {
  const stream = new DecompressionStream("deflate-raw");
  const reader = stream.readable.getReader();
  const feeding = feed(stream.writable.getWriter(), packed);
  let left = max;
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
    // The reading end reports errors and cancellation.
  }
}
