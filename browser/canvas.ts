/** Lines of an outline, within limits, and the refs that they name. @module */
import type { FieldKind } from "../text/page_form.ts";
import { makePageCanvas, type PageCanvas } from "../text/page_outline.ts";

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

/** Where an outline is drawn. */
export interface Canvas extends PageCanvas<Target> {
  /** Counts a piece that people would not see. */
  readonly hide: () => void;
  readonly hidden: () => number;
}

const LINE = 6_000;

export function makeCanvas(): Canvas {
  let hidden = 0;
  return Object.freeze({
    ...makePageCanvas<Target>(LINE),
    hide: () => void (hidden += 1),
    hidden: () => hidden,
  });
}
