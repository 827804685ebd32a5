/**
 * Entry of the parser: a process without permissions that converts one document to text. Bundled as
 * parser.js. docs/decision/0014.
 * @module
 */
import "./prelude_powers.ts";
import { WIDE_FRAME_BYTES } from "../../contracts/wire/wire_plugin.ts";
import { serveChild } from "../../port/child_powers.ts";
import { nothingHidden } from "../../tools-wasm/web_read/invisible.ts";
import { mainPart } from "../../tools-wasm/web_read/main_part.ts";
import { readPage } from "../../tools-wasm/web_read/page_tree.ts";
import { toMarkdown } from "../../tools-wasm/web_read/to_markdown.ts";
import { inflate, makeHtmlReader } from "./make_html.ts";
import { makeParseService } from "./service.ts";

const html = makeHtmlReader({
  readPage,
  mainPart,
  toMarkdown: (root, options) => toMarkdown(root, { ...options, hidden: nothingHidden() }),
});

await serveChild(
  () => makeParseService({ html, inflate, now: () => performance.now() }),
  { frameBytes: WIDE_FRAME_BYTES },
);
