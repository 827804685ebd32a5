/** Untrusted text of a review in lines: each behind a bar of Remit's own, so that none passes for Remit's words. @module */
import { displayBlock, displayText } from "../../../text/mod.ts";
import { hardWrap, wordWrap } from "../../terminal/columns.ts";
import type { Screen } from "../../hands.ts";
import type { DiffLine, McpKit, ToolFlag } from "./kit.ts";
import { flagLine } from "./words.ts";

/** What lines are drawn for. */
export type Paper = Pick<Screen, "paint" | "width">;

/** No cut. */
export const MOST = 1_000_000;

/** Untrusted text behind a bar of Remit's own, at most `most` lines of it. */
export function alienLines(screen: Paper, text: string, most = MOST): string[] {
  const columns = Math.max(24, screen.width - 9);
  const all = displayBlock(text, { prefix: "", max: MOST, maxLines: 100_000, columns: MOST })
    .flatMap((line) =>
      wordWrap(line, columns).map((piece, n) => `      ${n === 0 ? "│" : "│ ↪"} ${piece}`.trimEnd())
    );
  const rest = all.length - most;
  return rest <= 0
    ? all
    : [...all.slice(0, most), `      … ${rest} more ${rest === 1 ? "line" : "lines"}`];
}

/** A line of Remit's own, broken between words. */
export function ownLines(screen: Paper, text: string): string[] {
  return wordWrap(text, Math.max(40, screen.width - 1));
}

/** Flags, a line each. */
export function flagLines(screen: Paper, flags: readonly ToolFlag[], kit: McpKit): string[] {
  const columns = Math.max(40, screen.width - 7);
  return flags.flatMap((flag) =>
    wordWrap(flagLine(flag, kit.flagWords), columns).map((line, n) =>
      screen.paint.red(`    ${n === 0 ? "!" : " "} ${line}`)
    )
  );
}

/** A difference, its `@` lines being Remit's own. */
export function diffLines(screen: Paper, lines: readonly DiffLine[]): string[] {
  const { paint } = screen;
  const columns = Math.max(24, screen.width - 10);
  return lines.flatMap(({ mark, text }) => {
    if (mark === "@") return [`    ${displayText(text, { max: 200 })}`];
    const colour = mark === "-" ? paint.red : mark === "+" ? paint.green : (line: string) => line;
    return hardWrap(displayText(text, { max: MOST }), columns).map((piece, n) =>
      `      ${n === 0 ? "│" : "│ ↪"} ${colour(`${mark} ${piece}`)}`.trimEnd()
    );
  });
}
