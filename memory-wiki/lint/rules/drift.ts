/**
 * Front matter that shows another label or colour than the store has. It counts for nothing, but a person who reads it
 * is deceived. A page that was marked (sanitized, redacted) may show the worse value that it had: its very bytes
 * were signed, so they stay as they are.
 * @module
 */
import { cleared, Colour, colourSuffices, Label } from "../../../contracts/mod.ts";
import { lineOfKey } from "../front_line.ts";
import type { LintedPage, LintView, MakeCheck } from "../rule.ts";

function tell(
  view: LintView,
  linted: LintedPage,
  drift: { readonly key: "label" | "colour"; readonly shown: string; readonly have: string },
): void {
  const { key, shown, have } = drift;
  view.tell({
    file: linted.file,
    line: lineOfKey(linted.text, key),
    message: `The front matter shows the ${key} ${
      JSON.stringify(shown.slice(0, 64))
    }; the store has ${have}, and only that counts.`,
    remedy: "Have it written anew with `remit wiki lint --fix`.",
    fixable: true,
  });
}

/** Rule `labelDrift`. */
export const checkLabelDrift: MakeCheck = (view) => ({
  page(linted) {
    const { page, read } = linted;
    const shown = read.front.label;
    if (shown === undefined || shown === page.label) return; // none shown deceives nobody
    const parsed = Label.safeParse(shown);
    // More confidential than it is: the picture of a page that was redacted since.
    if (parsed.success && cleared(page.label, parsed.data)) return;
    tell(view, linted, { key: "label", shown, have: page.label });
  },
});

/** Rule `colourDrift`. */
export const checkColourDrift: MakeCheck = (view) => ({
  page(linted) {
    const { page, read } = linted;
    const shown = read.front.colour;
    if (shown === undefined || shown === page.colour) return; // none shown deceives nobody
    const parsed = Colour.safeParse(shown);
    if (parsed.success && colourSuffices(page.colour, parsed.data)) return;
    tell(view, linted, { key: "colour", shown, have: page.colour });
  },
});
