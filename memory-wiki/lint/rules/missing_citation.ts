/**
 * Claims without a citation. A person's own voice needs none: a line that is quoted (`>`) or that asks. Lines that only
 * lead on (links, a colon before a list) claim nothing.
 * @module
 */
import type { MakeCheck } from "../rule.ts";

const QUOTED = /^\s*>/u;
const ASKS = /[?？؟;？]\s*["'”»)]*\s*$/u;
/** A line of links with no sentence around them. */
const ONLY_LINKS =
  /^\s*(?:[-*+]|\d+[.)])?\s*(?:(?:see|see also|siehe|voir)[:\s]+)?(?:\[\[[^\]]*\]\]|\[[^\]]*\]\([^)]*\)|<[^>\s]+>|[\s,;·|–—-])+\.?\s*$/iu;
const LEADS_ON = /[:：]\s*$/u;
/** Fewer words say too little to be cited: a table's cell, a label. */
const FEWEST_WORDS = 3;

function words(text: string): number {
  return text.match(/[\p{L}\p{N}]+|\p{Script=Han}/gu)?.length ?? 0;
}

/** Rule `missingCitation`: one finding a line. */
export const checkMissingCitation: MakeCheck = (view) => ({
  page({ file, text, read }) {
    const lines = text.split("\n");
    const cited = new Set(read.claims.filter(({ notes }) => notes.length > 0).map((c) => c.text));
    const bare = new Map<number, number>();
    for (const claim of read.claims) {
      const line = lines[claim.line - 1] ?? "";
      if (claim.notes.length > 0 || cited.has(claim.text)) continue;
      if (QUOTED.test(line) || ONLY_LINKS.test(claim.text) || ONLY_LINKS.test(line)) continue;
      if (ASKS.test(claim.text) || LEADS_ON.test(claim.text)) continue;
      if (words(claim.text) < FEWEST_WORDS) continue;
      bare.set(claim.line, (bare.get(claim.line) ?? 0) + 1);
    }
    for (const [line, count] of bare) {
      view.tell({
        file,
        line,
        message: count === 1
          ? "This claim has no citation."
          : `${count} claims on this line have no citation.`,
        remedy:
          `Find the passage with \`remit wiki query\` and add its footnote in \`remit wiki edit ${
            file.slice("pages/".length, -".md".length)
          }\`, or begin the line with \`>\` if it is somebody's own words.`,
        fixable: false,
      });
    }
  },
});
