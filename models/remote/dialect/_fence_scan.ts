/** Follows a fenced block to its closing line through text that comes in pieces. @module */
import type { ScanState } from "./_object_scan.ts";

/** A scan under way. */
export interface FenceScan {
  /** The text from `from` on is next. `dead`: it does not begin with an object. */
  push(text: string, from: number): ScanState;
  /** Characters of the block before its closing line. */
  inner(): number;
}

const TICKS = 3;
const INDENT = 3;

/** Makes a scan that begins behind the opening line. It looks at each character once. */
export function makeFenceScan(): FenceScan {
  let line: "start" | "closing" | "other" = "start";
  let indent = 0;
  let ticks = 0;
  let empty = true;
  let seen = 0;
  let lineAt = 0;

  /** Goes one character on, which is no line's end. */
  function step(char: string): boolean {
    if (line === "start" && ticks === 0 && char === " " && indent < INDENT) {
      indent += 1;
      return true;
    }
    if (line === "start" && char === "`") {
      ticks += 1;
      if (ticks === TICKS) line = "closing";
      return true;
    }
    const space = char === " " || char === "\t" || char === "\r";
    if (space && (line !== "start" || ticks === 0)) return true;
    const fits = !empty || (char === "{" && line !== "closing" && ticks === 0);
    line = "other";
    empty = false;
    return fits;
  }

  return Object.freeze<FenceScan>({
    push(text, from) {
      for (let at = from; at < text.length; at++) {
        const char = text.charAt(at);
        if (char !== "\n") {
          if (!step(char)) return { kind: "dead" };
          seen += 1;
          continue;
        }
        if (line === "closing") return { kind: "done", end: at };
        // Ticks that are no closing line are no object either.
        if (empty && ticks > 0) return { kind: "dead" };
        seen += 1;
        lineAt = seen;
        line = "start";
        indent = 0;
        ticks = 0;
      }
      return { kind: "open" };
    },
    inner: () => line === "closing" ? lineAt : seen,
  });
}
