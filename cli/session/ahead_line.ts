/** The line that stays open under an answer while it is written: typed ahead, never lost, no answer to a question. @module */
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

/** Rows that the line itself takes at most; what is queued takes as many above it. */
const MAX_ROWS = 6;
const MAX_LETTERS = 200_000;
const MAX_CHOICES = 6;

/** What {@link makeAheadEditor} is handed. */
export interface AheadParts {
  readonly options: AheadOptions;
  readonly size: () => { readonly columns: number; readonly rows: number };
  readonly footer: NonNullable<Screen["footer"]>;
  readonly dim: (text: string) => string;
  /** Does what a terminal does for Ctrl-C, Ctrl-Z and Ctrl-\. */
  signal(move: "interrupt" | "suspend" | "quit"): void;
}

/** The line's state, its keys and its rows. */
export interface AheadEditor {
  /**
   * `shown` false: a question stands there, and what comes is kept and not drawn. Without bytes, when nothing came for a
   * while after an Esc: that was the key, and ends the turn as Ctrl-C does.
   */
  take(bytes: Uint8Array | undefined, shown: boolean): void;
  draw(): void;
  text(): string;
}

/** Makes it. */
export function makeAheadEditor(parts: AheadParts): AheadEditor {
  const { options, size, footer, dim } = parts;
  const keys = makeKeyReader();
  let editing: Editing = withText(beginLine(options.past ?? []), options.draft ?? "");
  let choices: readonly string[] = [];

  const rows = (): Drawn => {
    const { columns, rows: high } = size();
    const most = Math.max(1, Math.min(MAX_ROWS, high - 8));
    const prompt = promptOf(options.prompt, editing);
    const line = layOut(prompt, editing.line, { width: columns, most });
    const above = [
      ...options.above(),
      ...inColumns(choices, columns - 4).slice(0, MAX_CHOICES).map((each) => `    ${each}`),
    ].slice(-Math.max(1, high - most - 6)).map((each) => dim(cutTo(each, columns - 1)));
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
    if (move === "endOfInput" && editing.line.letters.length === 0) return options.ended();
    if (move === "editor") return;
    if (move === "complete") {
      const found = completed(editing, options.complete);
      ({ editing, choices } = found);
      return;
    }
    if (move === "up" && editing.line.letters.length === 0) {
      const back = options.takeBack();
      if (back !== undefined) {
        editing = withText(editing, back);
        return;
      }
    }
    const edited = edit(editing, key, { many: true, most: MAX_LETTERS });
    if (edited.kind === "going") editing = edited.editing;
    else if (edited.kind === "entered") enter(edited.text);
  };

  return Object.freeze<AheadEditor>({
    take(bytes, shown): void {
      for (const key of keys(bytes)) {
        // Before a question stands there nothing ends what goes on: Ctrl-C withdraws the question itself.
        press(key);
      }
      if (shown) draw();
    },
    draw,
    text: () => textOf(editing.line),
  });
}
