/** Writes the Markdown of extracted pages: summaries of sources, and pages of terms. Used by draft_pages.ts. @module */
import type { PageDraft, PageName, WikiSource } from "../../contracts/memory/mod.ts";
import {
  codeSpan,
  escapeLine,
  linkShown,
  makeFootnotes,
  shortened,
  shownName,
} from "../markdown/mod.ts";
import type { Sentence } from "./definitions.ts";
import { keyCount, keySentences, type Mention, readsLikeOrder } from "./key_sentences.ts";
import type { Heading, SourceText } from "./source_text.ts";
import type { Term } from "./terms.ts";

/** Input of a summary. */
export interface SummaryParts {
  readonly name: PageName;
  readonly title: string;
  readonly source: WikiSource;
  readonly text: SourceText;
  /** Pages of terms that the source defines or heads. */
  readonly terms: readonly { readonly name: PageName; readonly title: string }[];
}

/** Headings in an outline. */
const MAX_HEADINGS = 40;
const MAX_HEADING = 120;
const FORMATS: Readonly<Record<WikiSource["kind"], string>> = {
  markdown: "Markdown",
  text: "text",
  code: "source code",
  csv: "a table",
  json: "JSON",
  html: "HTML",
  pdf: "PDF",
  docx: "DOCX",
  epub: "EPUB",
  mail: "mail",
};

/** Drafts a source's summary: key sentences and outline, each with a citation. */
export function summaryPage({ name, title, source, text, terms }: SummaryParts): PageDraft {
  const notes = makeFootnotes();
  const sentences = keySentences(text, title, keyCount(text.sentences.length));
  const shown = codeSpan(shownName(source).replaceAll("*", ""));
  const lines = source.lines === 1 ? "1 line" : `${source.lines} lines`;
  const version = source.version === 1 ? "" : `, version ${source.version}`;
  const outline = outlineOf(text.headings.filter((heading) => heading.text !== title));

  const aliases = (text.aliases ?? []).filter((each) => each !== "" && each !== title);

  const body = [
    `# ${escapeLine(title)}`,
    "",
    `*Extracted by rules from ${shown} (${
      FORMATS[source.kind]
    }, ${lines}${version}): what stands in quotes is the ` +
    "source's own, and nobody has judged it.*",
    ...section(
      "Key sentences",
      sentences.map((sentence) =>
        `> ${sentence.quote()}${
          notes.mark({ source, startLine: sentence.startLine, endLine: sentence.endLine })
        }`
      )
        .flatMap((line, at) => at === 0 ? [line] : [">", line]),
    ),
    ...section(
      source.kind === "csv" ? "Columns" : "Outline",
      outline.map(({ text: heading, level, line }) => {
        const mark = notes.mark({ source, startLine: line, endLine: line });
        return `> ${"  ".repeat(level)}- ${escapeLine(shortened(heading, MAX_HEADING))}${mark}`;
      }),
    ),
    ...section("Terms", terms.length === 0 ? [] : [terms.map(linkOf).join(", ")]),
    "",
    ...notes.definitions,
  ].join("\n").trimEnd();
  return { name, kind: "summary", title, aliases, confidence: "extracted", body: `${body}\n` };
}

/** `[[name]]`, or `[[name|Title]]` if they differ. */
function linkOf(
  { name, title }: { readonly name: PageName; readonly title: string },
): string {
  const shown = linkShown(title);
  return shown === name ? `[[${name}]]` : `[[${name}|${shown}]]`;
}

/** A section with its heading; nothing for no lines. */
function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", `## ${title}`, "", ...lines];
}

/** Headings with their depth from 0; of many, only the higher levels. */
function outlineOf(headings: readonly Heading[]): readonly Heading[] {
  let kept = headings.filter(({ text }) => !readsLikeOrder(text));
  for (let deepest = 6; kept.length > MAX_HEADINGS && deepest > 1; deepest -= 1) {
    const shallow = kept.filter(({ level }) => level < deepest);
    if (shallow.length > 0) kept = shallow;
  }
  const levels = [...new Set(kept.map(({ level }) => level))].sort((a, b) => a - b);
  return kept.slice(0, MAX_HEADINGS).map((heading) => ({
    ...heading,
    level: Math.min(levels.indexOf(heading.level), 3),
  }));
}

// The page of a term: definitions, and other sentences about the term.

/** Input of a term's page. Indexes refer to `sources`. */
interface ConceptParts {
  readonly name: PageName;
  readonly title: string;
  readonly term: Term;
  readonly sources: readonly WikiSource[];
  /** Summaries by index of their source. */
  readonly summaries: readonly { readonly name: PageName; readonly title: string }[];
  readonly mentions: readonly Mention[];
  /** First sentences under headings that name the term. */
  readonly headed: readonly { readonly source: number; readonly sentences: readonly Sentence[] }[];
  readonly related: readonly { readonly name: PageName; readonly title: string }[];
}

const MAX_DEFINITIONS = 6;
const MAX_HEADED = 4;

/** `term`: the term at the beginning of a definition by form. */
type Group = {
  readonly source: number;
  readonly sentences: readonly Sentence[];
  readonly term?: string;
};

/** Drafts a term's page; undefined if no sentence can be quoted. */
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
      const mark = notes.mark({ source: from, startLine: first.startLine, endLine: last.endLine });
      const said = withTerm(fresh.map((sentence) => sentence.quote()).join(" "), term);
      return [{ source, line: `> ${said}${mark}` }];
    }).flatMap(({ source, line }, at, all) => {
      const summary = summaries[source];
      const leads = all[at - 1]?.source !== source;
      const named = leads && summary !== undefined ? [`From ${linkOf(summary)}:`, ""] : [];
      return [...(at === 0 ? [] : [""]), ...named, line];
    });

  const defined = quotes(
    term.definitions.slice(0, MAX_DEFINITIONS).map(({ source, definition }) => ({
      source,
      sentences: definition.sentences,
      ...(definition.by === "form" ? { term: definition.term } : {}),
    })),
  );
  const under = quotes(headed.slice(0, MAX_HEADED));
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
    ...notes.definitions,
  ].join("\n").trimEnd();
  const aliases = [...new Set(term.forms)]
    .filter((form) => form.toLowerCase() !== title.toLowerCase()).slice(0, 8);
  return { name, kind: term.kind, title, aliases, confidence: "extracted", body: `${body}\n` };
}

/** The quote with its term in bold, as in a dictionary. */
function withTerm(quote: string, term: string): string {
  const written = escapeLine(term);
  if (written === "" || !quote.startsWith(written) || /[`*\\]/.test(written)) return quote;
  return `**${written}**${quote.slice(written.length)}`;
}
