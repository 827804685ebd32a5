/**
 * Quotes that their cited lines do not say: the words of a line that begins with `>`, and words in quotation marks. They
 * may be cut with `…`; a negation that belongs to them may not be left out. Where a claim cites several places, one of
 * them must say it.
 * @module
 */
import { plainLine } from "../../markdown/mod.ts";
import { bareWords, negatedIn } from "../bare_text.ts";
import type { CitedSource, MakeCheck } from "../rule.ts";

/** In quotation marks, so many words are a quote; fewer may be a name or a doubt. */
const FEWEST_WORDS = 4;
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
    bareWords(words).split(" ").length >= FEWEST_WORDS ? [words] : []
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
