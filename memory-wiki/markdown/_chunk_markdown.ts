/** Chunks Markdown along headings, paragraphs, items and rows; a definition is a chunk of its own. @module */
import type { ByteLine, Cutter } from "./_cutter.ts";
import { type Block, makeBlockReader } from "./blocks.ts";
import { plainLine } from "./inline.ts";

/** Chunks the lines of one text. */
export interface Chunker {
  line(line: ByteLine): void;
  end(): void;
}

/** Minimum additional indentation of a nested item. */
const MIN_NESTING = 2;

/** Headings of a section rather than of the whole text. */
const GENERIC =
  /^(?:about|overview|introduction|features?|(?:basic |command line )?usage|install(?:ation)?|getting started|quick ?start|table of contents|contents|licen[cs]e|sponsors?)$/i;
/** Badges and images: inline, by reference, within a link, or as HTML. */
const PICTURES =
  /\[?!\[[^\]]{0,200}\](?:\([^)]{0,600}\)|\[[^\]]{0,200}\])(?:\](?:\([^)]{0,600}\)|\[[^\]]{0,200}\]))?|\[\[[^\]]{0,200}\]\[[^\]]{0,200}\]\]\[[^\]]{0,200}\]|<img\b[^>]{0,600}>/gi;
const HTML_TITLE = /<h1\b[^>]{0,200}>(.{1,600}?)<\/h1>/is;
/** Characters of a paragraph searched for an HTML heading. */
const MAX_HTML = 4_096;

/** A heading without badges; a heading of badges only keeps their text. */
function titleOf(heading: string): string {
  const bare = plainLine(heading.slice(0, MAX_HTML).replace(PICTURES, " "));
  return /[\p{L}\p{N}]/u.test(bare) ? bare : plainLine(heading);
}

/** The HTML heading of level 1 in a paragraph; empty for none. */
function htmlTitle(paragraph: string): string {
  const [, inner] = HTML_TITLE.exec(paragraph.slice(0, MAX_HTML)) ?? [];
  if (inner === undefined) return "";
  const bare = titleOf(inner);
  return bare === "" ? plainLine(/\balt="([^"]{1,200})"/i.exec(inner)?.[1] ?? "") : bare;
}

/** Makes a chunker. The first `skip` lines are front matter; `heard` receives the first heading of level 1. */
export function makeMarkdownChunker(
  cutter: Cutter,
  options: { readonly skip: number; heard(title: string): void },
): Chunker {
  const reader = makeBlockReader();
  let waiting: ByteLine[] = [];
  let path: { readonly level: number; readonly text: string }[] = [];
  let definition: { readonly level: number } | undefined;
  let titled = false;
  let banner = false;
  let terms = false;

  const names = (): string[] => path.map(({ text }) => text).filter((text) => text !== "");

  function hear(title: string): boolean {
    if (title === "" || GENERIC.test(title)) return false;
    titled = true;
    options.heard(title);
    return true;
  }

  function lead(block: Block): void {
    if (block.kind === "heading") {
      definition = undefined;
      cutter.section();
      const text = plainLine(block.text);
      // A heading right below an HTML heading replaces it: the latter is the project's banner on every page.
      if (banner || (!titled && block.level === 1)) hear(titleOf(block.text));
      banner = false;
      path = [...path.filter(({ level }) => level < block.level), { level: block.level, text }];
      return cutter.under(names());
    }
    banner = !titled && block.kind === "paragraph" && hear(htmlTitle(block.text));
    const inside = definition !== undefined && block.kind === "item" &&
      block.level >= definition.level + MIN_NESTING;
    if (inside) return;
    if (definition !== undefined) {
      definition = undefined;
      cutter.section();
      cutter.under(names());
    }
    if (block.kind === "header") terms = namesTerms(block.text);
    const term = termOf(block);
    if (term === undefined) return cutter.divide();
    cutter.alone();
    definition = { level: block.level };
    cutter.under([...names(), plainLine(term)]);
  }

  /** The term that a block defines: `**term**: …`, or a row of a table of terms. */
  function termOf(block: Block): string | undefined {
    if (block.kind === "row") return terms ? cellsOf(block.text)[0] : undefined;
    if (block.kind !== "item" && block.kind !== "paragraph") return undefined;
    return definitionForm(block.text)?.term;
  }

  /** Passes the lines of finished blocks to the cutter. */
  function drain(): void {
    if (reader.blocks.length === 0) return;
    let at = 0;
    for (const block of reader.blocks.splice(0)) {
      while (at < waiting.length && (waiting[at]?.number ?? 0) < block.line) at += 1;
      lead(block);
      for (; at < waiting.length && (waiting[at]?.number ?? 0) <= block.endLine; at += 1) {
        const line = waiting[at];
        if (line === undefined) break;
        cutter.add(line, block.kind === "heading" || block.kind === "rule");
        if (block.kind === "code" && line.text.trim() === "") cutter.divide();
      }
    }
    waiting = waiting.slice(at);
  }

  let last: ByteLine | undefined;
  function take(line: ByteLine, next: string | undefined): void {
    waiting.push(line);
    reader.line(line.text, line.number, next);
    drain();
  }

  return {
    line(line): void {
      if (line.number <= options.skip) return cutter.add(line);
      if (line.number === options.skip + 1) cutter.section();
      // One line late, because the second line of a table identifies it.
      if (last !== undefined) take(last, line.text);
      last = line;
    },
    end(): void {
      if (last !== undefined) take(last, undefined);
      reader.end();
      drain();
      cutter.end();
    },
  };
}

// Definitions of the form `**term**: what it is`.

/** A term with its definition. */
interface DefinitionForm {
  /** Without markup. */
  readonly term: string;
  /** Where the definition begins. */
  readonly from: number;
}

const BOLD =
  /^(?:\*\*|__)([^*_`\n][^*`\n]{0,78}?)([:.]?)(?:\*\*|__)[ \t]*(\([^()\n]{0,80}\))?[ \t]*([:—–-]?)[ \t]*(?=\S)/u;
const CODE = /^`([^`\n]{1,60})`[ \t]*(:|—|–|-)[ \t]+(?=\S)/u;

/** The term that a block's text defines: bold or code, then a colon or dash; undefined for other texts. */
export function definitionForm(text: string): DefinitionForm | undefined {
  const bold = BOLD.exec(text);
  if (bold !== null) {
    const [whole, term = "", inner, , after] = bold;
    if (inner !== ":" && after === "") return undefined;
    return { term: term.trim(), from: whole.length };
  }
  const code = CODE.exec(text);
  return code === null ? undefined : { term: code[1] ?? "", from: code[0].length };
}

const TERMS =
  /^(?:terms?|words?|concepts?|expressions?|abbreviations?|acronyms?|begriffe?|wort|用語|术语|術語)$/iu;

/** Cells of a table row as written, trimmed. */
export function cellsOf(row: string): readonly string[] {
  return row.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "").split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

/** Whether the header of a table says that its rows define terms. */
export function namesTerms(header: string): boolean {
  const cells = cellsOf(header);
  return cells.length >= 2 && TERMS.test(plainLine(cells[0] ?? ""));
}
