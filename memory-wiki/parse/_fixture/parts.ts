/** The parts that main.ts hands to parsers, for tests without a process. @module */
import { nothingHidden } from "../../../tools-wasm/web_read/invisible.ts";
import { mainPart } from "../../../tools-wasm/web_read/main_part.ts";
import { readPage } from "../../../tools-wasm/web_read/page_tree.ts";
import { toMarkdown } from "../../../tools-wasm/web_read/to_markdown.ts";
import type { DocumentBytes, ReadParts } from "../document.ts";
import { inflate, makeHtmlReader } from "../make_html.ts";

/** A clock that does not move. */
export const parts: ReadParts = Object.freeze({
  html: makeHtmlReader({
    readPage,
    mainPart,
    toMarkdown: (root: Parameters<typeof toMarkdown>[0], options) =>
      toMarkdown(root, { ...options, hidden: nothingHidden() }),
  }),
  inflate,
  now: () => 0,
});

/** A document of these bytes or this text. */
export function documentOf(content: string | Uint8Array, name = "mallory"): DocumentBytes {
  return { name, bytes: typeof content === "string" ? new TextEncoder().encode(content) : content };
}
