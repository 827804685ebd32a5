/** Renders `index.md`, the catalogue of pages. @module */
import { PageKind } from "../../contracts/memory/mod.ts";
import type { IndexRow } from "../../contracts/wire/mod.ts";
import { blocksOf } from "./blocks.ts";
import { claimsOf } from "./claims.ts";
import { escapeLine, linkShown, plainLine } from "./inline.ts";

const TITLES: Readonly<Record<PageKind, string>> = {
  synthesis: "Syntheses",
  comparison: "Comparisons",
  concept: "Concepts",
  entity: "Entities",
  summary: "Summaries of sources",
};
const ORDER = ["synthesis", "comparison", "concept", "entity", "summary"] as const;

/** The text of `index.md`: a line per page, by kind, then in the order of `rows`. */
export function renderIndex(rows: readonly IndexRow[]): string {
  const known: ReadonlySet<string> = new Set(PageKind.options);
  const groups = [
    ...ORDER.map((kind) => ({
      title: TITLES[kind],
      rows: rows.filter((row) => row.kind === kind),
    })),
    { title: "Others", rows: rows.filter(({ kind }) => !known.has(kind)) },
  ].filter((group) => group.rows.length > 0);
  return [
    "# Index",
    "",
    `*${
      rows.length === 1 ? "1 page" : `${rows.length} pages`
    }. Written by Remit with each change.*`,
    ...groups.flatMap(({ title, rows }) => ["", `## ${title}`, "", ...rows.map(rowLine)]),
    "",
  ].join("\n");
}

function rowLine({ name, title, about, colour, label, stale }: IndexRow): string {
  const shown = linkShown(title);
  const link = shown === name ? `[[${name}]]` : `[[${name}|${shown}]]`;
  const marks = [
    ...(colour === "RED" ? ["RED"] : []),
    ...(label === "internal" ? [] : [label]),
    ...(stale ? ["stale"] : []),
  ];
  // A definition begins with its term, which the link shows already.
  const lead = `${title}: `.toLowerCase();
  const words = about.toLowerCase().startsWith(lead) ? about.slice(lead.length) : about;
  const said = words === "" ? "" : `: ${escapeLine(words)}`;
  return `- ${link}${said}${marks.length === 0 ? "" : ` (${marks.join(", ")})`}`;
}

/** Characters of an {@link aboutOf}. */
const ABOUT_CHARACTERS = 160;
/** Lines of a body that are searched. */
const MAX_SEARCHED = 200;

/** The first statement of a page's body, else its first heading, on one line of at most 160 characters; or "". */
export function aboutOf(body: string): string {
  const blocks = blocksOf(body.slice(0, 65_536).split("\n", MAX_SEARCHED));
  const heading = blocks.find(({ kind }) => kind === "heading");
  const text = claimsOf(blocks)[0]?.text ?? plainLine(heading?.text ?? "");
  return shortened(text, ABOUT_CHARACTERS);
}

/** `text` cut between words to at most `max` characters, including the ellipsis. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, max - 1).toWellFormed().replace(/\ufffd$/, "");
  const space = cut.lastIndexOf(" ");
  return `${(space > max / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}
