/** Chunks of Markdown: along headings, paragraphs, items, rows; a definition is a chunk of its own. @module */
import type { ByteLine, Cutter } from "./_cutter.ts";
import { type Block, makeBlockReader } from "./blocks.ts";
import { plainLine } from "./inline.ts";

/** Takes the lines of one text. */
export interface Chunker {
  line(line: ByteLine): void;
  end(): void;
}

/** Columns by which an item must stand deeper than another to belong to it. */
const DEEPER = 2;

/** `skip` lines at the start are front matter; `heard` is told the first heading of level 1. */
export function makeMarkdownChunker(
  cutter: Cutter,
  options: { readonly skip: number; heard(title: string): void },
): Chunker {
  const reader = makeBlockReader();
  let waiting: ByteLine[] = [];
  let path: { readonly level: number; readonly text: string }[] = [];
  let definition: { readonly level: number } | undefined;
  let titled = false;
  let terms = false;

  const names = (): string[] => path.map(({ text }) => text).filter((text) => text !== "");

  function lead(block: Block): void {
    if (block.kind === "heading") {
      definition = undefined;
      cutter.section();
      const text = plainLine(block.text);
      if (!titled && block.level === 1 && text !== "") options.heard(text);
      titled ||= block.level === 1;
      path = [...path.filter(({ level }) => level < block.level), { level: block.level, text }];
      return cutter.under(names());
    }
    const inside = definition !== undefined && block.kind === "item" &&
      block.level >= definition.level + DEEPER;
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

  /** Hands over the lines of what the reader has read. */
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
      // One line late: a table is known by its second line.
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

// How texts write definitions: `**term**: what it is`.

/** A term that is defined where it stands. */
interface DefinitionForm {
  /** As written, without its marks. */
  readonly term: string;
  /** Where what is said of it begins. */
  readonly from: number;
}

const BOLD =
  /^(?:\*\*|__)([^*_`\n][^*`\n]{0,78}?)([:.]?)(?:\*\*|__)[ \t]*(\([^()\n]{0,80}\))?[ \t]*([:—–-]?)[ \t]*(?=\S)/u;
const CODE = /^`([^`\n]{1,60})`[ \t]*(:|—|–|-)[ \t]+(?=\S)/u;

/** The term that a block's text begins by defining: bold or code, then a colon or dash; undefined for other texts. */
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

/** Cells of a table's row as they are written, without white space around them. */
export function cellsOf(row: string): readonly string[] {
  return row.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "").split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

/** Whether a table's header says that its rows define terms. */
export function namesTerms(header: string): boolean {
  const cells = cellsOf(header);
  return cells.length >= 2 && TERMS.test(plainLine(cells[0] ?? ""));
}
