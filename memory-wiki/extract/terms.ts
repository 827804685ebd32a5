/** Which terms get a page: those that sources define, head, or name again and again. @module */
import type { Definition } from "./definitions.ts";
import type { Heading, SourceText } from "./source_text.ts";
import { isUnspaced, STOP_WORDS, termKey } from "./words.ts";

/** One source, as far as terms are looked for in it. */
export interface TermSource {
  readonly text: Pick<SourceText, "headings" | "definitions" | "glossary">;
  /** Names of several capitalized words, with how often they stand in it. */
  readonly names: ReadonlyMap<string, number>;
}

/** A term and where sources speak of it by name. Indexes are those of the sources. */
export interface Term {
  readonly key: string;
  /** Its most frequent form. */
  readonly title: string;
  readonly forms: readonly string[];
  readonly kind: "concept" | "entity";
  readonly definitions: readonly { readonly source: number; readonly definition: Definition }[];
  readonly heads: readonly { readonly source: number; readonly heading: Heading }[];
}

type Found = {
  readonly forms: Map<string, number>;
  readonly definitions: { source: number; definition: Definition; glossary: boolean }[];
  readonly heads: { source: number; heading: Heading }[];
  readonly named: Set<number>;
  names: number;
};

/** Pages of terms for each hundred sources begun. */
const PAGES_A_HUNDRED = 200;
const MAX_FORMS = 8;
/** A heading that stands in more than this part of the sources belongs to their form. */
const FORM_SHARE = 0.3;
/** Sources from which on the form of headings can be told. */
const FEW = 5;
const NO_HEADING: ReadonlySet<string> = new Set(
  ("introduction overview summary abstract conclusion conclusion contents table-of-content usage install installation " +
    "example getting-started setup set-up quick-start quickstart background motivation reference license licence " +
    "changelog contributing todo notes note faq appendix status about requirement prerequisite configuration " +
    "description detail result discussion method acknowledgement author see-also further-reading next-step " +
    "how-it-work feature test testing build building step api option parameter argument return result-and-discussion " +
    "decision context consequence choice cost alternative rationale known-issue limitation troubleshooting synopsis " +
    "what what-would-change-our-mind index home readme main misc other general default type history version")
    .split(" "),
);
const NAME =
  /(?<=[\p{Ll}\p{N},;:()]\s{1,2}(?:the |an? )?)(?:\p{Lu}[\p{L}\p{N}]*[-’']?[\p{L}\p{N}]*)(?:\s(?:(?:of|the|for|and|de|van|von)\s)?\p{Lu}[\p{L}\p{N}]*){1,3}/gu;

/** Names of several capitalized words within sentences, and how often they stand there. */
export function namesIn(
  sentences: readonly { readonly text: string }[],
): ReadonlyMap<string, number> {
  const names = new Map<string, number>();
  for (const { text } of sentences) {
    for (const [name] of text.matchAll(NAME)) {
      if (!/\p{Ll}/u.test(name) || name.length > 60) continue;
      names.set(name, (names.get(name) ?? 0) + 1);
    }
  }
  return names;
}

/** The terms of some sources, best founded first. */
export function chooseTerms(sources: readonly TermSource[]): readonly Term[] {
  const found = new Map<string, Found>();
  const at = (term: string): Found | undefined => {
    const key = keyOf(term);
    if (key === undefined) return undefined;
    const known = found.get(key) ??
      { forms: new Map(), definitions: [], heads: [], named: new Set(), names: 0 };
    found.set(key, known);
    known.forms.set(term, (known.forms.get(term) ?? 0) + 1);
    return known;
  };

  for (const [source, { text, names }] of sources.entries()) {
    for (const definition of text.definitions) {
      at(definition.term)?.definitions.push({ source, definition, glossary: text.glossary });
    }
    for (const heading of text.headings) {
      at(bareHeading(heading.text))?.heads.push({ source, heading });
    }
    for (const [name, count] of names) {
      const known = at(name);
      if (known === undefined) continue;
      known.named.add(source);
      known.names += count;
    }
  }

  const most = PAGES_A_HUNDRED * Math.ceil(sources.length / 100);
  return [...found].flatMap(([key, term]) => {
    const score = scoreOf(key, term, sources.length);
    return score === 0 ? [] : [{ key, term, score }];
  }).sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1)).slice(0, most)
    .map(({ key, term }) => finished(key, term));
}

/** 0 for what gets no page. */
function scoreOf(
  key: string,
  { definitions, heads, named, names }: Found,
  sources: number,
): number {
  const headed = new Set(heads.map(({ source }) => source));
  const formal = sources >= FEW && headed.size >= 3 && headed.size > sources * FORM_SHARE;
  const heading = formal || NO_HEADING.has(key.replaceAll(" ", "-")) ? new Set<number>() : headed;
  const defined = new Set(definitions.map(({ source }) => source));
  const listed = definitions.filter(({ glossary, definition }) =>
    glossary && definition.by === "form"
  );
  const speaking = new Set([...defined, ...heading]);
  if (listed.length > 0) return 100 + speaking.size * 2;
  if (speaking.size >= 2 && (defined.size > 0 || heading.size >= 2)) return 10 + speaking.size * 2;
  if (named.size >= 2 && names >= 3) return named.size + Math.log1p(names);
  return 0;
}

function finished(key: string, { forms, definitions, heads }: Found): Term {
  const sorted = [...forms].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([form]) =>
    form
  );
  const own = definitions.find(({ glossary }) => glossary)?.definition.term ?? sorted[0] ?? key;
  return {
    key,
    title: capitalized(own),
    forms: [...new Set([own, ...sorted])].slice(0, MAX_FORMS),
    kind: definitions.length === 0 && heads.length === 0 ? "entity" : "concept",
    definitions: [...definitions]
      .sort((a, b) => rank(a) - rank(b) || a.source - b.source)
      .map(({ source, definition }) => ({ source, definition })),
    heads,
  };
}

function rank({ glossary, definition }: Found["definitions"][number]): number {
  return (glossary ? 0 : 2) + (definition.by === "form" ? 0 : 1);
}

function keyOf(term: string): string | undefined {
  if (term.length > 60 || !/\p{L}{2}/u.test(term)) return undefined;
  const key = termKey(term, 4);
  if (key === undefined || key.length < 2) return undefined;
  return !isUnspaced(key) && key.split(" ").every((word) => STOP_WORDS.has(word)) ? undefined : key;
}

/** A heading without its number and what follows a colon. */
function bareHeading(heading: string): string {
  return heading.replace(/^(?:\d+(?:\.\d+)*[.)]?|[A-Z]\.)\s+/, "").replace(/\s*[:：(].*$/s, "")
    .trim();
}

function capitalized(term: string): string {
  const bare = term.replace(/^(?:an?|the)\s+/i, "");
  return /^\p{Ll}\p{Ll}/u.test(bare) ? bare.charAt(0).toUpperCase() + bare.slice(1) : bare;
}
