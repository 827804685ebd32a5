/**
 * Rules about citations: broken citations, missing citations, and quotes or negations that differ from the
 * cited lines.
 * @module
 */
import { cleared } from "../../../contracts/authority/mod.ts";
import { plainLine } from "../../markdown/mod.ts";
import { bareWords, inQuotes, negatedIn } from "../link_names.ts";
import type { CitedSource, LintedPage, LintView, MakeCheck } from "../rule.ts";

// Broken footnotes: no definition, no such source, no such lines, or another source's file.

type Shown = LintedPage["read"]["citations"][number];

/** Why a citation is broken; undefined if its lines exist. */
function wrongWith(view: LintView, citation: Shown): string | undefined {
  const { digestPrefix, startLine, endLine } = citation;
  const source = view.sourceOf(digestPrefix);
  if (source === undefined) return `no source has the digest ${digestPrefix}`;
  // A page shown in part may cite a source above the reader's clearance, whose length is not revealed.
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
    const broken = [
      ...read.brokenNotes.map(({ why, ...note }) => ({ ...note, why: why.replace(/\.$/, "") })),
      ...read.citations.map((citation) => ({ ...citation, why: wrongWith(view, citation) })),
    ];
    for (const { note, line, why } of broken) {
      if (why === undefined) continue;
      view.tell({ file, line, message: `Footnote "${note}" cites nothing: ${why}.`, remedy });
    }
  },
});

// Claims without a citation. Quoted lines (`>`) and questions need none; lines that introduce a list or only
// link state nothing.

const QUOTED = /^\s*>/u;
const ASKS = /[?？؟;？]\s*["'”»)]*\s*$/u;
/** A line of links without a sentence. */
const ONLY_LINKS =
  /^\s*(?:[-*+]|\d+[.)])?\s*(?:(?:see|see also|siehe|voir)[:\s]+)?(?:\[\[[^\]]*\]\]|\[[^\]]*\]\([^)]*\)|<[^>\s]+>|[\s,;·|–—-])+\.?\s*$/iu;
const LEADS_ON = /[:：]\s*$/u;
/** Shorter texts, such as table cells and labels, need no citation. */
const MIN_WORDS = 3;

function words(text: string): number {
  return text.match(/[\p{L}\p{N}]+|\p{Script=Han}/gu)?.length ?? 0;
}

/** Rule `missingCitation`: one finding per line. */
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
      if (words(claim.text) < MIN_WORDS) continue;
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
      });
    }
  },
});

// Quotes that differ from their cited lines: lines that begin with `>`, and words in quotation marks. They
// may be shortened with `…`, but not by a negation. Of several cited places one must match.

/** Fewer words in quotation marks may be a name or irony. */
const MIN_QUOTE_WORDS = 4;
const IN_MARKS = /["“„«]([^"“”„«»]{8,2000})["”“»]/gu;
const CUT = /\s*(?:…|\.{3}|\[(?:…|\.{3})\])\s*/u;

interface Quote {
  readonly page: string;
  readonly line: number;
  readonly words: string;
  readonly other: { readonly file: string; readonly line: number };
  /** The cited clause, if it negates the quote. */
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
            ? `The cited lines do not say ${inQuotes(words)}.`
            : `This quote leaves out a negation: here ${inQuotes(words)}, there ${
              inQuotes(negated)
            }.`,
          remedy:
            `Quote the lines as they stand, or cite those that say it, in \`remit wiki edit ${page}\`.`,
          other,
        });
      }
    },
  };
};

/** The quotes of a claim. */
function quotesOf(text: string, quoted: boolean): readonly string[] {
  if (quoted) return [text];
  return [...text.matchAll(IN_MARKS)].flatMap(([, words = ""]) =>
    bareWords(words).split(" ").length >= MIN_QUOTE_WORDS ? [words] : []
  );
}

/** The cited lines, raw and as plain text. */
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

/** Whether all parts of a quote occur in order. */
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
