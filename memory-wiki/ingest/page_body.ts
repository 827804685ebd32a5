/** The body of a page that a run writes, or adds to. @module */
import { escapeLine, readPage } from "../markdown/mod.ts";
import { shownSource } from "./cite_source.ts";
import { linkNames, type NamedPage } from "./link_names.ts";
import { type CitedLine, makePageBuilder } from "./page_builder.ts";
import type { PlannedPage } from "./page_plan.ts";
import type { Piece } from "./gather.ts";

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
