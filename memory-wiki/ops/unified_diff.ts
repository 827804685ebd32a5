/** What changed between two texts of a page, as a unified diff. @module */
import { createTwoFilesPatch } from "diff";

/** Past so many changed lines the one text is shown as taken out and the other as put in. */
const MOST_EDITS = 2_000;

/** A unified diff of `file`; empty when the texts are equal. An absent text is a file that is not there. */
export function unifiedDiff(
  file: string,
  before: string | undefined,
  after: string | undefined,
): string {
  if (before === after) return "";
  const from = before === undefined ? "/dev/null" : `a/${file}`;
  const to = after === undefined ? "/dev/null" : `b/${file}`;
  const options = { context: 3, maxEditLength: MOST_EDITS };
  const diff = createTwoFilesPatch(from, to, before ?? "", after ?? "", "", "", options) ??
    replaced(from, to, before ?? "", after ?? "");
  return diff.replace(/^=+\n/, "").replace(/^(---|\+\+\+) ([^\t\n]*)\t?$/gm, "$1 $2");
}

function replaced(from: string, to: string, before: string, after: string): string {
  const lines = (text: string): readonly string[] => text.replace(/\n$/, "").split("\n");
  const [out, into] = [lines(before), lines(after)];
  return [
    `--- ${from}`,
    `+++ ${to}`,
    `@@ -1,${out.length} +1,${into.length} @@`,
    ...out.map((line) => `-${line}`),
    ...into.map((line) => `+${line}`),
    "",
  ].join("\n");
}
