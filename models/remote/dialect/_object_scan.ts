/**
 * Follows a JSON object and its closing tag through text that comes in pieces: a tag inside of a string
 * of the object closes nothing. It looks at each character once and judges no more than it must.
 * @module
 */
import { TAGS } from "./_tag.ts";

/** What has become of the object; `end` is the index in the piece behind its closing tag. */
export type ScanState =
  | { readonly kind: "open" }
  | { readonly kind: "dead" }
  | { readonly kind: "done"; readonly end: number };

/** A scan under way. */
export interface ObjectScan {
  /** The text from `from` on is next. */
  push(text: string, from: number): ScanState;
  /** Whether the object itself has ended, so that only the closing tag is missing. */
  whole(): boolean;
}

const OPEN: ScanState = { kind: "open" };
const DEAD: ScanState = { kind: "dead" };

/** Makes a scan that begins behind the opening tag. */
export function makeObjectScan(): ObjectScan {
  let phase: "before" | "inside" | "string" | "escaped" | "after" = "before";
  let depth = 0;
  let matched = 0;

  /** Goes one character on; false when this cannot be an object. */
  function step(char: string): boolean {
    switch (phase) {
      case "escaped":
        phase = "string";
        return true;
      case "string":
        if (char === "\\") phase = "escaped";
        else if (char === '"') phase = "inside";
        return true;
      case "before":
        if (char === "{") {
          phase = "inside";
          depth = 1;
          return true;
        }
        return isSpace(char);
      case "inside":
        if (char === '"') phase = "string";
        else if (char === "{" || char === "[") depth += 1;
        else if (char === "}" || char === "]") {
          depth -= 1;
          if (depth === 0) phase = "after";
        }
        // INVARIANT: a tag outside of a string ends the scan, which keeps all rescans linear
        // (test: "mallory's flood of … costs linear time …").
        return char !== "<" && char !== "\\";
      case "after":
        if (char === TAGS.hermesEnd[matched]) {
          matched += 1;
          return true;
        }
        return matched === 0 && isSpace(char);
    }
  }

  return Object.freeze<ObjectScan>({
    push(text, from) {
      for (let at = from; at < text.length; at++) {
        if (!step(text.charAt(at))) return DEAD;
        if (matched === TAGS.hermesEnd.length) return { kind: "done", end: at + 1 };
      }
      return OPEN;
    },
    whole: () => phase === "after" && matched === 0,
  });
}

function isSpace(char: string): boolean {
  return char === " " || char === "\n" || char === "\r" || char === "\t";
}
