/** Footnotes that lead nowhere: no definition, no such source, no such lines, or a file that is another's. @module */
import { cleared } from "../../../contracts/mod.ts";
import type { LintedPage, LintView, MakeCheck } from "../rule.ts";

type Shown = LintedPage["read"]["citations"][number];

/** Says what is wrong with a citation; undefined when its lines are there. */
function wrongWith(view: LintView, citation: Shown): string | undefined {
  const { digestPrefix, startLine, endLine } = citation;
  const source = view.sourceOf(digestPrefix);
  if (source === undefined) return `no source has the digest ${digestPrefix}`;
  // What a redacted page cites may be above its reader: how many lines that has is not told.
  if (!cleared(source.label, view.clearance)) return undefined;
  if (!namesOne(citation.file, [source.raw, source.text])) {
    return `${digestPrefix} is the digest of "${source.text}", not of "${citation.file}"`;
  }
  if (startLine < 1 || endLine < startLine) return "its lines are in no order";
  if (endLine > source.lines) {
    return `"${source.text}" has ${source.lines} lines, and line ${endLine} is cited`;
  }
  return undefined;
}

function namesOne(shown: string, files: readonly string[]): boolean {
  const bare = shown.replace(/#.*$/u, "").replace(/^(?:\.\.?\/)+/u, "");
  return files.some((file) => bare === file || `raw/${bare}` === file);
}

/** Rule `brokenCitation`. */
export const checkBrokenCitation: MakeCheck = (view) => ({
  page({ file, read, page }) {
    const remedy =
      `Find the passage with \`remit wiki query\` and write its footnote in \`remit wiki edit ${page.name}\`.`;
    for (const { note, line, why } of read.brokenNotes) {
      view.tell({
        file,
        line,
        message: `Footnote "${note}" cites nothing: ${why.replace(/\.$/, "")}.`,
        remedy,
        fixable: false,
      });
    }
    for (const citation of read.citations) {
      const why = wrongWith(view, citation);
      if (why === undefined) continue;
      const { line, note } = citation;
      view.tell({
        file,
        line,
        message: `Footnote "${note}" cites nothing: ${why}.`,
        remedy,
        fixable: false,
      });
    }
  },
});
