/** Pages whose sources nobody looked at for long, or whose cited words are gone from the newest version. @module */
import { cleared } from "../../../contracts/mod.ts";
import { shellWord } from "../shell_word.ts";
import type { MakeCheck } from "../rule.ts";

const DAY_MS = 86_400_000;

/** Rule `stalePage`: one finding a page. */
export const checkStalePage: MakeCheck = (view) => {
  const changed = new Map<string, { readonly sources: Set<string>; origin: string }>();
  return {
    page({ page, file }) {
      const age = view.now - page.freshAt;
      if (age <= view.staleAfterMs) return;
      view.tell({
        file,
        line: 1,
        message: `Nobody has compared this page with its sources for ${
          Math.floor(age / DAY_MS)
        } days.`,
        remedy:
          `Read it with \`remit wiki show ${page.name}\`, ingest its sources again, then \`remit wiki review ${page.name}\`.`,
        fixable: false,
      });
    },
    source(cited) {
      const { source, current, uses } = cited;
      if (current?.id === source.id) return;
      // A newer version may be above the reader of the older one: nothing of it is told.
      if (current !== undefined && !cleared(current.label, view.clearance)) return;
      for (const use of uses) {
        if (current !== undefined && cited.moved(use) !== undefined) continue;
        const known = changed.get(use.page);
        if (known === undefined) {
          changed.set(use.page, {
            sources: new Set([source.key]),
            origin: source.provenance.origin,
          });
        } else known.sources.add(source.key);
      }
    },
    end() {
      for (const [page, { sources, origin }] of changed) {
        view.tell({
          file: `pages/${page}.md`,
          line: 1,
          message: sources.size === 1
            ? `What this page says of ${JSON.stringify(origin)} was written before that changed.`
            : `What this page says of ${sources.size} sources was written before they changed.`,
          remedy: sources.size === 1 && origin !== "-"
            ? `Write it anew with \`remit wiki ingest ${
              shellWord(origin)
            }\`, or mend it in \`remit wiki edit ${page}\`.`
            : `Mend it in \`remit wiki edit ${page}\`.`,
          fixable: false,
        });
      }
    },
  };
};
