/** Visibility by clearance (`notFound` above it, as if it did not exist), and diffs of page texts. @module */
import { createTwoFilesPatch } from "diff";
import { cleared, type Label, mixLabel } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { PagePatch, WikiSource } from "../../contracts/memory/mod.ts";
import { PageName } from "../../contracts/memory/wiki_page.ts";
import { readPage } from "../markdown/mod.ts";
import type { PageVersion, StoredPage, WikiStore } from "../store/wiki_store.ts";

/** The fault for a missing name, and for one above the clearance. */
export function notThere(name: string): Fault {
  return new Fault("notFound", `Cannot find ${JSON.stringify(name.slice(0, 200))} in the wiki`);
}

/**
 * The page with that name, `pages/NAME.md`, title or alias.
 * @throws Fault `notFound`, also above the clearance
 */
export function visiblePage(store: WikiStore, name: string, clearance: Label): StoredPage {
  const page = tryPage(store, name, clearance);
  if (page === undefined) throw notThere(name);
  return page;
}

/** Like {@link visiblePage}; undefined instead of a fault. */
function tryPage(store: WikiStore, name: string, clearance: Label): StoredPage | undefined {
  const bare = name.replace(/^(?:\.\/)?pages\//, "").replace(/\.md$/, "");
  const exact = PageName.safeParse(bare);
  const page = (exact.success ? store.pages.get(exact.data) : undefined) ?? store.pages.find(bare);
  if (page === undefined || cleared(page.label, clearance)) return page;
  // A hidden page does not shadow a visible one of the same title.
  const wanted = bare.toLowerCase();
  const seen = store.pages.list({ clearance }).find(({ title, aliases }) =>
    title.toLowerCase() === wanted || aliases.some((alias) => alias.toLowerCase() === wanted)
  );
  return seen === undefined ? undefined : store.pages.get(seen.name);
}

/** The source with raw or text file `file`. @throws Fault `notFound`, also above the clearance */
export function visibleSource(store: WikiStore, file: string, clearance: Label): WikiSource {
  const source = store.sources.byFile(file.replace(/^\.\.\//, ""));
  if (source === undefined || !cleared(source.label, clearance)) throw notThere(file);
  return source;
}

/** Whether `name` has the form of a source's file name. */
export function namesSource(name: string): boolean {
  return /^(?:\.\.\/)?raw\//.test(name);
}

/** The versions of a page within the clearance. The newest has the label of the page. */
export function visibleHistory(
  store: WikiStore,
  page: StoredPage,
  clearance: Label,
): readonly PageVersion[] {
  return store.pages.history(page.name).filter(({ version, label }) =>
    cleared(version === page.version ? page.label : label, clearance)
  );
}

/** The highest label among a patch, its citations and its pages. */
export function labelOfPatch(store: WikiStore, patch: PagePatch): Label {
  let label = patch.label;
  for (const change of patch.changes) {
    const name = change.kind === "write" ? change.draft.name : change.name;
    const page = store.pages.get(name);
    if (page !== undefined) label = mixLabel(label, page.label);
    if (change.kind !== "write") continue;
    for (const { digestPrefix } of readPage(change.draft.body).citations) {
      label = mixLabel(label, store.sources.byDigest(digestPrefix)?.label ?? "public");
    }
  }
  return label;
}

// Unified diffs of page texts.

/** With more changed lines, the old text is shown as removed and the new one as added. */
const MAX_EDITS = 2_000;

/** A unified diff of `file`; empty for equal texts. An absent text is a missing file. */
export function unifiedDiff(
  file: string,
  before: string | undefined,
  after: string | undefined,
): string {
  if (before === after) return "";
  const from = before === undefined ? "/dev/null" : `a/${file}`;
  const to = after === undefined ? "/dev/null" : `b/${file}`;
  const options = { context: 3, maxEditLength: MAX_EDITS };
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
