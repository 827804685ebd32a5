/** First of two passes over the pages: what is exported, and under which paths. @module */
import { cleared, type Label } from "../../contracts/authority/mod.ts";
import type { Page, PageName, WikiSource } from "../../contracts/memory/mod.ts";
import { makeLinkNames } from "../lint/link_names.ts";
import { lintedPages, type LintedStore } from "../lint/rule.ts";
import { eachPage, eachSource } from "../store/each_row.ts";
import type { SourceTable } from "../store/wiki_store.ts";
import { mixTrust, type Trust } from "../store/trust_rules.ts";

/** An exported source file with its citations, and the combined trust of all versions that share it. */
export interface SiteSource extends Trust {
  readonly source: WikiSource;
  readonly path: string;
  readonly uses: {
    readonly page: PageName;
    readonly startLine: number;
    readonly endLine: number;
  }[];
}

/** All link targets. Anything else does not exist for the site. */
export interface SiteMap {
  readonly pages: ReadonlyMap<PageName, { readonly page: Page; readonly path: string }>;
  /** By path of the text, `raw/NAME`. */
  readonly sources: ReadonlyMap<string, SiteSource>;
  /** Linking pages by linked page, ascending. */
  readonly backlinks: ReadonlyMap<PageName, readonly PageName[]>;
  find(target: string): PageName | undefined;
  /** The exported source with these raw bytes. `prefix`: 16 hex characters of the digest. */
  sourceOf(prefix: string): SiteSource | undefined;
}

/** Whether a source is within the clearance and not expired. */
function mayShow(source: WikiSource, clearance: Label, now: number): boolean {
  return cleared(source.label, clearance) &&
    (source.expiresAt === undefined || source.expiresAt > now);
}

/** Reads all pages once. Keeps names, links and citations in memory, not texts. */
export function makeSiteMap(
  store: ExportedStore,
  { clearance, now }: { readonly clearance: Label; readonly now: number },
): SiteMap {
  const names = makeLinkNames();
  const pages = new Map<PageName, { page: Page; path: string }>();
  const sources = new Map<string, SiteSource>();
  const byPrefix = new Map<string, SiteSource | undefined>();
  const paths = makePaths();
  for (const page of eachPage(store, clearance)) {
    names.add(page);
    pages.set(page.name, { page, path: paths.of("pages", page.name) });
  }

  const take = (source: WikiSource): SiteSource => {
    const known = sources.get(source.text);
    const taken = known === undefined
      ? { source, ...mixTrust(source), path: paths.of("sources", baseName(source.text)), uses: [] }
      : { ...known, ...mixTrust(known, source) };
    sources.set(source.text, taken);
    return taken;
  };
  for (const source of eachSource(store, { clearance, state: "current" })) {
    if (mayShow(source, clearance, now)) take(source);
  }

  const sourceOf = (prefix: string): SiteSource | undefined => {
    if (!byPrefix.has(prefix)) {
      const source = store.sources.byDigest(prefix);
      const shown = source !== undefined && mayShow(source, clearance, now);
      byPrefix.set(prefix, shown ? sources.get(source.text) ?? take(source) : undefined);
    }
    return byPrefix.get(prefix);
  };

  const backlinks = new Map<PageName, PageName[]>();
  for (const { page: { name }, read } of lintedPages(store, clearance)) {
    const targets = new Set(read.links.map(({ target }) => names.find(target)));
    for (const target of targets) {
      if (target === undefined || target === name) continue;
      backlinks.set(target, [...(backlinks.get(target) ?? []), name]);
    }
    for (const { digestPrefix, startLine, endLine } of read.citations) {
      const cited = sourceOf(digestPrefix);
      if (cited === undefined || endLine > cited.source.lines) continue;
      cited.uses.push({ page: name, startLine, endLine });
    }
  }
  return { pages, sources, backlinks, find: names.find, sourceOf };
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Allocates paths that are distinct even on case-insensitive file systems. */
function makePaths(): { of(folder: string, name: string): string } {
  const taken = new Set<string>();
  return {
    of(folder, name) {
      const safe = name.normalize("NFC").replaceAll(/[^\p{L}\p{N}\p{M}._-]/gu, "-").replace(
        /^\.+/,
        "-",
      );
      for (let n = 1;; n += 1) {
        const path = `${folder}/${safe}${n === 1 ? "" : `-${n}`}.html`;
        const key = path.toLowerCase();
        if (taken.has(key)) continue;
        taken.add(key);
        return path;
      }
    },
  };
}

/** The parts of a WikiStore that an export uses: reading, and recording of exported digests. */
export interface ExportedStore {
  readonly sources:
    & Pick<LintedStore["sources"], "byDigest" | "list" | "lines">
    & Pick<SourceTable, "recordExport">;
  readonly pages: Pick<LintedStore["pages"], "list" | "get" | "text" | "find">;
}
