/** `index.md`: the catalogue of pages that is read first. @module */
import { type IndexRow, PageKind } from "../../contracts/mod.ts";
import { escapeLine, linkShown } from "./escape.ts";

const TITLES: Readonly<Record<PageKind, string>> = {
  synthesis: "Syntheses",
  comparison: "Comparisons",
  concept: "Concepts",
  entity: "Entities",
  summary: "Summaries of sources",
};
const ORDER = ["synthesis", "comparison", "concept", "entity", "summary"] as const;

/** The text of `index.md`: one line a page, by kind, then in the order of `rows`. */
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
