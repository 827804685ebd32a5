/** Lines of an outline as they are written, within bounds, and the refs that they name. @module */
import type { Unseen } from "../../text/page_text.ts";
import type { Bases } from "./control.ts";
import type { Forms } from "./form.ts";
import type { Target } from "./page.ts";
import type { StyleSheet } from "./style_sheet.ts";
import type { Node } from "./tree.ts";

/** What is known of a page before it is drawn. */
export interface Drawn {
  readonly bases: Bases;
  readonly forms: Forms;
  readonly sheet: StyleSheet;
}

/** Where a page is drawn. */
export interface Canvas extends Drawn {
  /** Adds one line. */
  readonly line: (depth: number, text: string) => void;
  /** The first line after this one begins with `mark`: an item of a list. */
  readonly mark: (mark: string) => void;
  /** A new ref for `target`; undefined when there are too many. */
  readonly ref: (target: Target) => string | undefined;
  readonly targets: ReadonlyMap<string, Target>;
  readonly lines: readonly string[];
  readonly unseen: Unseen;
  /** What people would not see. */
  readonly hidden: Set<Node>;
  /** Set when there was no room for more. */
  readonly isFull: () => boolean;
}

/** Characters of all lines together, and refs, at most. */
const OUTLINE_CHARACTERS = 400_000;
const REFS = 3_000;
const LINE = 8_000;
const INDENTS = 10;

export function makeCanvas(drawn: Drawn): Canvas {
  const lines: string[] = [];
  const targets = new Map<string, Target>();
  let left = OUTLINE_CHARACTERS;
  let waiting = "";
  return Object.freeze({
    ...drawn,
    lines,
    targets,
    unseen: { characters: 0 },
    hidden: new Set<Node>(),
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
    isFull: () => left <= 0,
  });
}
