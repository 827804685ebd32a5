/** What a query found, for people: where, from what, and the lines themselves. @module */
import { join } from "node:path";
import { EXIT, type ExitCode } from "../../contracts/base/mod.ts";
import type { Hit } from "../../contracts/memory/mod.ts";
import type { WikiQuery } from "../../contracts/wire/wire_wiki.ts";
import { displayText } from "../../text/mod.ts";
import { cutTo } from "../terminal/columns.ts";
import { type Command, printLines } from "../command.ts";
import type { FoundAnswer } from "../../memory-wiki/host/answers.ts";
import { counted, marksOf, type OpenWiki, shownPath } from "./command.ts";
import type { WikiPlace } from "./place.ts";

/** How many passages are shown where nobody says a number. */
export const PASSAGES = 5;
const LINES = 12;
const COLUMNS = 400;

/** Words of a question, for {@link boldWords}: lower case, as stems and as they stand. */
function wordsOf(question: string, terms: readonly string[]): readonly string[] {
  const own = question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set([...own, ...terms.map((each) => each.toLowerCase())])]
    .filter((word) => !STOPS.has(word));
}

const STOPS: ReadonlySet<string> = new Set(
  ("a an and are as at be by for from how i in is it of on or that the this to was what when where " +
    "which who why will with you do does can der die das und ist was ein eine").split(" "),
);

/** Makes words of safe text bold that a question has: whole ones, and those that begin with a stem of four letters. */
function boldWords(text: string, words: readonly string[], bold: (text: string) => string): string {
  return text.replace(/[\p{L}\p{N}\p{M}]+/gu, (word, at: number) => {
    // `\u{…}` is an escape of displayText's, and no word.
    if (text.slice(Math.max(0, at - 2), at) === "u{" || text.slice(at - 1, at) === "\\") {
      return word;
    }
    const lower = word.toLowerCase();
    const fits = words.some((each) =>
      lower === each || (each.length >= 4 && lower.startsWith(each))
    );
    return fits ? bold(word) : word;
  });
}

/** Lines of a text with their numbers, the words of a question bold. */
export function numberedLines(
  { powers }: Pick<Command, "powers">,
  text: string,
  options: {
    readonly from: number;
    readonly words?: readonly string[];
    readonly most?: number;
    readonly indent?: string;
  },
): readonly string[] {
  const { paint, outWidth } = powers.screen;
  const { from, words = [], most = Infinity, indent = "" } = options;
  const lines = text.split("\n");
  const width = String(from + lines.length).length;
  const columns = (outWidth ?? COLUMNS) - width - indent.length - 3;
  const shown = lines.slice(0, most).map((line, n) => {
    const safe = boldWords(cutTo(displayText(line), Math.max(40, columns)), words, paint.bold);
    return `${indent}${paint.dim(`${String(from + n).padStart(width)} │`)} ${safe}`.trimEnd();
  });
  const left = lines.length - shown.length;
  return left <= 0 ? shown : [...shown, `${indent}${paint.dim(`… ${counted(left, "line")} more`)}`];
}

/** Lines about one passage: a clickable place, headings, where it came from, the text. */
function hitLines(
  command: Pick<Command, "powers">,
  place: Pick<WikiPlace, "folder">,
  hit: Hit,
  words: readonly string[],
): readonly string[] {
  const { screen, environment } = command.powers;
  const { paint } = screen;
  const at = `${shownPath(environment, join(place.folder, hit.file))}:${hit.startLine}`;
  const titles = [hit.title, ...hit.headings].filter((each, n, all) =>
    each !== "" && all.indexOf(each) === n
  ).map((each) => displayText(each, { max: 120 })).join(" > ");
  const origin = hit.kind === "page"
    ? "a page of this wiki"
    : hit.origin.startsWith("/")
    ? `from ${shownPath(environment, hit.origin)}`
    : `from ${displayText(hit.origin, { max: 300 })}`;
  const about = [
    origin,
    marksOf(command, hit),
    hit.stale ? paint.yellow("stale: its sources changed") : "",
  ]
    .filter((each) => each !== "").join(" · ");
  return [
    `${paint.cyan(at)}  ${paint.bold(titles)}`,
    `  ${paint.dim(about)}`,
    ...numberedLines(command, hit.text, { from: hit.startLine, words, most: LINES, indent: "  " }),
  ];
}

/** Says that nothing fits, what was looked through, and what may help. */
export function nothingLines(
  { powers }: Pick<Command, "powers">,
  { searched }: FoundAnswer,
): readonly string[] {
  const { pages, sources, passages, terms, vectors } = searched;
  const words = terms.slice(0, 20).map((each) => displayText(each, { max: 40 })).join(", ");
  const name = powers.environment.command;
  return [
    "Nothing in this wiki fits.",
    `  looked through ${counted(pages, "page")} and ${counted(sources, "source")} (${
      counted(passages, "passage")
    })${words === "" ? "" : ` for ${words}`}${vectors ? ", also by meaning" : ""}`,
    passages + pages === 0
      ? `  take something in: ${name} wiki ingest PATH`
      : vectors
      ? `  try other words, or take more in: ${name} wiki ingest PATH`
      : `  try other words, or let meanings be compared, too: ${name} wiki embed`,
  ];
}

/** What was found, as JSON: stable. */
export function foundDocument(
  question: WikiQuery,
  found: FoundAnswer,
): Readonly<Record<string, unknown>> {
  const { text, queries } = question;
  const { fit, hits, searched } = found;
  return { question: text, fit, hits, searched, ...(queries === undefined ? {} : { queries }) };
}

/** Prints what was found; the best first. */
export function printFound(
  command: Command,
  { place }: OpenWiki,
  question: WikiQuery,
  found: FoundAnswer,
): void {
  const { screen } = command.powers;
  if (found.fit === "none") return void printLines(command, nothingLines(command, found));
  const words = wordsOf(question.text, found.searched.terms);
  if (found.fit === "weak") {
    screen.say(screen.paint.yellow("  The best of these fits only in part."));
  }
  found.hits.forEach((hit, n) => {
    printLines(command, [...(n === 0 ? [] : [""]), ...hitLines(command, place, hit, words)]);
  });
}

/** The exit code of a query: 68 when nothing fits. */
export function exitOfFound({ fit }: FoundAnswer): ExitCode {
  return fit === "none" ? EXIT.lowConfidence : EXIT.success;
}
