/** Rules about the store's records: stale label and colour, hand edits, an altered log. @module */
import { createHash } from "node:crypto";
import { cleared, Colour, colourSuffices, Label } from "../../../contracts/authority/mod.ts";
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
    // A higher label than the store's is harmless: the page was redacted since.
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

/** Lines of front matter to search. */
const MAX_LINES = 200;

/** The line of `key:` in the front matter; 1 if missing. */
function lineOfKey(text: string, key: string): number {
  const lines = text.split("\n", MAX_LINES);
  if (lines[0]?.trim() !== "---") return 1;
  for (const [index, line] of lines.entries()) {
    if (index > 0 && line.trim() === "---") break;
    if (line.startsWith(`${key}:`)) return index + 1;
  }
  return 1;
}

// Files changed outside the store: not imported yet, or imported and not reviewed.

/** Rule `handEdit`. */
export const checkHandEdit: MakeCheck = (view) => ({
  page({ page, file }) {
    const bytes = view.store.pages.onDisk(page.name);
    const there = bytes !== undefined;
    const changed = there && createHash("sha256").update(bytes).digest("hex") !== page.digest;
    if (!there || changed) {
      view.tell({
        file,
        line: 1,
        message: there
          ? "This file was changed past the store, and is not taken in yet."
          : "This file was removed past the store.",
        remedy: there
          ? `See what changed with \`remit wiki diff ${page.name}\`; any next \`remit wiki\` command takes it in.`
          : `Bring it back from \`remit wiki history ${page.name}\`, or let the next \`remit wiki\` command record that it is gone.`,
      });
      return;
    }
    if (page.author !== "hand" || page.reviewed !== undefined) return;
    view.tell({
      file,
      line: 1,
      message:
        `Version ${page.version} was written by hand, past the store, and nobody has reviewed it.`,
      remedy:
        `Look at it with \`remit wiki diff ${page.name}\`, then say so with \`remit wiki review ${page.name}\`.`,
    });
  },
});

// A log that was changed, cut or written outside the store.

/** Rule `logAltered`. */
export const checkLogAltered: MakeCheck = (view) => ({
  end() {
    const problem = view.store.log.verify();
    if (problem === undefined) return;
    view.tell({
      file: "log.md",
      message: `The record does not hold: ${problem.replace(/\.$/, "")}.`,
      remedy:
        "Compare it with `remit wiki log` and with a backup; what it says after that line is not to be relied on.",
    });
  },
});
