/**
 * Markdown of the wiki: pages read and written, names, links, citations, the catalogue, and sources cut into chunks.
 * Everything here is pure and takes time in proportion to its input.
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
export { ABOUT_CHARACTERS, aboutOf, shortened } from "./about.ts";
export { type CodeLine, makeCodeNames } from "./_code_names.ts";
export { plainHeading } from "./_chunk_prose.ts";
export { type Block, type BlockKind, blocksOf } from "./blocks.ts";
export { type ChunkedText, type ChunkOptions, chunkText } from "./chunk.ts";
export { citationLine, type CitationParts, readCitation, type ReadNote } from "./citation_line.ts";
export { claimsOf, isRemark, onlyLinks } from "./claims.ts";
export { cellsOf, type DefinitionForm, definitionForm, namesTerms } from "./definition_form.ts";
export { isNavigation, NAVIGATION_HEADINGS } from "./navigation.ts";
export { type Encoding, encodingOf, textFormOf } from "./encoding.ts";
export { codeSpan, escapeLine, escapePart, linkShown } from "./escape.ts";
export { readFront, type SplitFile, splitFile } from "./front_matter.ts";
export { type Piece, piecesOf, plainLine, plainOf } from "./inline.ts";
export { INSTRUCTIONS, INSTRUCTIONS_VERSION } from "./instructions.ts";
export { kindOf } from "./kind_of.ts";
export { makeLineCounter } from "./line_counter.ts";
export { linkKey, pageNameOf, suffixed } from "./page_name.ts";
export type { ReadPage } from "./page_text.ts";
export { readPage } from "./read_page.ts";
export { renderIndex } from "./render_index.ts";
export { sentencesOf, type Span } from "./sentences.ts";
export { writePage } from "./write_page.ts";
