/** Shows what a model writes while it writes. @module */
import type { Screen } from "../powers.ts";
import { displayText } from "../../text/mod.ts";
import { type AnswerView, type Highlight, makeAnswerView } from "../terminal/answer_view.ts";

/** Begins a block of code. */
const FENCE = "```";

/** The view of one task's answers. */
export interface StreamedAnswer {
  /** Shows the next piece; false where answers are not shown as they come: the output is no terminal. */
  push(piece: string): boolean;
  /** Ends the open line, because another line follows. */
  pause(): void;
  /** Whether a line of the answer is open on the screen. */
  midway(): boolean;
  /** Ends the view of one inference; returns whether any of it was shown. */
  end(): boolean;
  /** The text of the last inference, where it was shown as a whole. */
  shown(): string | undefined;
}

/** Makes the view of a task's answers. */
export function makeStreamedAnswer(
  { out, outWidth, paint }: Pick<Screen, "out" | "outWidth" | "paint">,
): StreamedAnswer {
  let view: AnswerView | undefined;
  let text = "";
  let open = false;
  let last: string | undefined;
  let coloured: Highlight | undefined;
  let loading = false;
  /** The last characters of the text: a fence may arrive in two pieces. */
  let tail = "";
  /** Grammars load with the first block of code; code before that has one colour. */
  const highlight: Highlight = (line, ...rest) =>
    coloured === undefined ? paint.cyan(displayText(line)) : coloured(line, ...rest);
  const load = (): void => {
    loading = true;
    import("../terminal/highlight.ts").then(
      ({ makeHighlight }) => coloured = makeHighlight(paint),
      // An answer without colours is still an answer.
      () => undefined,
    );
  };
  const write = (safe: string): void => {
    if (safe === "") return;
    out(safe);
    open = !safe.endsWith("\n");
  };
  return Object.freeze({
    push(piece: string): boolean {
      if (outWidth === undefined) return false;
      if (view === undefined) {
        view = makeAnswerView({ paint, width: outWidth, highlight });
        text = "";
        last = undefined;
        out("\n");
      }
      text += piece;
      tail = (tail + piece).slice(-piece.length - FENCE.length);
      if (!loading && tail.includes(FENCE)) load();
      write(view.push(piece));
      return true;
    },
    pause(): void {
      if (open) write("\n");
    },
    midway: () => open,
    end(): boolean {
      if (view === undefined) return false;
      write(view.end());
      view = undefined;
      last = text;
      return true;
    },
    shown: () => last,
  });
}
