/** Runs the lint: each page, then each cited source, then the rules that need all of them. @module */
import { cleared, type Label } from "../../contracts/authority/mod.ts";
import {
  type Finding,
  LINT_RULES,
  type LintRule,
  type WikiSource,
} from "../../contracts/memory/mod.ts";
import { makeCitedSource } from "./cited_sources.ts";
import { isComparable } from "./facts/mod.ts";
import { makeLinkNames } from "./link_names.ts";
import {
  type CitationUse,
  ERROR_RULES,
  type LintedPage,
  lintedPages,
  type LintedStore,
  type LintView,
} from "./rule.ts";
import { eachPage } from "../store/each_row.ts";
import { CHECKS } from "./rules/mod.ts";

/** Options of a lint run. */
export interface LintOptions {
  /** Pages and sources above it are neither read nor reported. */
  readonly clearance: Label;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** All of LINT_RULES by default. */
  readonly rules?: readonly LintRule[];
  /** Files that `PageTable.sync` could not import; reported by rule `frontMatter`. */
  readonly problems?: readonly { readonly file: string; readonly why: string }[];
}

/**
 * Finds problems in a wiki, sorted by file, line and rule. Reads each page and each cited text once; time
 * grows with pages, claims and bytes, never with pairs of pages. Changes nothing.
 *
 * @throws Fault `storeCorrupt` when the store cannot be read
 */
export async function lintWiki(
  store: LintedStore,
  options: LintOptions,
): Promise<readonly Finding[]> {
  const { clearance, now, rules = LINT_RULES, problems = [] } = options;
  const wanted = new Set(rules);
  const findings: Finding[] = [];
  const sources = new Map<string, WikiSource | undefined>();
  const names = makeLinkNames();
  for (const page of eachPage(store, clearance)) names.add(page);

  const common: Omit<LintView, "tell"> = {
    store,
    clearance,
    now,
    names,
    sourceOf(prefix) {
      if (!sources.has(prefix)) sources.set(prefix, store.sources.byDigest(prefix));
      return sources.get(prefix);
    },
  };
  const checks = LINT_RULES.filter((rule) => wanted.has(rule)).map((rule) => {
    const severity = ERROR_RULES.has(rule) ? "error" as const : "warning" as const;
    return CHECKS[rule]({
      ...common,
      tell: ({ fixable = false, ...finding }) =>
        findings.push({ rule, severity, fixable, ...finding }),
    });
  });

  const cited = new Map<string, CitationUse[]>();
  for (const page of lintedPages(store, clearance)) {
    for (const check of checks) check.page?.(page);
    collectCitations(page, common, cited);
  }
  for (const [digest, uses] of [...cited].sort(([a], [b]) => a < b ? -1 : 1)) {
    const source = common.sourceOf(digest);
    if (source === undefined) continue;
    const one = makeCitedSource(store, source, uses);
    for (const check of checks) check.source?.(one);
  }
  for (const check of checks) await check.end?.();
  if (wanted.has("frontMatter")) findings.push(...unread(store, clearance, problems));
  return findings.sort(inOrder);
}

/** Collects a page's citations by source, with the claims that use them. */
function collectCitations(
  { page, read, text: file }: LintedPage,
  view: Omit<LintView, "tell">,
  cited: Map<string, CitationUse[]>,
): void {
  const lines = file.split("\n");
  const claims = new Map<string, { line: number; text: string; quoted: boolean }[]>();
  for (const { line, text, notes } of read.claims) {
    const quoted = /^\s*>/u.test(lines[line - 1] ?? "");
    for (const note of notes) claims.getOrInsert(note, []).push({ line, text, quoted });
  }
  for (const { note, digestPrefix, startLine, endLine, line } of read.citations) {
    const source = view.sourceOf(digestPrefix);
    // A page shown in part may cite sources above the reader's clearance, which are not reported.
    if (source === undefined || !cleared(source.label, view.clearance)) continue;
    const all = claims.get(note) ?? [];
    cited.getOrInsert(digestPrefix, []).push({
      ...{ page: page.name, colour: page.colour, label: page.label },
      ...{ line, note, startLine, endLine, all },
      claims: all.filter(({ text }) => isComparable(text)),
    });
  }
}

function unread(
  store: LintedStore,
  clearance: Label,
  problems: NonNullable<LintOptions["problems"]>,
): Finding[] {
  return problems.filter(({ file }) => {
    const page = store.pages.find(file.replace(/^pages\//, "").replace(/\.md$/, ""));
    return page === undefined || cleared(page.label, clearance);
  }).map(({ file, why }) => ({
    rule: "frontMatter",
    severity: "error",
    file,
    line: 1,
    message: `This file was not taken in: ${why}.`,
    remedy: "Mend the file in an editor, or remove it, then run `remit wiki lint` again.",
    fixable: false,
  }));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function inOrder(a: Finding, b: Finding): number {
  return compare(a.file, b.file) || (a.line ?? 0) - (b.line ?? 0) || compare(a.rule, b.rule) ||
    compare(a.message, b.message) || compare(a.other?.file ?? "", b.other?.file ?? "") ||
    (a.other?.line ?? 0) - (b.other?.line ?? 0);
}
