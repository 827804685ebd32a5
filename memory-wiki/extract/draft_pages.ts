/** Drafts pages from sources by rules alone. Pure and deterministic. Used by extract_pages.ts. @module */
import type { PageDraft, PageName, WikiSource } from "../../contracts/memory/mod.ts";
import { pageNameOf, shortened, shownName, suffixed } from "../markdown/mod.ts";
import { makeMentionFinder, type MentionFinder } from "./key_sentences.ts";
import { type PlacedSentence, readSource, type SourceText } from "./source_text.ts";
import { conceptPage, summaryPage } from "./page_markdown.ts";
import { chooseTerms, namesIn, type Term } from "./terms.ts";

/** File names that say nothing; the folder's name is used instead. */
const NAMELESS = /(?:^|\/)(?:readme|index)(?:\.\w{1,8}){0,3}$/i;

/** Input of the drafts. */
export interface DraftParts {
  /** All of one label and one colour. */
  readonly sources: readonly WikiSource[];
  /** The text of a source, possibly cut. */
  text(source: WikiSource): string;
  /** Names of other pages; the drafts' names are added. */
  readonly taken: Set<string>;
  /** Appended to a name that is taken, such as `secret`. */
  readonly suffix: string;
}

/** Characters of texts whose parsed form is cached. */
const MAX_CACHED = 24_000_000;
const UNTOLD: ReadonlySet<WikiSource["kind"]> = new Set(["code", "csv", "json"]);
const MAX_MENTIONS = 6;
const MAX_RELATED = 8;
const MAX_TITLE = 120;

/** Drafts a summary of each source, and a page for each term that the sources define, head or name. */
export function draftPages(parts: DraftParts): readonly PageDraft[] {
  const sources = [...parts.sources].sort((a, b) => a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
  const read = makeReader(parts);
  const terms = chooseTerms(
    sources.map((source) => {
      const { headings, definitions, glossary, sentences } = read(source);
      // Names of columns, keys and functions introduce no prose.
      const heads = UNTOLD.has(source.kind) ? [] : headings;
      return { text: { headings: heads, definitions, glossary }, names: namesIn(sentences) };
    }),
  );

  const name = makeNamer(parts);
  const named = terms.map((term) => ({ term, ...name(term.title, [parts.suffix]) }));
  const concepts = new Set<string>(named.map((entry) => entry.name));
  const summaries = sources.map((source) => {
    const folder = shownName(source).split("/").at(-2) ?? "";
    const own = source.title.replace(/\s+/g, " ").trim();
    const title = shortened(NAMELESS.test(own) && folder !== "" ? folder : own, MAX_TITLE) ||
      "Source";
    const suffix = concepts.has(pageNameOf(title)) ? "summary" : folder;
    return name(title, [suffix, parts.suffix]);
  });

  const finder = makeMentionFinder(terms.map(({ key }) => key));
  const headed = new Map<string, { source: number; sentences: readonly PlacedSentence[] }[]>();
  const drafts: PageDraft[] = [];
  for (const [index, source] of sources.entries()) {
    const text = read(source);
    finder.look(index, text.sentences);
    for (const [key, sentences] of headedSentences(text, terms, index)) {
      headed.set(key, [...headed.get(key) ?? [], { source: index, sentences }]);
    }
    const own = named.filter(({ term }) => speaks(term, index));
    const summary = summaries[index];
    if (summary !== undefined) drafts.push(summaryPage({ ...summary, source, text, terms: own }));
  }

  const links = relatedTerms(named, finder);
  for (const { term, name: pageName, title } of named) {
    const draft = conceptPage({
      name: pageName,
      title,
      term,
      sources,
      summaries,
      mentions: finder.of(term.key, MAX_MENTIONS),
      headed: headed.get(term.key) ?? [],
      related: links.get(term.key) ?? [],
    });
    if (draft !== undefined) drafts.push(draft);
  }
  return drafts;
}

type Named = { readonly name: PageName; readonly title: string };

/** Parses sources; caches results up to {@link MAX_CACHED} characters, so that a small wiki's sources are parsed once. */
function makeReader({ text }: DraftParts): (source: WikiSource) => SourceText {
  const kept = new Map<string, SourceText>();
  let characters = 0;
  return (source): SourceText => {
    const known = kept.get(source.key);
    if (known !== undefined) return known;
    const whole = text(source);
    const read = readSource(source, whole);
    characters += whole.length;
    if (characters <= MAX_CACHED) kept.set(source.key, read);
    return read;
  };
}

/** Names pages by title: the first free name of the title, the title with each suffix, or with a number. */
function makeNamer({ taken }: DraftParts): (title: string, suffixes: readonly string[]) => Named {
  return (title, suffixes) => {
    const plain = pageNameOf(title);
    const given = suffixes.filter((suffix) => suffix !== "");
    const choices = [plain, ...given.map((suffix) => suffixed(plain, suffix))];
    let name = choices.find((choice) => !taken.has(choice));
    for (let number = 2; name === undefined; number += 1) {
      const choice = suffixed(plain, String(number));
      if (!taken.has(choice)) name = choice;
    }
    taken.add(name);
    return { name, title };
  };
}

function speaks({ definitions, heads }: Term, source: number): boolean {
  return definitions.some((found) => found.source === source) ||
    heads.some((found) => found.source === source);
}

/** The first sentence under each heading that is a term. */
function headedSentences(
  { headings, sentences }: SourceText,
  terms: readonly Term[],
  source: number,
): ReadonlyMap<string, readonly PlacedSentence[]> {
  const lines = new Map<number, string>();
  for (const { key, heads } of terms) {
    for (const head of heads) if (head.source === source) lines.set(head.heading.line, key);
  }
  const found = new Map<string, readonly PlacedSentence[]>();
  if (lines.size === 0) return found;
  const bySection = Map.groupBy(sentences, ({ section }) => section);
  for (const [section, { line }] of headings.entries()) {
    const key = lines.get(line);
    const first = bySection.get(section)?.[0];
    if (key === undefined || found.has(key) || first === undefined) continue;
    if (/[:?]$/.test(first.text) || first.text.length < 20) continue;
    found.set(key, [first]);
  }
  return found;
}

/** Terms mentioned in a term's definitions, and terms whose definitions mention it. */
function relatedTerms(
  named: readonly (Named & { readonly term: Term })[],
  finder: MentionFinder,
): ReadonlyMap<string, readonly Named[]> {
  const byKey = new Map(named.map((entry) => [entry.term.key, entry]));
  const spoken = makeMentionFinder([...byKey.keys()]);
  for (const [at, { term }] of named.entries()) {
    const sentences = term.definitions.flatMap(({ definition }) => definition.sentences);
    spoken.look(
      at,
      sentences.map((sentence) => ({ ...sentence, section: 0, leads: true, prose: true })),
    );
  }
  const pairs = new Map<string, Map<string, number>>();
  const join = (a: string, b: string, weight: number): void => {
    const own = pairs.get(a) ?? new Map<string, number>();
    own.set(b, (own.get(b) ?? 0) + weight);
    pairs.set(a, own);
  };
  for (const { term } of named) {
    for (const { source, score } of spoken.of(term.key, 2 * MAX_RELATED)) {
      const other = named[source]?.term.key;
      if (other === undefined || other === term.key) continue;
      join(other, term.key, 1 + score);
      join(term.key, other, score);
    }
  }
  return new Map([...pairs].map(([key, others]) => {
    const best = [...others].sort((a, b) =>
      b[1] - a[1] || finder.sources(b[0]) - finder.sources(a[0]) || (a[0] < b[0] ? -1 : 1)
    ).slice(0, MAX_RELATED);
    return [key, best.flatMap(([other]) => byKey.get(other) ?? [])];
  }));
}
