/** How texts write definitions: `**term**: what it is`. @module */
import { plainLine } from "./inline.ts";

/** A term that is defined where it stands. */
export interface DefinitionForm {
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
