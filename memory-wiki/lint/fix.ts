/**
 * Patches for findings that rules can fix: stale front matter, links with one similar name, citations whose
 * words moved, aliases that two pages claim. Patches are proposed, never applied. What needs judgement (a
 * missing citation, a contradiction, missing words) is never fixed here. Used by
 * memory-wiki/ops/lint_ops.ts.
 * @module
 */
import { cleared } from "../../contracts/authority/mod.ts";
import {
  type Finding,
  type LintRule,
  type Page,
  type PageChange,
  PageName,
} from "../../contracts/memory/mod.ts";
import { readPage } from "../markdown/mod.ts";
import { mixTrust, type Trust } from "../store/trust_rules.ts";
import type { StoredPage } from "../store/wiki_store.ts";
import { moveCitations } from "./cited_sources.ts";
import { bareTitle } from "./link_names.ts";
import type { LintedStore } from "./rule.ts";

/** Changes for one patch, to pages of equal trust. Its trust combines the pages and the sources that were read. */
export interface Fix extends Trust {
  readonly reason: string;
  readonly changes: readonly PageChange[];
}

/** The part of a fix for one page. */
interface PageFix extends Trust {
  readonly change: PageChange;
  readonly did: Readonly<Record<Did, number>>;
}
type Did = "fronts" | "links" | "citations" | "aliases";

const MAX_CHANGES = 200;
/** Rules whose only remedy is new front matter. */
const REWRITTEN: ReadonlySet<LintRule> = new Set<LintRule>([
  "labelDrift",
  "colourDrift",
  "frontMatter",
]);

/**
 * Fixes for the fixable `findings`. A patch combines the trust of all its pages, so only pages of equal trust
 * share one. Each finding is verified again and serves only as a place, so an old or forged one changes
 * nothing; changes that an open patch contains are left out.
 */
export function fixFindings(store: LintedStore, findings: readonly Finding[]): readonly Fix[] {
  const byPage = new Map<PageName, Finding[]>();
  for (const finding of findings) {
    const name = finding.fixable ? pageOf(finding.file) : undefined;
    if (name !== undefined) byPage.getOrInsert(name, []).push(finding);
  }
  const open = openChanges(store);
  const byTrust = new Map<string, PageFix[]>();
  for (const [name, ofPage] of [...byPage].sort(([a], [b]) => a < b ? -1 : 1)) {
    const page = store.pages.get(name);
    const fix = page === undefined ? undefined : fixOf(store, page, ofPage);
    if (fix === undefined || open.has(JSON.stringify(fix.change))) continue;
    byTrust.getOrInsert(`${fix.colour} ${fix.label}`, []).push(fix);
  }
  return [...byTrust.values()].flatMap((fixes) => {
    const parts: Fix[] = [];
    for (let at = 0; at < fixes.length; at += MAX_CHANGES) {
      parts.push(joined(fixes.slice(at, at + MAX_CHANGES)));
    }
    return parts;
  });
}

function pageOf(file: string | undefined): PageName | undefined {
  const name = PageName.safeParse(/^pages\/(.+)\.md$/.exec(file ?? "")?.[1]);
  return name.success ? name.data : undefined;
}

function openChanges(store: LintedStore): ReadonlySet<string> {
  return new Set(
    store.patches.list("proposed").flatMap(({ changes }) =>
      changes.map((change) => JSON.stringify(ordered(change)))
    ),
  );
}

/** The change with its members in a fixed order. */
function ordered(change: PageChange): PageChange {
  if (change.kind === "delete") return change;
  const { kind, base, fresh, draft: { name, kind: of, title, aliases, confidence, body } } = change;
  return { kind, base, draft: { name, kind: of, title, aliases, confidence, body }, fresh };
}

function joined(fixes: readonly PageFix[]): Fix {
  const [first] = fixes;
  const sum = (what: Did): number => fixes.reduce((all, { did }) => all + did[what], 0);
  const said = [
    counted(sum("fronts"), "front matter", "front matters", "written anew"),
    counted(sum("links"), "link", "links", "corrected"),
    counted(sum("citations"), "citation", "citations", "moved to the newest version"),
    counted(sum("aliases"), "alias", "aliases", "left to another page"),
  ].filter((part) => part !== "");
  return {
    reason: `Lint of ${fixes.length === 1 ? "a page" : `${fixes.length} pages`}: ${
      said.join(", ")
    }.`,
    changes: fixes.map(({ change }) => change),
    colour: first?.colour ?? "RED",
    label: first?.label ?? "secret",
  };
}

function counted(many: number, one: string, more: string, done: string): string {
  return many === 0 ? "" : `${many} ${many === 1 ? one : more} ${done}`;
}

function fixOf(
  store: LintedStore,
  page: StoredPage,
  findings: readonly Finding[],
): PageFix | undefined {
  const read = readPage(store.pages.text(page.name) ?? "");
  const has = (rule: LintRule): readonly Finding[] => findings.filter((one) => one.rule === rule);
  const linked = correctLinks(store, page, read, has("brokenLink"));
  const moved = moveCitations(store, page, { ...read, body: linked.body }, has("changedSource"));
  const aliases = ownAliases(store, page, has("duplicatePage"));
  const did = {
    fronts: findings.some(({ rule }) => REWRITTEN.has(rule)) ? 1 : 0,
    links: linked.count,
    citations: moved.sources.length,
    aliases: page.aliases.length - aliases.length,
  };
  if (Object.values(did).every((many) => many === 0)) return undefined;

  const { name, kind, title, confidence, version } = page;
  return {
    did,
    ...mixTrust(page, ...moved.sources),
    change: {
      kind: "write",
      base: version,
      draft: { name, kind, title, aliases: [...aliases], confidence, body: moved.body },
      fresh: false,
    },
  };
}

/** The page's aliases without those of the other page of a duplicate finding. */
function ownAliases(
  store: LintedStore,
  page: StoredPage,
  findings: readonly Finding[],
): readonly string[] {
  const taken = new Set<string>();
  for (const { other } of findings) {
    const name = pageOf(other?.file);
    const twin = name === undefined || name === page.name ? undefined : store.pages.get(name);
    for (const title of twin === undefined ? [] : [twin.title, ...twin.aliases]) {
      taken.add(bareTitle(title));
    }
  }
  return page.aliases.filter((alias) => !taken.has(bareTitle(alias)));
}

// Corrects broken links with one similar name.

const LINK = /\[\[([^[\]\n|#]{1,400})/gu;

/**
 * Replaces the link target on a finding's line by the similar name. A page never comes to name a more
 * confidential one.
 */
function correctLinks(
  store: LintedStore,
  page: Page,
  { body, bodyLine }: { readonly body: string; readonly bodyLine: number },
  findings: readonly Finding[],
): { readonly body: string; readonly count: number } {
  const lines = body.split("\n");
  let count = 0;
  for (const { line, message, other } of findings) {
    const name = pageOf(other?.file);
    const near = name === undefined ? undefined : store.pages.get(name);
    const at = (line ?? 0) - bodyLine;
    const text = lines[at];
    if (near === undefined || text === undefined || !cleared(near.label, page.label)) continue;
    lines[at] = text.replace(LINK, (whole, target: string) => {
      const wanted = message.startsWith(`No page is called ${JSON.stringify(target.trim())};`);
      if (!wanted || store.pages.find(target.trim()) !== undefined) return whole;
      count += 1;
      return `[[${near.name}`;
    });
  }
  return { body: lines.join("\n"), count };
}
