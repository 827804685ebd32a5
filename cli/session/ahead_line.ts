/** The line under an answer while the answer is written: for typing ahead, never for answering a question. @module */
import type { AheadOptions, Screen } from "../powers.ts";
import { cutTo, inColumns } from "../terminal/columns.ts";
import type { Drawn } from "../terminal/footer.ts";
import {
  beginLine,
  completed,
  edit,
  type Editing,
  promptOf,
  textOf,
  withText,
} from "./line_edit.ts";
import { type Key, makeKeyReader } from "./line_keys.ts";
import { layOut } from "./line_view.ts";

/** Most rows of the line itself; queued texts take as many above it. */
const MAX_ROWS = 6;
const MAX_CHARACTERS = 200_000;
const MAX_CHOICES = 6;

/** The line's state and keys. */
export interface AheadEditor {
  /**
   * Takes bytes of the keyboard. `shown` false: a question covers the line, so keys are kept and not drawn. Without bytes,
   * after a pause: a pending Esc is the Esc key, which interrupts the turn as Ctrl-C does.
   */
  take(bytes: Uint8Array | undefined, shown: boolean): void;
  draw(): void;
  text(): string;
}

/** Makes the editor. */
export function makeAheadEditor(parts: {
  readonly options: AheadOptions;
  readonly size: () => { readonly columns: number; readonly rows: number };
  readonly footer: NonNullable<Screen["footer"]>;
  readonly dim: (text: string) => string;
  /** Sends the signal of Ctrl-C, Ctrl-Z or Ctrl-\. */
  signal(move: "interrupt" | "suspend" | "quit"): void;
}): AheadEditor {
  const { options, size, footer, dim } = parts;
  const keys = makeKeyReader();
  let editing: Editing = withText(beginLine(options.past ?? []), options.draft ?? "");
  let choices: readonly string[] = [];

  const rows = (): Drawn => {
    const { columns, rows: high } = size();
    const max = Math.max(1, Math.min(MAX_ROWS, high - 8));
    const prompt = promptOf(options.prompt, editing);
    const line = layOut(prompt, editing.line, { width: columns, maxRows: max });
    const above = [
      ...options.above(),
      ...inColumns(choices, columns - 4).slice(0, MAX_CHOICES).map((each) => `    ${each}`),
    ].slice(-Math.max(1, high - max - 6)).map((each) => dim(cutTo(each, columns - 1)));
    return { rows: [...above, ...line.rows], row: above.length + line.row, before: line.before };
  };
  const draw = (): void => footer(rows());

  const enter = (text: string): void => {
    editing = beginLine(editing.past);
    if (text.trim() !== "") options.entered(text);
  };
  const press = (key: Key): void => {
    const move = key.kind === "move" ? key.move : undefined;
    choices = [];
    if (editing.sought === undefined && move === "escape") return parts.signal("interrupt");
    const stops = move === "interrupt" && editing.sought === undefined;
    if (stops || move === "suspend" || move === "quit") return parts.signal(move);
    if (move === "endOfInput" && editing.line.graphemes.length === 0) return options.ended();
    if (move === "editor") return;
    if (move === "complete") {
      const found = completed(editing, options.complete);
      ({ editing, choices } = found);
      return;
    }
    if (move === "up" && editing.line.graphemes.length === 0) {
      const back = options.takeBack();
      if (back !== undefined) {
        editing = withText(editing, back);
        return;
      }
    }
    const edited = edit(editing, key, { many: true, max: MAX_CHARACTERS });
    if (edited.kind === "going") editing = edited.editing;
    else if (edited.kind === "entered") enter(edited.text);
  };

  return Object.freeze<AheadEditor>({
    take(bytes, shown): void {
      // Also while a question covers the line: Ctrl-C then withdraws the question and does not end the turn.
      for (const key of keys(bytes)) press(key);
      if (shown) draw();
    },
    draw,
    text: () => textOf(editing.line),
  });
}
