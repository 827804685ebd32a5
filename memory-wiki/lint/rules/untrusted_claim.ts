/** Claims that rest on nothing but RED sources. @module */
import type { Colour } from "../../../contracts/mod.ts";
import type { MakeCheck } from "../rule.ts";

/** Rule `untrustedClaim`: one finding a line. A claim without any source is `missingCitation`'s. */
export const checkUntrustedClaim: MakeCheck = (view) => ({
  page({ page, file, read }) {
    const colours = new Map<string, Colour>();
    for (const { note, digestPrefix } of read.citations) {
      const colour = view.sourceOf(digestPrefix)?.colour;
      if (colour !== undefined) colours.set(note, colour);
    }
    const told = new Set<number>();
    for (const { line, notes } of read.claims) {
      const behind = notes.map((note) => colours.get(note)).filter((colour) =>
        colour !== undefined
      );
      if (behind.length === 0 || behind.some((colour) => colour !== "RED") || told.has(line)) {
        continue;
      }
      told.add(line);
      view.tell({
        file,
        line,
        message: behind.length === 1
          ? "The only source of this claim is RED: anybody may have written it."
          : "All sources of this claim are RED: anybody may have written them.",
        remedy:
          `Add a source that you trust in \`remit wiki edit ${page.name}\`, or check the page and sign it with \`remit wiki sanitize ${page.name}\`.`,
        fixable: false,
      });
    }
  },
});
