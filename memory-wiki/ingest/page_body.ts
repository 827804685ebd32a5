/** Writes the body of a page, or adds to it. Used by work_finish.ts. @module */
import {
  escapeLine,
  linkShown,
  makeFootnotes,
  readPage,
  shownName,
  type SourceLines,
} from "../markdown/mod.ts";
import type { Piece, PlannedPage } from "./page_plan.ts";

/** Input of a body beside its plan. */
export interface BodyParts {
  /** The existing body; undefined for a new page. */
  readonly stands: string | undefined;
  /** Pages to link to. */
  readonly named: readonly NamedPage[];
  /** Statements of sources that contradict the page. */
  readonly against: readonly CitedLine[];
  readonly author: string;
}

/** The body, and the number of statements added. */
export function bodyOf(
  plan: Pick<PlannedPage, "name" | "title" | "pieces" | "relations">,
  { stands, named, against, author }: BodyParts,
): { readonly body: string; readonly added: number } {
  const before = stands === undefined ? undefined : readPage(stands);
  const known = new Set(before?.claims.map(({ text }) => plain(text)));
  const notes = [...before?.citations ?? [], ...before?.brokenNotes ?? []].map(({ note }) => note);
  const builder = makePageBuilder(new Set(notes));
  const others = named.filter(({ name }) => name !== plan.name);
  const groups = [...Map.groupBy(plan.pieces, ({ source }) => source.id).values()];
  for (const group of groups) {
    const lines = group.filter(({ text }) => !known.has(plain(text)))
      .map((piece) => citedLine(piece, others));
    const [first] = group;
    const from = first === undefined ? "a source" : shownName(first.source);
    const heading = stands !== undefined
      ? `Proposed by ${author} from ${from}`
      : groups.length > 1
      ? `From ${from}`
      : undefined;
    builder.section(heading, lines);
  }
  const relations = new Map(
    plan.relations.filter(({ text }) => !known.has(plain(text)))
      .map((piece) => [plain(piece.text), citedLine(piece, others)] as const),
  );
  builder.section("Relations", [...relations.values()]);
  builder.section("Contradictions", against);
  const head = stands === undefined
    ? `# ${escapeLine(plan.title)}\n`
    : stands.replace(/\n*$/, "\n");
  return { body: `${head}\n${builder.text()}`, added: builder.count() };
}

function citedLine(
  { text, source, startLine, endLine }: Piece,
  others: readonly NamedPage[],
): CitedLine {
  return { source, startLine, endLine, text: linkNames(text, others) };
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim();
}

// Links mentions of pages within a statement.

/** A page that statements may mention. */
interface NamedPage {
  readonly name: string;
  readonly title: string;
}

/** Links per statement. */
const MAX_LINKS = 6;

/** The statement as escaped Markdown, with the first mention of each page as a link. */
export function linkNames(text: string, pages: readonly NamedPage[]): string {
  const lower = text.toLowerCase();
  // If folding changes the length, indexes of one are not indexes of the other.
  if (lower.length !== text.length) return escapeLine(text);
  const spans: { at: number; end: number; name: string }[] = [];
  for (const { name, title } of [...pages].sort((a, b) => b.title.length - a.title.length)) {
    if (spans.length >= MAX_LINKS || title.length < 3) continue;
    const at = wordAt(lower, title.toLowerCase());
    const end = at + title.length;
    if (at < 0 || spans.some((span) => at < span.end && span.at < end)) continue;
    spans.push({ at, end, name });
  }
  spans.sort((a, b) => a.at - b.at);
  let [out, from] = ["", 0];
  for (const { at, end, name } of spans) {
    const shown = linkShown(text.slice(at, end));
    out += spaced(text.slice(from, at)) + (shown === name ? `[[${name}]]` : `[[${name}|${shown}]]`);
    from = end;
  }
  return out + spaced(text.slice(from));
}

function wordAt(text: string, word: string): number {
  const at = text.indexOf(word);
  if (at < 0) return -1;
  const letter = /[\p{L}\p{N}]/u;
  // Scripts without spaces have no word boundaries.
  if (!/^[\x20-\x7e]+$/.test(word)) return at;
  const edge = !letter.test(text.charAt(at - 1)) && !letter.test(text.charAt(at + word.length));
  return edge ? at : -1;
}

/** {@link escapeLine} that keeps spaces at the ends. */
function spaced(piece: string): string {
  const inner = escapeLine(piece);
  return (/^\s/.test(piece) && inner !== "" ? " " : "") + inner +
    (/\s$/.test(piece) && piece !== "" ? " " : "");
}

// Builds cited statements: a new page, or sections behind an existing one.

/** A statement with the lines that it cites. */
export interface CitedLine extends SourceLines {
  /** Escaped Markdown on one line. */
  readonly text: string;
}

/** Collects sections; each cited span gets one footnote. */
interface PageBuilder {
  section(heading: string | undefined, lines: readonly CitedLine[]): void;
  /** Sections, then footnotes. Empty if nothing was added. */
  text(): string;
  /** Number of statements added. */
  count(): number;
}

/** Makes a builder. `taken`: names of existing footnotes. */
function makePageBuilder(taken: ReadonlySet<string>): PageBuilder {
  const blocks: string[] = [];
  const notes = makeFootnotes(taken);
  let count = 0;
  return Object.freeze<PageBuilder>({
    section(heading, lines) {
      if (lines.length === 0) return;
      if (heading !== undefined) blocks.push(`## ${escapeLine(heading)}`);
      blocks.push(lines.map((line) => `- ${line.text}${notes.mark(line)}`).join("\n"));
      count += lines.length;
    },
    text: () =>
      blocks.length === 0 ? "" : `${[...blocks, notes.definitions.join("\n")].join("\n\n")}\n`,
    count: () => count,
  });
}
