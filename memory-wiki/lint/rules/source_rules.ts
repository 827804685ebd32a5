/**
 * Rules about sources: altered raw bytes, citations of an old version, expired sources, stale pages, and
 * claims with untrusted sources only.
 * @module
 */
import { cleared, type Colour } from "../../../contracts/authority/mod.ts";
import { mayMoveTo } from "../cited_sources.ts";
import { eachSource } from "../../store/each_row.ts";
import type { CitedSource, MakeCheck } from "../rule.ts";

// Raw bytes that differ from those ingested: somebody wrote to `raw/`, or the disk failed.

/** Rule `alteredSource`: every source within the clearance, current or not. */
export const checkAlteredSource: MakeCheck = (view) => ({
  async end() {
    const { store, clearance } = view;
    for (const source of eachSource(store, { clearance })) {
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
      });
    }
  },
});

// Citations of an old version. If the newer version has the same words, the citation can be moved; otherwise
// a person or the next ingest must look.

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
        });
        continue;
      }
      // The newer version may be above the reader's clearance; nothing of it is revealed.
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

// Cited sources that expired: search no longer finds them.

/** Rule `expiredSource`: one finding per page and source. */
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
        other: { file: source.text },
      });
    }
  },
});

// Pages whose sources nobody checked for long, or whose cited words the newest version lacks.

const DAY_MS = 86_400_000;
/** Age at which a page whose sources nobody checked is stale. */
const STALE_MS = 180 * DAY_MS;

/** Rule `stalePage`: one finding per page. */
export const checkStalePage: MakeCheck = (view) => {
  const changed = new Map<string, { readonly sources: Set<string>; origin: string }>();
  return {
    page({ page, file }) {
      const age = view.now - page.freshAt;
      if (age <= STALE_MS) return;
      view.tell({
        file,
        line: 1,
        message: `Nobody has compared this page with its sources for ${
          Math.floor(age / DAY_MS)
        } days.`,
        remedy:
          `Read it with \`remit wiki show ${page.name}\`, ingest its sources again, then \`remit wiki review ${page.name}\`.`,
      });
    },
    source(cited) {
      const { source, current, uses } = cited;
      if (current?.id === source.id) return;
      // The newer version may be above the reader's clearance; nothing of it is revealed.
      if (current !== undefined && !cleared(current.label, view.clearance)) return;
      for (const use of uses) {
        if (current !== undefined && cited.moved(use) !== undefined) continue;
        const { origin } = source.provenance;
        changed.getOrInsertComputed(use.page, () => ({ sources: new Set(), origin })).sources
          .add(source.key);
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
        });
      }
    },
  };
};

// Claims with RED sources only.

/** Rule `untrustedClaim`: one finding per line. Claims without a source are left to `missingCitation`. */
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
      });
    }
  },
});

const PLAIN = /^[\w@%+=:,./-]+$/u;

/** Quotes a word of a suggested command for a shell if necessary. */
function shellWord(word: string): string {
  return PLAIN.test(word) && !word.startsWith("-") ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
