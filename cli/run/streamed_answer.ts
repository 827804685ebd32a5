/** What a model writes, on the screen while it writes. @module */
import type { Screen } from "../powers.ts";
import { displayText } from "../../text/mod.ts";
import { type AnswerView, type Highlight, makeAnswerView } from "../terminal/answer_view.ts";

/** What begins a block of code. */
const FENCE = "```";

/** An answer under way. */
export interface StreamedAnswer {
  /** Shows the next piece; false where answers are not shown as they come: output is no terminal. */
  push(piece: string): boolean;
  /** Ends the line under way, because another line follows. */
  pause(): void;
  /** A line of it is open on the screen. */
  midway(): boolean;
  /** The inference is over; whether anything of it was shown. */
  end(): boolean;
  /** The text of the last inference, where all of it was shown. */
  shown(): string | undefined;
}

/** Makes the view of one task's answers. */
export function makeStreamedAnswer(
  { out, outWidth, paint }: Pick<Screen, "out" | "outWidth" | "paint">,
): StreamedAnswer {
  let view: AnswerView | undefined;
  let text = "";
  let open = false;
  let last: string | undefined;
  let coloured: Highlight | undefined;
  let loading = false;
  /** The last characters of the text: a fence may come in two pieces. */
  let tail = "";
  /** Grammars are loaded with the first block of code; what came before them is shown without. */
  const highlight: Highlight = (line, ...rest) =>
    coloured === undefined ? paint.cyan(displayText(line)) : coloured(line, ...rest);
  const load = (): void => {
    loading = true;
    import("../terminal/highlight.ts").then(
      ({ makeHighlight }) => coloured = makeHighlight(paint),
      // Code without colours is an answer all the same.
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
