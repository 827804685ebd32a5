/** Lines of an outline, within limits, and the refs that they name. @module */
import { makePageCanvas, type PageCanvas } from "../../text/page_outline.ts";
import type { Bases } from "./control.ts";
import type { Forms } from "./form.ts";
import type { Target } from "./page.ts";
import type { StyleSheet } from "./style_sheet.ts";
import type { Node } from "./tree.ts";

/** Facts about a page, collected before drawing. */
export interface Drawn {
  readonly bases: Bases;
  readonly forms: Forms;
  readonly sheet: StyleSheet;
}

/** Where an outline is drawn. */
export interface Canvas extends Drawn, PageCanvas<Target> {
  /** Nodes that people would not see. */
  readonly hidden: Set<Node>;
}

const LINE = 8_000;

export function makeCanvas(drawn: Drawn): Canvas {
  return Object.freeze({
    ...drawn,
    ...makePageCanvas<Target>(LINE),
    hidden: new Set<Node>(),
  });
}
