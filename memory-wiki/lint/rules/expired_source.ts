/** Cited sources whose time is over: they are no longer found, and what cites them rests on them alone. @module */
import { shellWord } from "../shell_word.ts";
import type { MakeCheck } from "../rule.ts";

/** Rule `expiredSource`: one finding a page and source. */
export const checkExpiredSource: MakeCheck = (view) => ({
  source({ source, uses }) {
    const { expiresAt } = source;
    if (expiresAt === undefined || expiresAt > view.now) return;
    const told = new Set<string>();
    for (const { page, line, note } of uses) {
      if (told.has(page)) continue;
      told.add(page);
      const day = new Date(expiresAt).toISOString().slice(0, 10);
      view.tell({
        file: `pages/${page}.md`,
        line,
        message: `Footnote "${note}" cites "${source.text}", which expired on ${day}.`,
        remedy: source.provenance.origin === "-"
          ? `Cite another source in \`remit wiki edit ${page}\`.`
          : `Take it in again with \`remit wiki ingest ${
            shellWord(source.provenance.origin)
          }\`, or cite another source in \`remit wiki edit ${page}\`.`,
        fixable: false,
        other: { file: source.text },
      });
    }
  },
});
