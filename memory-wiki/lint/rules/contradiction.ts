/**
 * Rule `contradiction`: compares a page's claim with the lines it cites, and with the newer version of its
 * source. Only claims with equal terms are compared, for precision. Pairs of pages are left to a model (`lint
 * --model`): by rule, none of 24 such findings was right (docs/decision/0070).
 * @module
 */
import { cleared } from "../../../contracts/authority/mod.ts";
import { sentencesOf } from "../../markdown/claims.ts";
import { readPage } from "../../markdown/mod.ts";
import { type Clash, clashOf, type Fact, factOf, isComparable } from "../facts/mod.ts";
import { bareWords, inQuotes, negatedIn } from "../link_names.ts";
import type { CitedSource, MakeCheck } from "../rule.ts";

const WORDS_FOR: Readonly<Record<Clash, string>> = Object.freeze({
  number: "another number",
  date: "another date",
  negation: "the opposite",
});
/** Characters read of a newer version. */
const MAX_NEWER = 2_000_000;

function sentences(text: string): readonly string[] {
  return sentencesOf(text).map(({ start, end }) => text.slice(start, end));
}

/** Rule `contradiction`. */
export const checkContradiction: MakeCheck = (view) => {
  return {
    source(cited) {
      compareWithCited(cited);
      compareWithNewer(cited);
    },
  };

  function compareWithCited(cited: CitedSource): void {
    for (const use of cited.uses) {
      const quote = use.all.length === 0 ? undefined : cited.quote(use);
      if (quote === undefined) continue;
      const bare = bareWords(quote);
      const telling = isComparable(quote);
      const rest: { line: number; text: string }[] = [];
      for (const { line, text, quoted } of use.all) {
        // Quotes are compared literally by rule `misquote`.
        if (quoted || (!telling && !isComparable(text))) continue;
        const negated = negatedIn(text, plainSource(quote));
        if (negated !== undefined) {
          tellCited(cited, use, { line, text, said: negated, clash: "negation" });
        } else if (!bare.includes(bareWords(text))) rest.push({ line, text });
      }
      if (rest.length === 0) continue;
      const facts = factsOf(sentences(plainSource(quote)).flatMap((each) => each.split(/;\s+/u)));
      for (const { line, text } of rest) {
        const fact = factOf(text);
        const met = fact === undefined ? undefined : meetOne(fact, facts);
        if (met === undefined) continue;
        tellCited(cited, use, { line, text, said: met.text, clash: met.clash });
      }
    }
  }

  function tellCited(
    cited: CitedSource,
    use: CitedSource["uses"][number],
    { line, text, said, clash }: {
      readonly line: number;
      readonly text: string;
      readonly said: string;
      readonly clash: Clash;
    },
  ): void {
    view.tell({
      file: `pages/${use.page}.md`,
      line,
      message: `This claim says ${WORDS_FOR[clash]} than what it cites: here ${
        inQuotes(text)
      }, there ${inQuotes(said)}.`,
      remedy: `Mend the claim or its citation in \`remit wiki edit ${use.page}\`.`,
      other: { file: cited.source.text, line: use.startLine },
    });
  }

  function compareWithNewer(cited: CitedSource): void {
    const { source, current, uses } = cited;
    if (current === undefined || current.id === source.id) return;
    // The newer version may be more confidential than the cited one.
    if (!cleared(current.label, view.clearance)) return;
    const gone = uses.filter((use) => use.claims.length > 0 && cited.moved(use) === undefined);
    if (gone.length === 0) return;
    const newer = new Map<string, { fact: Fact; text: string; line: number }[]>();
    for (
      const { line, text } of readPage(cited.currentLines().join("\n").slice(0, MAX_NEWER)).claims
    ) {
      const fact = factOf(text);
      if (fact !== undefined) newer.getOrInsert(fact.key, []).push({ fact, text, line });
    }
    for (const use of gone) {
      for (const { line, text } of use.claims) {
        const fact = factOf(text);
        const met = fact === undefined ? undefined : meetOne(fact, newer.get(fact.key) ?? []);
        if (met === undefined) continue;
        view.tell({
          file: `pages/${use.page}.md`,
          line,
          message: `The newer version of what this claim cites says ${WORDS_FOR[met.clash]}: here ${
            inQuotes(text)
          }, there ${inQuotes(met.text)}.`,
          remedy: `Mend the claim and its citation in \`remit wiki edit ${use.page}\`.`,
          other: { file: current.text, line: met.line },
        });
      }
    }
  }

  function factsOf(texts: readonly string[]) {
    return texts.flatMap((text) => {
      const fact = factOf(text);
      return fact === undefined ? [] : [{ fact, text, line: 0 }];
    });
  }

  /** The contradiction with one of `others`, unless another one agrees with `fact`. */
  function meetOne(
    fact: Fact,
    others: readonly { readonly fact: Fact; readonly text: string; readonly line: number }[],
  ): { readonly clash: Clash; readonly text: string; readonly line: number } | undefined {
    const same = others.filter((other) => other.fact.key === fact.key);
    const clashes = same.flatMap(({ fact: other, text, line }) => {
      const clash = clashOf(fact, other);
      return clash === undefined ? [] : [{ clash, text, line }];
    });
    return clashes.length === same.length ? clashes[0] : undefined;
  }
};

/** Lines of a source without list and heading markers, so that each starts a sentence. */
function plainSource(text: string): string {
  return text.replaceAll(/^[ \t]*(?:[-*+>#]+|\d+[.)])[ \t]+/gmu, "\n");
}
