/**
 * Citations of a version that is no longer current. Where the same words stand in the newer version, the citation can
 * be moved; where they are gone, a person or the next ingest has to look.
 * @module
 */
import { cleared } from "../../../contracts/mod.ts";
import { mayMoveTo } from "../fix_citations.ts";
import { shellWord } from "../shell_word.ts";
import type { CitedSource, MakeCheck } from "../rule.ts";

function again({ source }: CitedSource): string {
  const { origin } = source.provenance;
  return origin === "-" ? "-" : shellWord(origin);
}

/** Rule `changedSource`. */
export const checkChangedSource: MakeCheck = (view) => ({
  source(cited) {
    const { source, current, uses } = cited;
    if (current?.id === source.id) return;
    for (const use of uses) {
      const file = `pages/${use.page}.md`;
      const at = { file, line: use.line };
      if (current === undefined) {
        view.tell({
          ...at,
          message:
            `Footnote "${use.note}" cites "${source.text}", whose origin was removed: ${source.provenance.origin}.`,
          remedy:
            `Cite another source in \`remit wiki edit ${use.page}\`, or bring this one back with \`remit wiki ingest ${
              again(cited)
            }\`.`,
          fixable: false,
        });
        continue;
      }
      // A newer version may be above the reader of the older one: nothing of it is told.
      if (!cleared(current.label, view.clearance)) continue;
      const moved = cited.moved(use);
      const fixable = moved !== undefined && mayMoveTo(current, use);
      const lines = moved === undefined
        ? ""
        : moved.startLine === moved.endLine
        ? `line ${moved.startLine}`
        : `lines ${moved.startLine}-${moved.endLine}`;
      view.tell({
        ...at,
        message: moved === undefined
          ? `Footnote "${use.note}" cites words that "${current.text}", the newer version, no longer has.`
          : `Footnote "${use.note}" cites version ${source.version}; the same words stand on ${lines} of version ${current.version}.`,
        remedy: moved === undefined
          ? `Compare with \`remit wiki show ${
            shellWord(current.text)
          }\` and mend the claim in \`remit wiki edit ${use.page}\`.`
          : fixable
          ? "Move the citation with `remit wiki lint --fix`."
          : `The newer version is ${current.colour} and ${current.label}, which the page would become: decide in \`remit wiki edit ${use.page}\`.`,
        fixable,
        other: { file: current.text, ...(moved === undefined ? {} : { line: moved.startLine }) },
      });
    }
  },
});
