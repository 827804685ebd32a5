/** The interface of lint rules, and the parts of the store they use. @module */
import type { Label } from "../../contracts/authority/mod.ts";
import type { Finding, LintRule, Page, PageName, WikiSource } from "../../contracts/memory/mod.ts";
import { readPage } from "../markdown/mod.ts";
import type { ReadPage } from "../markdown/page_text.ts";
import { eachPage } from "../store/each_row.ts";
import type { PageTable, PatchTable, SourceTable, WikiLog } from "../store/wiki_store.ts";
import type { LinkNames } from "./link_names.ts";
import { type Trust } from "../store/trust_rules.ts";

/** A page to lint: as stored, and as parsed from its file. */
export interface LintedPage {
  readonly page: Page;
  /** `pages/NAME.md`. */
  readonly file: string;
  /** The whole file. */
  readonly text: string;
  readonly read: ReadPage;
}

/** A citation of an existing source, with the page's trust. */
export interface CitationUse extends Trust {
  readonly page: PageName;
  /** Line of the footnote's definition. */
  readonly line: number;
  readonly note: string;
  readonly startLine: number;
  readonly endLine: number;
  /** Claims with this citation that contain a number or a negation. */
  readonly claims: readonly { readonly line: number; readonly text: string }[];
  /** All claims with this citation; `quoted`: on a line that begins with `>`. */
  readonly all: readonly {
    readonly line: number;
    readonly text: string;
    readonly quoted: boolean;
  }[];
}

/** Lines of a text, from 1, inclusive. */
export interface Span {
  readonly startLine: number;
  readonly endLine: number;
}

/** A cited version of a source with all its citations. Texts are read on demand. */
export interface CitedSource {
  readonly source: WikiSource;
  /** The current version under its key: the same object if unchanged; undefined if it was removed. */
  readonly current: WikiSource | undefined;
  readonly uses: readonly CitationUse[];
  /** The cited lines as ingested; undefined if unreadable. */
  quote(span: Span): string | undefined;
  /** The lines of the same words in {@link CitedSource.current}. */
  moved(span: Span): Span | undefined;
  /** The lines of {@link CitedSource.current}; none if unreadable. */
  currentLines(): readonly string[];
}

/** What a rule has access to. */
export interface LintView {
  readonly store: LintedStore;
  readonly clearance: Label;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Names, titles and aliases of the pages within the clearance. */
  readonly names: LinkNames;
  /** The source with these raw bytes, whatever its label. `prefix`: 16 hex characters. */
  sourceOf(prefix: string): WikiSource | undefined;
  /** Reports a finding, not fixable by default; rule and severity are added. */
  tell(finding: Omit<Finding, "rule" | "severity" | "fixable"> & { fixable?: boolean }): void;
}

/** A running rule: called with each page, then with each cited source, then at the end. */
export interface RuleCheck {
  page?(page: LintedPage): void;
  source?(cited: CitedSource): void;
  end?(): void | Promise<void>;
}

/** Starts a rule for one lint run. Its state is in the closure. */
export type MakeCheck = (view: LintView) => RuleCheck;

/** Rules whose findings are errors; those of other rules are warnings. */
export const ERROR_RULES: ReadonlySet<LintRule> = new Set<LintRule>([
  "brokenCitation",
  "misquote",
  "alteredSource",
  "labelDrift",
  "colourDrift",
  "frontMatter",
  "logAltered",
]);

/** The parts of a WikiStore that the lint reads. */
export interface LintedStore {
  readonly sources: Pick<SourceTable, "current" | "byDigest" | "list" | "lines" | "intact">;
  readonly pages: Pick<PageTable, "list" | "get" | "text" | "find" | "citing" | "onDisk">;
  readonly patches: Pick<PatchTable, "list">;
  readonly log: Pick<WikiLog, "verify">;
}

/** The parts of a store that {@link lintedPages} reads. */
export interface ListedPages {
  readonly pages: Pick<LintedStore["pages"], "list" | "text">;
}

/** The pages within a clearance with their files. A missing file reads as empty. */
export function* lintedPages(store: ListedPages, clearance: Label): Generator<LintedPage> {
  for (const page of eachPage(store, clearance)) {
    const text = store.pages.text(page.name) ?? "";
    yield { page, file: `pages/${page.name}.md`, text, read: readPage(text) };
  }
}
