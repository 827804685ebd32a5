/** Selects the terms that get a page: defined, used as headings, or named repeatedly. @module */
import type { Definition } from "./definitions.ts";
import type { Heading, SourceText } from "./source_text.ts";
import { isUnspaced, STOP_WORDS, termKey } from "./words.ts";

/** The parts of a source that terms are selected from. */
export interface TermSource {
  readonly text: Pick<SourceText, "headings" | "definitions" | "glossary">;
  /** Names of several capitalized words, with their frequency. */
  readonly names: ReadonlyMap<string, number>;
}

/** A term with its definitions and headings. `source` is an index of the sources. */
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

/** Term pages per hundred sources, rounded up. */
const PAGES_A_HUNDRED = 200;
const MAX_FORMS = 8;
/** A heading in a larger share of the sources belongs to their template. */
const FORM_SHARE = 0.3;
/** Fewer sources do not show which headings belong to a template. */
const MIN_SOURCES = 5;
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
/** Keys of words that are common in any documentation, and alone are no terms. */
const COMMON: ReadonlySet<string> = new Set(
  ("look end fn low high start stop run begin open close read write get set put post delete add remove create update " +
    "new old first last next previous more less all any each true false null none yes no on off in out up down left " +
    "right top bottom key name value id type kind class object string number boolean bool array list map set tuple " +
    "function method property attribute field parameter argument arg option flag setting default result return error " +
    "exception warning message code status body header data info input output file path url uri link image text line " +
    "word page section chapter item entry element node tree root parent child size length width height count total " +
    "max min time date day delay timeout limit level mode state event action task job step stage phase command cli " +
    "shell script tool util utility helper module package library import export build test check debug log trace note " +
    "tip hint warn danger caution important question answer problem solution issue bug fix change improvement " +
    "enhancement addition removal deprecation migration upgrade breaking-change highlight announcement news credit " +
    "sponsor contributor maintainer team support help documentation doc guide tutorial recipe ecosystem community " +
    "resource acceptance rejection severity trusted untrusted required optional true-positive benchmark performance " +
    "security compatibility stability platform environment version release user admin person people thing way part " +
    "whole group model view format style color color-scheme rule case condition expression statement syntax keyword " +
    "register registration init initialize initialization instance constructor param prop properties env example-code " +
    "hands-on getting-start quick-tour solution rationale goal non-goal purpose scope about-us table column row index " +
    "opts undefined supported unsupported buffer callback mit mit-license apache-license bsd-license json-object pull-request " +
    "basic basics advanced other-option general-note common-option development deployment configuration-option " +
    "acknowledgment thank copyright disclaimer privacy contact email github readme license-text author-note instance global " +
    "handling general static public private internal external local remote custom simple full quick guideline policy " +
    "behavior behaviour detail overview introduction usage installation mixin member constant")
    .split(" "),
);
/** First words of headings that describe an action. */
const ACTION =
  /^(?:how|what|why|when|where|who|which|let'?s|let|use|using|add|create|make|get|set|run|start|stop|install|build|write|read|do|don'?t|is|are|can|should|avoid|enable|disable|check|see|learn|understand|handle|define|configure|update|upgrade|migrate|test|try|from|to|with|without|on|in|for|by|if|need|be|have|allow|please|thank|going|\p{L}{2,}ing)\s/iu;
/** Signs of sentences, calls, paths, URLs and badges, which are no titles. */
const NO_TITLE =
  /^[^\p{L}\p{N}]|[!?()[\]{}<>=|\\/*^~`"“”…;]|https?:|www\.|\.(?:svg|png|gif|md|html?|json|ya?ml|com|org|io)\b|%[\da-f]{2}|\b(?:badge|shield|v?\d+\.\d+)/iu;
/** An identifier: with capitals or underscores inside. */
const CODE_NAME = /^\p{Ll}[\p{L}\p{N}]*(?:\p{Lu}|_\p{L})[\p{L}\p{N}_]*$/u;
const NAME =
  /(?<=[\p{Ll}\p{N},;()]\s{1,2}(?:the |an? )?)(?:\p{Lu}[\p{L}\p{N}]*[-’']?[\p{L}\p{N}]*)(?:\s(?:(?:of|the|for|de|van|von)\s)?\p{Lu}[\p{L}\p{N}]*){1,3}/gu;

/** Names of several capitalized words within sentences, with their frequency. */
export function namesIn(
  sentences: readonly { readonly text: string; readonly prose?: boolean }[],
): ReadonlyMap<string, number> {
  const names = new Map<string, number>();
  for (const { text, prose = true } of sentences) {
    // Rows and items begin with capitals that mark no names.
    if (!prose) continue;
    for (const [name] of text.matchAll(NAME)) {
      if (!/\p{Ll}/u.test(name) || name.length > 60) continue;
      names.set(name, (names.get(name) ?? 0) + 1);
    }
  }
  return names;
}

/** Selects the terms of some sources, best first. */
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

  const within = withinLonger(found);
  const most = PAGES_A_HUNDRED * Math.ceil(sources.length / 100);
  return [...found].flatMap(([key, term]) => {
    const score = scoreOf(key, term, sources.length);
    return score === 0 || (score < 10 && within.has(key)) ? [] : [{ key, term, score }];
  }).sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1)).slice(0, most)
    .map(({ key, term }) => finished(key, term));
}

/**
 * The score of a term; 0 for no page. A page needs a definition and a second source, or several sources that
 * name the term.
 */
function scoreOf(
  key: string,
  { forms, definitions, heads, named, names }: Found,
  sources: number,
): number {
  if (![...forms.keys()].some((form) => isTitle(form))) return 0;
  const headed = new Set(heads.map(({ source }) => source));
  const formal = sources >= MIN_SOURCES && headed.size >= 3 && headed.size > sources * FORM_SHARE;
  const bare = key.replaceAll(" ", "-");
  const listed = definitions.filter(({ glossary, definition }) =>
    (glossary || definition.row === true) && definition.by === "form"
  );
  const words = key.split(" ");
  const common = COMMON.has(bare) || NO_HEADING.has(bare) ||
    words.every((word) => COMMON.has(word) || NO_HEADING.has(word) || STOP_WORDS.has(word));
  if (common && !listed.some(({ glossary }) => glossary)) return 0;
  if (listed.length > 0) {
    return 100 + new Set([...definitions.map(({ source }) => source), ...headed]).size * 2;
  }
  const heading = formal ? new Set<number>() : headed;
  const said = new Set(
    definitions.filter(({ definition }) => definition.by === "pattern").map(({ source }) => source),
  );
  const written = new Set(definitions.map(({ source }) => source));
  const speaking = new Set([...written, ...heading]);
  // Without a definition, the term must be a name used in sentences or an identifier; otherwise it is a
  // section of a manual.
  const code = [...forms.keys()].some((form) => CODE_NAME.test(form));
  const used = named.size >= 2 || code ||
    [...forms.keys()].some((form) => /^\p{Lu}{2,}\d*s?$/u.test(form));
  const phrase = key.includes(" ");
  if (said.size > 0 && speaking.size >= 2) return 30 + speaking.size * 2;
  // Several sources that define the term agree that it exists.
  if (written.size >= 2) return 25 + speaking.size * 2;
  if (heading.size >= 2 && written.size > 0 && (code || phrase)) return 20 + speaking.size * 2;
  if (used && speaking.size >= 2) return 10 + speaking.size * 2;
  const few = sources < MIN_SOURCES;
  if (named.size >= (few ? 2 : 3) && names >= (few ? 3 : 4)) return named.size + Math.log1p(names);
  return 0;
}

/** Whether words can be a title. */
function isTitle(form: string): boolean {
  const words = form.split(/\s+/);
  return !NO_TITLE.test(form) && words.length <= 4 && !(words.length > 1 && ACTION.test(form)) &&
    !/^(?:\p{L}|\p{N}+|(?:note|step|option|example|case|part|figure|table|item|method) #?\d+)$/iu
      .test(form);
}

/** Names that occur only within longer ones: "Term Support" in "Long Term Support". */
function withinLonger(found: ReadonlyMap<string, Found>): ReadonlySet<string> {
  const within = new Set<string>();
  for (const [key, { names }] of found) {
    if (names === 0) continue;
    const words = key.split(" ");
    for (let from = 0; from < words.length; from += 1) {
      for (let to = from + 1; to <= words.length; to += 1) {
        const part = words.slice(from, to).join(" ");
        if (
          part !== key && (found.get(part)?.names ?? 0) > 0 &&
          (found.get(part)?.names ?? 0) <= 2 * names
        ) {
          within.add(part);
        }
      }
    }
  }
  return within;
}

function finished(key: string, { forms, definitions, heads }: Found): Term {
  const sorted = [...forms].filter(([form]) => isTitle(form)).sort((a, b) =>
    b[1] - a[1] || (a[0] < b[0] ? -1 : 1)
  ).map(([form]) => form);
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

/** A heading without its number, and without text after a colon. */
function bareHeading(heading: string): string {
  return heading.replace(/^(?:\d+(?:\.\d+)*[.)]?|[A-Z]\.)\s+/, "").replace(/\s*[:：(].*$/s, "")
    .trim();
}

function capitalized(term: string): string {
  const bare = term.replace(/^(?:an?|the)\s+/i, "");
  // An identifier keeps its case.
  return /^\p{Ll}\p{Ll}/u.test(bare) && !/\p{Lu}|_/u.test(bare)
    ? bare.charAt(0).toUpperCase() + bare.slice(1)
    : bare;
}
