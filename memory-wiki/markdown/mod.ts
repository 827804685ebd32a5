/**
 * Markdown of the wiki: parses and writes pages, names, links, citations and the catalogue, and splits
 * sources into chunks. Pure functions in linear time.
 *
 * @example
 * ```ts
 * import { pageNameOf, readPage } from "./mod.ts";
 * const page = readPage("# Lease\n\nA lease ends.[^1]\n");
 * if (page.brokenNotes[0]?.note !== "1") throw new Error("a footnote without definition must be told");
 * pageNameOf("Access control"); // access-control
 * ```
 * @module
 */

export { aboutOf, shortened } from "./render_index.ts";
export { makeCodeNames } from "./_code_names.ts";
export { plainHeading } from "./chunk.ts";
export { type Block, blocksOf } from "./blocks.ts";
export { chunkText } from "./chunk.ts";
export { onlyLinks } from "./claims.ts";
export { cellsOf, definitionForm, namesTerms } from "./_chunk_markdown.ts";
export { encodingOf, oldTextOf, textFormOf } from "./encoding.ts";
export { codeSpan, escapeLine, escapePart, linkShown } from "./inline.ts";
export { citeSource, makeFootnotes, shownName, type SourceLines } from "./citation_line.ts";
export { readFront, splitFile } from "./front_matter.ts";
export { type Piece, piecesOf, plainLine } from "./inline.ts";
export { INSTRUCTIONS } from "./instructions.ts";
export { makeLineCounter } from "./claims.ts";
export { linkKey, pageNameOf, suffixed } from "./page_name.ts";
export { readPage } from "./read_page.ts";
export { renderIndex } from "./render_index.ts";
export { sentencesOf } from "./claims.ts";
export { writePage } from "./front_matter.ts";
