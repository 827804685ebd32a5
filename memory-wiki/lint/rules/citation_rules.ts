/** Rules about citations: broken ones, claims without any, and quotes or negations that the cited lines do not have. @module */
import { cleared } from "../../../contracts/authority/mod.ts";
import { plainLine } from "../../markdown/mod.ts";
import { bareWords, negatedIn } from "../link_names.ts";
import type { CitedSource, LintedPage, LintView, MakeCheck } from "../rule.ts";

// Footnotes that lead nowhere: no definition, no such source, no such lines, or a file that is not theirs.

type Shown = LintedPage["read"]["citations"][number];

/** Says what is wrong with a citation; undefined when its lines are there. */
function wrongWith(view: LintView, citation: Shown): string | undefined {
  const { digestPrefix, startLine, endLine } = citation;
  const source = view.sourceOf(digestPrefix);
  if (source === undefined) return `no source has the digest ${digestPrefix}`;
  // What a redacted page cites may be above its reader: how many lines that has is not told.
  if (!cleared(source.label, view.clearance)) return undefined;
  if (!namesOne(citation.file, [source.raw, source.text])) {
    return `${digestPrefix} is the digest of "${source.text}", not of "${citation.file}"`;
  }
  if (startLine < 1 || endLine < startLine) return "its lines are in no order";
  if (endLine > source.lines) {
    return `"${source.text}" has ${source.lines} lines, and line ${endLine} is cited`;
  }
  return undefined;
}

function namesOne(shown: string, files: readonly string[]): boolean {
  const bare = shown.replace(/#.*$/u, "").replace(/^(?:\.\.?\/)+/u, "");
  return files.some((file) => bare === file || `raw/${bare}` === file);
}

/** Rule `brokenCitation`. */
export const checkBrokenCitation: MakeCheck = (view) => ({
  page({ file, read, page }) {
    const remedy =
      `Find the passage with \`remit wiki query\` and write its footnote in \`remit wiki edit ${page.name}\`.`;
    for (const { note, line, why } of read.brokenNotes) {
      view.tell({
        file,
        line,
        message: `Footnote "${note}" cites nothing: ${why.replace(/\.$/, "")}.`,
        remedy,
        fixable: false,
      });
    }
    for (const citation of read.citations) {
      const why = wrongWith(view, citation);
      if (why === undefined) continue;
      const { line, note } = citation;
      view.tell({
        file,
        line,
        message: `Footnote "${note}" cites nothing: ${why}.`,
        remedy,
        fixable: false,
      });
    }
  },
});

// Claims without a citation. A person's own voice needs none: a line that is quoted (`>`) or that
// asks. Lines that only lead on (links, a colon before a list) claim nothing.

const QUOTED = /^\s*>/u;
const ASKS = /[?？؟;？]\s*["'”»)]*\s*$/u;
/** A line of links with no sentence around them. */
const ONLY_LINKS =
  /^\s*(?:[-*+]|\d+[.)])?\s*(?:(?:see|see also|siehe|voir)[:\s]+)?(?:\[\[[^\]]*\]\]|\[[^\]]*\]\([^)]*\)|<[^>\s]+>|[\s,;·|–—-])+\.?\s*$/iu;
const LEADS_ON = /[:：]\s*$/u;
/** Fewer words say too little to be cited: a table's cell, a label. */
const FEWEST_WORDS = 3;

function words(text: string): number {
  return text.match(/[\p{L}\p{N}]+|\p{Script=Han}/gu)?.length ?? 0;
}

/** Rule `missingCitation`: one finding a line. */
export const checkMissingCitation: MakeCheck = (view) => ({
  page({ file, text, read }) {
    const lines = text.split("\n");
    const cited = new Set(read.claims.filter(({ notes }) => notes.length > 0).map((c) => c.text));
    const bare = new Map<number, number>();
    for (const claim of read.claims) {
      const line = lines[claim.line - 1] ?? "";
      if (claim.notes.length > 0 || cited.has(claim.text)) continue;
      if (QUOTED.test(line) || ONLY_LINKS.test(claim.text) || ONLY_LINKS.test(line)) continue;
      if (ASKS.test(claim.text) || LEADS_ON.test(claim.text)) continue;
      if (words(claim.text) < FEWEST_WORDS) continue;
      bare.set(claim.line, (bare.get(claim.line) ?? 0) + 1);
    }
    for (const [line, count] of bare) {
      view.tell({
        file,
        line,
        message: count === 1
          ? "This claim has no citation."
          : `${count} claims on this line have no citation.`,
        remedy:
          `Find the passage with \`remit wiki query\` and add its footnote in \`remit wiki edit ${
            file.slice("pages/".length, -".md".length)
          }\`, or begin the line with \`>\` if it is somebody's own words.`,
        fixable: false,
      });
    }
  },
});

// Quotes that their cited lines do not say: the words of a line that begins with `>`, and words in
// quotation marks. They may be cut with `…`; a negation that belongs to them may not be left out.
// Where a claim cites several places, one of them must say it.

/** In quotation marks, so many words are a quote; fewer may be a name or a doubt. */
const MIN_QUOTE_WORDS = 4;
const IN_MARKS = /["“„«]([^"“”„«»]{8,2000})["”“»]/gu;
const CUT = /\s*(?:…|\.{3}|\[(?:…|\.{3})\])\s*/u;
const SHOWN = 160;

interface Quote {
  readonly page: string;
  readonly line: number;
  readonly words: string;
  readonly other: { readonly file: string; readonly line: number };
  /** What the cited lines say with a negation. */
  negated: string | undefined;
  stands: boolean;
}

/** Rule `misquote`. */
export const checkMisquote: MakeCheck = (view) => {
  const quotes = new Map<string, Quote>();
  return {
    source(cited) {
      for (const use of cited.uses) {
        const wanted = use.all.flatMap(({ line, text, quoted }) =>
          quotesOf(text, quoted).map((words) => ({ line, words }))
        );
        if (wanted.length === 0) continue;
        const said = saidBy(cited, use);
        if (said === undefined) continue;
        for (const { line, words } of wanted) {
          const key = `${use.page}:${line}:${words}`;
          const other = { file: cited.source.text, line: use.startLine };
          const quote = quotes.get(key) ??
            { page: use.page, line, words, other, negated: undefined, stands: false };
          quotes.set(key, quote);
          const negated = negatedIn(words, said.text);
          if (negated !== undefined) quote.negated ??= negated;
          else if (standsIn(words, said.bare)) quote.stands = true;
        }
      }
    },
    end() {
      for (const { page, line, words, other, negated, stands } of quotes.values()) {
        if (stands) continue;
        view.tell({
          file: `pages/${page}.md`,
          line,
          message: negated === undefined
            ? `The cited lines do not say ${shown(words)}.`
            : `This quote leaves out a negation: here ${shown(words)}, there ${shown(negated)}.`,
          remedy:
            `Quote the lines as they stand, or cite those that say it, in \`remit wiki edit ${page}\`.`,
          fixable: false,
          other,
        });
      }
    },
  };
};

/** What a claim quotes. */
function quotesOf(text: string, quoted: boolean): readonly string[] {
  if (quoted) return [text];
  return [...text.matchAll(IN_MARKS)].flatMap(([, words = ""]) =>
    bareWords(words).split(" ").length >= MIN_QUOTE_WORDS ? [words] : []
  );
}

/** The cited lines, as they stand and as a reader sees them. */
function saidBy(
  cited: CitedSource,
  use: CitedSource["uses"][number],
): { readonly text: string; readonly bare: readonly string[] } | undefined {
  const quote = cited.quote(use);
  if (quote === undefined) return undefined;
  const plain = quote.split("\n").map((line) =>
    plainLine(line.replace(/^[ \t]*(?:[-*+>#]+|\d+[.)])[ \t]+/u, ""))
  ).join("\n");
  return { text: plain, bare: [bareWords(quote), bareWords(plain)] };
}

/** Whether all parts of a quote stand there, in their order. */
function standsIn(words: string, bare: readonly string[]): boolean {
  const parts = words.split(CUT).map(bareWords).filter((part) => part !== "");
  return bare.some((text) => {
    let from = 0;
    return parts.every((part) => {
      const at = text.indexOf(part, from);
      from = at + part.length;
      return at >= 0;
    });
  });
}

function shown(text: string): string {
  const line = text.replaceAll(/\s+/gu, " ").trim();
  return JSON.stringify(line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line);
}
