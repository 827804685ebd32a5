/** The page that sums up one source. @module */
import type { PageDraft, PageName, WikiSource } from "../../contracts/mod.ts";
import { codeSpan, escapeLine, linkShown, shortened } from "../markdown/mod.ts";
import { makeFootnotes } from "./footnotes.ts";
import { keyCount, keySentences, readsLikeOrder } from "./key_sentences.ts";
import { shownName } from "./shown_name.ts";
import type { Heading, SourceText } from "./source_text.ts";

/** What a summary is made of. */
export interface SummaryParts {
  readonly name: PageName;
  readonly title: string;
  readonly source: WikiSource;
  readonly text: SourceText;
  /** Pages of terms that this source defines or heads. */
  readonly terms: readonly { readonly name: PageName; readonly title: string }[];
}

/** Headings that an outline shows. */
const MOST_HEADINGS = 40;
const MOST_HEADING = 120;
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

/** The draft of a source's summary: key sentences and outline, each cited to its lines. */
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
      sentences.map((sentence) => `> ${sentence.quote()}${notes.mark(source, sentence)}`)
        .flatMap((line, at) => at === 0 ? [line] : [">", line]),
    ),
    ...section(
      source.kind === "csv" ? "Columns" : "Outline",
      outline.map(({ text: heading, level, line }) => {
        const mark = notes.mark(source, { startLine: line, endLine: line });
        return `> ${"  ".repeat(level)}- ${escapeLine(shortened(heading, MOST_HEADING))}${mark}`;
      }),
    ),
    ...section("Terms", terms.length === 0 ? [] : [terms.map(linkOf).join(", ")]),
    "",
    ...notes.definitions(),
  ].join("\n").trimEnd();
  return { name, kind: "summary", title, aliases, confidence: "extracted", body: `${body}\n` };
}

/** `[[name]]`, or `[[name|Title]]` where they differ. */
export function linkOf(
  { name, title }: { readonly name: PageName; readonly title: string },
): string {
  const shown = linkShown(title);
  return shown === name ? `[[${name}]]` : `[[${name}|${shown}]]`;
}

/** A section with its heading, or nothing where it would be empty. */
export function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", `## ${title}`, "", ...lines];
}

/** Headings with their depth, from 0; of many only the higher levels. */
function outlineOf(headings: readonly Heading[]): readonly Heading[] {
  let kept = headings.filter(({ text }) => !readsLikeOrder(text));
  for (let deepest = 6; kept.length > MOST_HEADINGS && deepest > 1; deepest -= 1) {
    const shallow = kept.filter(({ level }) => level < deepest);
    if (shallow.length > 0) kept = shallow;
  }
  const levels = [...new Set(kept.map(({ level }) => level))].sort((a, b) => a - b);
  return kept.slice(0, MOST_HEADINGS).map((heading) => ({
    ...heading,
    level: Math.min(levels.indexOf(heading.level), 3),
  }));
}
