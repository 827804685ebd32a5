/** What a rule of the lint is given and tells, and the store and pages that it may see. @module */
import type { Colour, Label } from "../../contracts/authority/mod.ts";
import type { Finding, LintRule, Page, PageName, WikiSource } from "../../contracts/memory/mod.ts";
import { readPage } from "../markdown/mod.ts";
import type { ReadPage } from "../markdown/page_text.ts";
import type { PageTable, PatchTable, SourceTable, WikiLog } from "../store/wiki_store.ts";
import type { LinkNames } from "./link_names.ts";

/** One page under the lint's eye: as the store has it, and as its file reads. */
export interface LintedPage {
  readonly page: Page;
  /** `pages/NAME.md`. */
  readonly file: string;
  /** The whole file. */
  readonly text: string;
  readonly read: ReadPage;
}

/** A citation that names a source that is there. */
export interface CitationUse {
  readonly page: PageName;
  /** Of the page. */
  readonly colour: Colour;
  readonly label: Label;
  /** Line of the footnote's definition. */
  readonly line: number;
  readonly note: string;
  readonly startLine: number;
  readonly endLine: number;
  /** The claims that refer to it and hold a number or a negation. */
  readonly claims: readonly { readonly line: number; readonly text: string }[];
  /** All claims that refer to it; `quoted`: on a line that begins with `>`. */
  readonly all: readonly {
    readonly line: number;
    readonly text: string;
    readonly quoted: boolean;
  }[];
}

/** Lines of a text, both from 1 and inclusive. */
export interface Span {
  readonly startLine: number;
  readonly endLine: number;
}

/** One cited version of a source, with everything that cites it. Its texts are read when they are asked for. */
export interface CitedSource {
  readonly source: WikiSource;
  /** What stands under its key now; undefined when it was removed. The very source, when nothing changed. */
  readonly current: WikiSource | undefined;
  readonly uses: readonly CitationUse[];
  /** The cited lines, as they were ingested; undefined when they cannot be read. */
  quote(span: Span): string | undefined;
  /** Where the same words stand in {@link CitedSource.current}. */
  moved(span: Span): Span | undefined;
  /** The lines of {@link CitedSource.current}; none when it cannot be read. */
  currentLines(): readonly string[];
}

/** What every rule may look at. */
export interface LintView {
  readonly store: LintedStore;
  readonly clearance: Label;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly staleAfterMs: number;
  /** Names, titles and aliases of the pages that the clearance covers. */
  readonly names: LinkNames;
  /** The source with these raw bytes, whatever its label. `prefix`: 16 hex characters. */
  sourceOf(prefix: string): WikiSource | undefined;
  /** Takes a finding; which rule told it and how grave that is, is known. */
  tell(finding: Omit<Finding, "rule" | "severity">): void;
}

/** One rule at work: called with each page, then with each cited source, then at the end. */
export interface RuleCheck {
  page?(page: LintedPage): void;
  source?(cited: CitedSource): void;
  end?(): void | Promise<void>;
}

/** Makes a rule's check for one lint. State lives in the closure. */
export type MakeCheck = (view: LintView) => RuleCheck;

/** Rules whose findings say that something is wrong, not only that something should be looked at. */
export const ERROR_RULES: ReadonlySet<LintRule> = new Set<LintRule>([
  "brokenCitation",
  "misquote",
  "alteredSource",
  "labelDrift",
  "colourDrift",
  "frontMatter",
  "logAltered",
]);

/** The reading side of a WikiStore. */
export interface LintedStore {
  readonly sources: Pick<SourceTable, "current" | "byDigest" | "list" | "lines" | "intact">;
  readonly pages: Pick<PageTable, "list" | "get" | "text" | "find" | "citing" | "onDisk">;
  readonly patches: Pick<PatchTable, "list">;
  readonly log: Pick<WikiLog, "verify">;
}

// Pages that a clearance covers, one after another: neither lint nor export holds all of them.

/** As much of a store as it takes to go through its pages. */
export interface ListedPages {
  readonly pages: Pick<LintedStore["pages"], "list" | "text">;
}

const PAGES_AT_ONCE = 500;

/** What the store knows of each page at or below `clearance`, ascending by name. */
export function* pageRows(store: ListedPages, clearance: Label): Generator<Page> {
  let after: string | undefined;
  while (true) {
    const rows = store.pages.list({
      clearance,
      limit: PAGES_AT_ONCE,
      ...(after === undefined ? {} : { after }),
    });
    yield* rows;
    after = rows.at(-1)?.name;
    if (after === undefined || rows.length < PAGES_AT_ONCE) return;
  }
}

/** The same pages with their files. A file that is gone reads as empty. */
export function* lintedPages(store: ListedPages, clearance: Label): Generator<LintedPage> {
  for (const page of pageRows(store, clearance)) {
    const text = store.pages.text(page.name) ?? "";
    yield { page, file: `pages/${page.name}.md`, text, read: readPage(text) };
  }
}

// Words of a command that a person may paste.

const PLAIN = /^[\w@%+=:,./-]+$/u;

/** `word` as one word of a shell's command line, quoted where it must be. */
export function shellWord(word: string): string {
  return PLAIN.test(word) && !word.startsWith("-") ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
