/** Raw bytes that are no longer what was ingested: somebody wrote into `raw/`, or the disk lost them. @module */
import { shellWord } from "../shell_word.ts";
import type { MakeCheck } from "../rule.ts";

const AT_ONCE = 1_000;

/** Rule `alteredSource`: every source that the clearance covers, current or not. */
export const checkAlteredSource: MakeCheck = (view) => ({
  async end() {
    const { store, clearance } = view;
    let afterId = 0;
    while (true) {
      const sources = store.sources.list({ clearance, afterId, limit: AT_ONCE });
      for (const source of sources) {
        afterId = source.id;
        if (await store.sources.intact(source)) continue;
        const citing = store.pages.citing(source.digest).length;
        view.tell({
          file: source.raw,
          message: `These bytes are not what was ingested; ${citing} pages cite them.`,
          remedy: source.provenance.origin === "-"
            ? `Bring the file back from a backup: its digest is ${source.digest}.`
            : `Bring the file back from a backup, or take the source in again with \`remit wiki ingest ${
              shellWord(source.provenance.origin)
            }\`.`,
          fixable: false,
        });
      }
      if (sources.length < AT_ONCE) return;
    }
  },
});
