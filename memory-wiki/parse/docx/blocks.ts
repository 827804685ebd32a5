/** Collects Markdown blocks: paragraphs, list items, nested tables, notes. Used by body.ts. @module */

/** Receives the blocks of a Word document. */
export interface Blocks {
  /** A paragraph or heading. */
  add(text: string): void;
  /** A list item; `form` is Word's number format. */
  item(text: string, list: { readonly id: string; readonly depth: number }, form: string): void;
  openTable(): void;
  openRow(): void;
  openCell(): void;
  /** Columns that the current cell spans. */
  span(columns: number): void;
  closeCell(): void;
  closeRow(): void;
  closeTable(): void;
  /** The number of a note, in order of reference. */
  noteNumber(key: string): number;
  openNote(key: string): void;
  closeNote(): void;
  full(): boolean;
  text(): string;
}

const MAX_TEXT = 24_000_000;
const MAX_COLUMNS = 50;
/** Characters of a cell; a table with longer ones is written as paragraphs. */
const MAX_CELL = 1_000;
const MAX_NOTES = 100_000;

interface Table {
  readonly rows: string[][];
}

interface Sink {
  readonly blocks: string[];
  /** Whether the last block is an item, which the next item follows without a blank line. */
  tight: boolean;
}

export function makeBlocks(): Blocks {
  const body: Sink = { blocks: [], tight: false };
  const sinks: Sink[] = [body];
  const tables: Table[] = [];
  const counters = new Map<string, number>();
  const numbers = new Map<string, number>();
  const noteTexts = new Map<number, string>();
  let spans = 1;
  let size = 0;
  let note: string | undefined;

  const top = (): Sink => sinks.at(-1) ?? body;
  const full = (): boolean => size > MAX_TEXT;

  const put = (text: string, item: boolean): void => {
    const sink = top();
    size += text.length + 2;
    const last = sink.blocks.at(-1);
    if (item && sink.tight && last !== undefined) sink.blocks.push(`\n${text}`);
    else sink.blocks.push(last === undefined ? text : `\n\n${text}`);
    sink.tight = item;
  };

  const counted = (id: string, depth: number): number => {
    // Numbering of deeper levels restarts.
    for (let deeper = depth + 1; deeper < 9; deeper += 1) counters.delete(`${id} ${deeper}`);
    const key = `${id} ${depth}`;
    const next = (counters.get(key) ?? 0) + 1;
    counters.set(key, next);
    return next;
  };

  return Object.freeze<Blocks>({
    add: (text) => put(text, false),
    item(text, { id, depth }, form) {
      const number = form === "bullet" || form === "none" ? undefined : counted(id, depth);
      const indent = "  ".repeat(depth);
      const mark = number === undefined ? "- " : `${number}. `;
      put(indent + mark + text.replaceAll("\n", `\n${indent}  `), true);
    },
    openTable() {
      tables.push({ rows: [] });
    },
    openRow() {
      tables.at(-1)?.rows.push([]);
    },
    openCell() {
      spans = 1;
      sinks.push({ blocks: [], tight: false });
    },
    span(columns) {
      if (Number.isInteger(columns)) spans = Math.max(1, Math.min(columns, MAX_COLUMNS));
    },
    closeCell() {
      if (sinks.length < 2) return;
      const cell = sinks.pop()?.blocks.join("") ?? "";
      const row = tables.at(-1)?.rows.at(-1);
      if (row === undefined || row.length >= MAX_COLUMNS) return;
      row.push(cell);
      for (let i = 1; i < spans && row.length < MAX_COLUMNS; i += 1) row.push("");
      spans = 1;
    },
    closeRow: () => undefined,
    closeTable() {
      const rows = tables.pop()?.rows.filter((row) => row.some((cell) => cell !== "")) ?? [];
      const [head] = rows;
      if (head === undefined) return;
      const columns = rows.reduce((max, row) => Math.max(max, row.length), 0);
      const layout = columns < 2 || rows.some((row) => row.some((cell) => cell.length > MAX_CELL));
      if (layout) { for (const cell of rows.flat()) if (cell !== "") put(cell, false); }
      else put(tableText(rows, columns), false);
    },
    noteNumber(key) {
      const known = numbers.get(key);
      if (known !== undefined || numbers.size >= MAX_NOTES) return known ?? MAX_NOTES;
      numbers.set(key, numbers.size + 1);
      return numbers.size;
    },
    openNote(key) {
      note = key;
      sinks.push({ blocks: [], tight: false });
    },
    closeNote() {
      if (sinks.length < 2) return;
      const text = (sinks.pop()?.blocks.join("") ?? "").replace(/\s+/g, " ").trim();
      const number = numbers.get(note ?? "");
      // Drops separators and notes without reference.
      if (number !== undefined && text !== "") noteTexts.set(number, text);
    },
    full,
    text() {
      const notes = [...noteTexts].sort(([one], [other]) => one - other)
        .map(([number, text]) => `Note ${number}: ${text}`);
      return [body.blocks.join(""), ...(notes.length === 0 ? [] : ["## Notes", ...notes])]
        .join("\n\n");
    },
  });
}

function tableText(rows: readonly (readonly string[])[], columns: number): string {
  const line = (cells: readonly string[]): string =>
    `| ${
      Array.from(
        { length: columns },
        (_, at) => (cells[at] ?? "").replace(/\s+/g, " ").replaceAll("|", "\\|"),
      ).join(" | ")
    } |`;
  const [head = [], ...rest] = rows;
  const rule = `| ${Array.from({ length: columns }, () => "---").join(" | ")} |`;
  return [line(head), rule, ...rest.map(line)].join("\n");
}
