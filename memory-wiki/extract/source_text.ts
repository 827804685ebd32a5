/** Parses a source's text for extraction: headings, sentences and definitions with their lines. @module */
import type { SourceKind } from "../../contracts/memory/mod.ts";
import {
  type Block,
  blocksOf,
  makeCodeNames,
  namesTerms,
  onlyLinks,
  piecesOf,
  plainHeading,
  plainLine,
  readFront,
  splitFile,
} from "../markdown/mod.ts";
import {
  type Definition,
  formDefinitions,
  patternDefinition,
  rowDefinition,
  type Sentence,
  sentencesOfBlock,
} from "./definitions.ts";

/** A heading, or a declaration in code. */
export interface Heading {
  readonly text: string;
  readonly level: number;
  readonly line: number;
}

/** A sentence with its place in the text. */
export interface PlacedSentence extends Sentence {
  /** Index of the heading above; -1 before the first. */
  readonly section: number;
  /** Whether it is the first sentence of its block. */
  readonly leads: boolean;
  /** Whether its block is prose rather than an item or a row. */
  readonly prose: boolean;
}

/** A parsed source. */
export interface SourceText {
  readonly headings: readonly Heading[];
  readonly sentences: readonly PlacedSentence[];
  readonly definitions: readonly Definition[];
  /** Whether the text is a glossary. */
  readonly glossary: boolean;
  /** Other titles of the document. */
  readonly aliases?: readonly string[];
}

const GLOSSARY =
  /\b(?:glossary|terminology|terms|definitions|vocabulary|abbreviations|acronyms)\b|用語|术语|術語/iu;
/** Titles of texts that only look like glossaries: changes, options, policies. */
const CHANGES =
  /\b(?:change|release|security|history|option|config|migrat|upgrade|contribut|polic|api)/iu;
/** A text of so many definitions by form, making up most of its items, is a glossary whatever its title. */
const MIN_GLOSSARY = 8;
const MAX_ALIASES = 16;
/** The head of a callout; its text is kept if it stands alone. */
const CALLOUT = /^\[![\p{L}\p{N}|-]{1,40}\][+-]?(?:[^\n]*(?=\n)|[ \t]*)/u;
const BLOCK_NAME = /[ \t]\^[a-zA-Z0-9-]{1,64}[ \t]*$/gm;
const MARKED: ReadonlySet<SourceKind> = new Set(["markdown", "html", "docx", "epub"]);
const COMMENT =
  /^\s*(?:\/\/[\/!]?|#+(?!!)|--|;+|\*(?!\/)|\/\*\*?|"""|''')\s?(.*?)(?:\*\/|"""|''')?\s*$/;

/** Parses a text; the `title` of code is its file name. Linear time. */
export function readSource(
  { kind, title }: { readonly kind: SourceKind; readonly title: string },
  text: string,
): SourceText {
  if (MARKED.has(kind)) return readMarkdown(text);
  if (kind === "code") return readCode(text, title);
  if (kind === "csv" || kind === "json") return readRows(kind, text);
  return readProse(text);
}

function readMarkdown(text: string): SourceText {
  const { front, body, bodyLine } = splitFile(text);
  const headings: Heading[] = [];
  const sentences: PlacedSentence[] = [];
  const definitions: Definition[] = [];
  let [items, terms, forms] = [0, false, 0];
  for (const block of blocksOf(body.split("\n"), bodyLine)) {
    if (block.kind === "header") terms = namesTerms(block.text);
    if (block.kind === "item") items += 1;
    if (block.kind === "heading") {
      const words = plainLine(block.text);
      if (words !== "") headings.push({ text: words, level: block.level, line: block.line });
    } else if (block.kind === "row") {
      const row = terms ? rowDefinition(block) : undefined;
      if (row !== undefined) definitions.push(row);
    } else if (block.kind === "item" || block.kind === "paragraph") {
      const shown = asShown(block);
      const own = formDefinitions(shown);
      definitions.push(...own);
      forms += own.length > 0 ? 1 : 0;
      const found = sentencesOfBlock(shown.text, block.line);
      if (onlyLinks(piecesOf(shown.text))) continue;
      place(sentences, found, headings.length - 1, block.kind === "paragraph" && block.quote === 0);
      const [first] = found;
      const pattern = own.length === 0 && first !== undefined
        ? patternDefinition(first)
        : undefined;
      if (pattern !== undefined) definitions.push(pattern);
    }
  }
  const titled = GLOSSARY.test(headings[0]?.text ?? "");
  const glossary = definitions.length > 0 &&
    (titled ||
      (!CHANGES.test(headings[0]?.text ?? "") && forms >= MIN_GLOSSARY && forms * 5 > items * 4 &&
        definitions.filter(({ term }) => /^\p{Lu}[^_.]*$/u.test(term)).length * 2 >
          definitions.length));
  const { aliases } = readFront(front);
  return {
    ...{ headings, sentences, definitions, glossary },
    ...(aliases.length === 0 ? {} : { aliases: aliases.slice(0, MAX_ALIASES) }),
  };
}

/**
 * A block without note-taking syntax: the head of a callout, a block id at the end. The number of lines stays
 * the same.
 */
function asShown(block: Block): Block {
  const callout = block.quote > 0 && CALLOUT.test(block.text);
  const text = (callout ? block.text.replace(CALLOUT, "") : block.text).replace(BLOCK_NAME, "");
  return text === block.text ? block : { ...block, text };
}

function readProse(text: string): SourceText {
  const headings: Heading[] = [];
  const sentences: PlacedSentence[] = [];
  for (const { lines, line } of paragraphsOf(text.split("\n"))) {
    const heading = lines.length <= 2 ? plainHeading(lines) : undefined;
    if (heading !== undefined) headings.push({ ...heading, line });
    else if (looksLikeProse(lines)) {
      place(sentences, sentencesOfBlock(lines.join("\n"), line, true), headings.length - 1, true);
    }
  }
  return { headings, sentences, definitions: patterns(sentences), glossary: false };
}

function readCode(text: string, file: string): SourceText {
  const lines = text.split("\n");
  const comments = lines.map((line) => COMMENT.exec(line.slice(0, 2_000))?.[1] ?? "");
  const names = makeCodeNames(file);
  const declared = lines.flatMap((line, index) => {
    const { name } = names(line);
    return name === undefined || /^\s/.test(line)
      ? []
      : [{ text: name, level: 1, line: index + 1 }];
  });
  const sentences: PlacedSentence[] = [];
  for (const paragraph of paragraphsOf(comments)) {
    const section = declared.findLastIndex(({ line }) => line < paragraph.line);
    const found = sentencesOfBlock(paragraph.lines.join("\n"), paragraph.line);
    place(sentences, found, section, true);
  }
  return { headings: declared, sentences, definitions: [], glossary: false };
}

/** Only the names of tables and JSON: search finds the rows. */
function readRows(kind: "csv" | "json", text: string): SourceText {
  const lines = text.slice(0, 100_000).split("\n", 2_000);
  if (kind === "csv") {
    const first = lines.findIndex((line) => line.trim() !== "");
    const names = (lines[first] ?? "").slice(0, 300).split(/[,;\t|]/);
    const headings = names.map((name) => name.replace(/^\s*"|"\s*$/g, "").trim())
      .filter((name) => name !== "").slice(0, 40)
      .map((name) => ({ text: name, level: 1, line: first + 1 }));
    return { headings, sentences: [], definitions: [], glossary: false };
  }
  const headings = lines.flatMap((line, index) => {
    const key = /^( {0,4}|\t)"([^"\\]{1,80})"\s*:/.exec(line);
    return key === null
      ? []
      : [{ text: key[2] ?? "", level: (key[1] ?? "").length > 2 ? 2 : 1, line: index + 1 }];
  });
  return { headings, sentences: [], definitions: [], glossary: false };
}

function patterns(sentences: readonly PlacedSentence[]): readonly Definition[] {
  return sentences.flatMap((sentence) => {
    const found = sentence.leads ? patternDefinition(sentence) : undefined;
    return found === undefined ? [] : [found];
  });
}

function place(
  into: PlacedSentence[],
  found: readonly Sentence[],
  section: number,
  prose: boolean,
): void {
  for (const [at, sentence] of found.entries()) {
    into.push({ ...sentence, section, leads: at === 0, prose });
  }
}

function* paragraphsOf(
  lines: readonly string[],
): Generator<{ readonly lines: readonly string[]; readonly line: number }> {
  let start = -1;
  for (let at = 0; at <= lines.length; at += 1) {
    const empty = at === lines.length || (lines[at] ?? "").trim() === "";
    if (!empty && start < 0) start = at;
    // A text without blank lines is cut into paragraphs of 200 lines.
    if (start >= 0 && (empty || at - start >= 200)) {
      yield { lines: lines.slice(start, at), line: start + 1 };
      start = empty ? -1 : at;
    }
  }
}

/** Figures, tables of contents and page headers consist mostly of other characters. */
function looksLikeProse(lines: readonly string[]): boolean {
  const text = lines.join(" ").slice(0, 2_000);
  const letters = text.match(/[\p{L}\s,.;:'"()-]/gu)?.length ?? 0;
  return letters > text.length * 0.8 && !/\.{5,}|(?:\. ){5,}/.test(text) &&
    !/\S {4,}\S/.test(text.trim());
}
