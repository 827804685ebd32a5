/** Lines of an outline as they are written, within bounds, and the refs that they name. @module */
import type { Unseen } from "../text/page_text.ts";

/** What a ref names: an element of the page, and what acting on it does. */
export type Target =
  /** Leads to `url`. */
  | { readonly kind: "link"; readonly id: number; readonly url: string }
  /** Runs a script of the page. */
  | { readonly kind: "button"; readonly id: number }
  /** Sends its form. */
  | { readonly kind: "submit"; readonly id: number; readonly form: number }
  | { readonly kind: "form"; readonly id: number }
  | { readonly kind: "field"; readonly id: number; readonly field: FieldKind };

/** What a field takes. */
export type FieldKind = "text" | "textarea" | "checkbox" | "radio" | "select" | "password" | "file";

/** Where a page is drawn. */
export interface Canvas {
  /** Adds one line. */
  readonly line: (depth: number, text: string) => void;
  /** The first line after this one begins with `mark`: an item of a list. */
  readonly mark: (mark: string) => void;
  /** A new ref for `target`; undefined when there are too many. */
  readonly ref: (target: Target) => string | undefined;
  readonly targets: ReadonlyMap<string, Target>;
  readonly lines: readonly string[];
  readonly unseen: Unseen;
  /** Counts a piece that people would not see. */
  readonly hide: () => void;
  readonly hidden: () => number;
  /** Set when there was no room for more. */
  readonly isFull: () => boolean;
}

/** Characters of all lines together, and refs, at most. */
const CHARACTERS = 400_000;
const REFS = 3_000;
const LINE = 6_000;
const INDENTS = 10;

export function makeCanvas(): Canvas {
  const lines: string[] = [];
  const targets = new Map<string, Target>();
  let left = CHARACTERS;
  let hidden = 0;
  let waiting = "";
  return Object.freeze({
    lines,
    targets,
    unseen: { characters: 0 },
    line(depth: number, text: string): void {
      if (left <= 0) return;
      const whole = text.length > LINE ? `${text.slice(0, LINE).toWellFormed()}…` : text;
      const line = "  ".repeat(Math.min(depth, INDENTS)) + waiting + whole;
      waiting = "";
      left -= line.length + 1;
      lines.push(line);
    },
    mark(mark: string): void {
      waiting = mark;
    },
    ref(target: Target): string | undefined {
      if (targets.size >= REFS || left <= 0) return undefined;
      const ref = `e${targets.size + 1}`;
      targets.set(ref, target);
      return ref;
    },
    hide: () => void (hidden += 1),
    hidden: () => hidden,
    isFull: () => left <= 0,
  });
}
