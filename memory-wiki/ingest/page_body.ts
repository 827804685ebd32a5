/** The body of a page that a run writes, or adds to. @module */
import type { WikiSource } from "../../contracts/memory/mod.ts";
import { citationLine, escapeLine, linkShown, readPage } from "../markdown/mod.ts";
import type { Piece, PlannedPage } from "./page_plan.ts";

/** What a body is made of beside its plan. */
export interface BodyParts {
  /** The body that stands; undefined for a page that is written anew. */
  readonly stands: string | undefined;
  /** Pages that statements may link to. */
  readonly named: readonly NamedPage[];
  /** What sources say against the page. */
  readonly against: readonly CitedLine[];
  readonly author: string;
}

/** The body, and how many statements are new on it. */
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
    const from = first === undefined ? "a source" : shownSource(first.source);
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

// Names of pages within a statement become links.

/** A page that statements may name. */
interface NamedPage {
  readonly name: string;
  readonly title: string;
}

/** Most links in one statement. */
const MAX = 6;

/** The statement as Markdown: escaped, with the first mention of each page as a link. */
export function linkNames(text: string, pages: readonly NamedPage[]): string {
  const lower = text.toLowerCase();
  // Where folding changes lengths, places in the one are no places in the other.
  if (lower.length !== text.length) return escapeLine(text);
  const spans: { at: number; end: number; name: string }[] = [];
  for (const { name, title } of [...pages].sort((a, b) => b.title.length - a.title.length)) {
    if (spans.length >= MAX || title.length < 3) continue;
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
  // Scripts without spaces have no edges of words.
  if (!/^[\x20-\x7e]+$/.test(word)) return at;
  const edge = !letter.test(text.charAt(at - 1)) && !letter.test(text.charAt(at + word.length));
  return edge ? at : -1;
}

/** {@link escapeLine} of a piece, which keeps the spaces at its ends. */
function spaced(piece: string): string {
  const inner = escapeLine(piece);
  return (/^\s/.test(piece) && inner !== "" ? " " : "") + inner +
    (/\s$/.test(piece) && piece !== "" ? " " : "");
}

// A page of cited statements under way: a new one, or sections behind what stands.

/** One statement with the lines that it rests on. */
export interface CitedLine {
  /** Markdown, one line, already escaped. */
  readonly text: string;
  readonly source: WikiSource;
  readonly startLine: number;
  readonly endLine: number;
}

/** Collects sections and gives each cited span one footnote. */
interface PageBuilder {
  section(heading: string | undefined, lines: readonly CitedLine[]): void;
  /** Sections, then the footnotes. Empty when nothing was added. */
  text(): string;
  /** Statements that were added. */
  count(): number;
}

/** Begins. `taken` are names of footnotes that stand on the page already. */
function makePageBuilder(taken: ReadonlySet<string>): PageBuilder {
  const blocks: string[] = [];
  const notes = new Map<string, string>();
  const definitions: string[] = [];
  let next = 1;
  let count = 0;

  function noteOf({ source, startLine, endLine }: CitedLine): string {
    const span = `${source.digest}:${startLine}-${endLine}`;
    const known = notes.get(span);
    if (known !== undefined) return known;
    while (taken.has(String(next))) next++;
    const note = String(next++);
    notes.set(span, note);
    definitions.push(citeSource(note, source, { startLine, endLine }));
    return note;
  }

  return Object.freeze<PageBuilder>({
    section(heading, lines) {
      if (lines.length === 0) return;
      if (heading !== undefined) blocks.push(`## ${escapeLine(heading)}`);
      blocks.push(lines.map((line) => `- ${line.text}[^${noteOf(line)}]`).join("\n"));
      count += lines.length;
    },
    text: () => blocks.length === 0 ? "" : `${[...blocks, definitions.join("\n")].join("\n\n")}\n`,
    count: () => count,
  });
}

// A source's footnote, as pages cite it.

/** Most characters of a source's name in a citation. */
const MAX_SHOWN = 120;

/** What a source is called in a citation: the end of its path or address, else its title. */
function shownSource({ provenance: { origin }, title, key }: WikiSource): string {
  const [path = ""] = (origin === "-" ? key : origin).split(/[?#]/, 1);
  const parts = path.split("/").filter((part) => part !== "");
  const name = parts.slice(-2).join("/");
  return (name === "" ? title : name).slice(-MAX_SHOWN);
}

/** The definition of footnote `note` for lines of a source. */
export function citeSource(
  note: string,
  source: WikiSource,
  lines: { readonly startLine: number; readonly endLine: number },
): string {
  return citationLine({
    note,
    file: source.text,
    shown: shownSource(source),
    digest: source.digest,
    startLine: lines.startLine,
    endLine: lines.endLine,
  });
}
