/** The page of a term: how sources define it, and what they say of it. @module */
import type { PageDraft, PageName, WikiSource } from "../../contracts/mod.ts";
import { escapeLine } from "../markdown/mod.ts";
import { makeFootnotes } from "./footnotes.ts";
import { readsLikeOrder } from "./key_sentences.ts";
import type { Mention } from "./mentions.ts";
import type { Sentence } from "./quoted_block.ts";
import { linkOf, section } from "./summary_page.ts";
import type { Term } from "./terms.ts";

/** What a term's page is made of. Indexes are those of `sources`. */
export interface ConceptParts {
  readonly name: PageName;
  readonly title: string;
  readonly term: Term;
  readonly sources: readonly WikiSource[];
  /** Summaries, by index of their source. */
  readonly summaries: readonly { readonly name: PageName; readonly title: string }[];
  readonly mentions: readonly Mention[];
  /** First sentences under headings that are the term. */
  readonly headed: readonly { readonly source: number; readonly sentences: readonly Sentence[] }[];
  readonly related: readonly { readonly name: PageName; readonly title: string }[];
}

const MOST_DEFINITIONS = 6;
const MOST_HEADED = 4;

/** `term` is what the first sentence begins with, where that is written as a definition. */
type Group = {
  readonly source: number;
  readonly sentences: readonly Sentence[];
  readonly term?: string;
};

/** The draft of a term's page; undefined when no source says anything that can be quoted. */
export function conceptPage(parts: ConceptParts): PageDraft | undefined {
  const { name, title, term, sources, summaries, mentions, headed, related } = parts;
  const notes = makeFootnotes();
  const used = new Set<string>();

  const quotes = (
    groups: readonly Group[],
  ): readonly string[] =>
    groups.flatMap(({ source, sentences, term = "" }) => {
      const from = sources[source];
      const fresh = sentences.filter(({ text }) => !used.has(text) && !readsLikeOrder(text));
      const [first, last] = [fresh[0], fresh.at(-1)];
      if (from === undefined || first === undefined || last === undefined) return [];
      for (const { text } of fresh) used.add(text);
      const mark = notes.mark(from, { startLine: first.startLine, endLine: last.endLine });
      const said = withTerm(fresh.map((sentence) => sentence.quote()).join(" "), term);
      return [{ source, line: `> ${said}${mark}` }];
    }).flatMap(({ source, line }, at, all) => {
      const summary = summaries[source];
      const leads = all[at - 1]?.source !== source;
      const named = leads && summary !== undefined ? [`From ${linkOf(summary)}:`, ""] : [];
      return [...(at === 0 ? [] : [""]), ...named, line];
    });

  const defined = quotes(
    term.definitions.slice(0, MOST_DEFINITIONS).map(({ source, definition }) => ({
      source,
      sentences: definition.sentences,
      ...(definition.by === "form" ? { term: definition.term } : {}),
    })),
  );
  const under = quotes(headed.slice(0, MOST_HEADED));
  const said = quotes(mentions.map(({ source, sentence }) => ({ source, sentences: [sentence] })));
  if (defined.length + under.length + said.length === 0) return undefined;

  const body = [
    `# ${escapeLine(title)}`,
    "",
    "*Extracted by rules: what stands in quotes are sentences of the sources as they stand, and nobody has judged them.*",
    ...section("Definition", defined),
    ...section("Under this heading", under),
    ...section(defined.length > 0 ? "Elsewhere" : "What sources say", said),
    ...section("See also", related.length === 0 ? [] : [related.map(linkOf).join(", ")]),
    "",
    ...notes.definitions(),
  ].join("\n").trimEnd();
  const aliases = [...new Set(term.forms)]
    .filter((form) => form.toLowerCase() !== title.toLowerCase()).slice(0, 8);
  return { name, kind: term.kind, title, aliases, confidence: "extracted", body: `${body}\n` };
}

/** The quote with its term in bold, as dictionaries have it. */
function withTerm(quote: string, term: string): string {
  const written = escapeLine(term);
  if (written === "" || !quote.startsWith(written) || /[`*\\]/.test(written)) return quote;
  return `**${written}**${quote.slice(written.length)}`;
}
