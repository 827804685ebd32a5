/** `wiki list`: a wiki's pages, its sources, or the wikis themselves. @module */
import { EXIT, Fault } from "../../../contracts/base/mod.ts";
import type { WikiSource } from "../../../contracts/memory/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, printJson, printLines } from "../../command.ts";
import { has } from "../../arguments/parse_arguments.ts";
import { tableLines } from "../../terminal/table.ts";
import { type IndexAnswer, readIndex, readSources } from "../../../memory-wiki/host/answers.ts";
import { clearanceOf, marksOf, momentText, shownPath, withWiki } from "../command.ts";
import { knownWikis } from "../place.ts";
import type { Basic } from "../../powers.ts";

/** Rows of one request to the wiki's process. */
const PAGE_ROWS = 1_000;
const DEFAULT_COLUMNS = 300;

/** `wiki list`, also with `--sources` and `--wikis`. */
export async function wikiList(command: Command<Basic | "wikis">): Promise<number> {
  const { powers, parsed } = command;
  const wikis = has(parsed, "wikis");
  if (wikis && has(parsed, "sources")) {
    throw new Fault("invalidInput", "Cannot list both: say --wikis or --sources");
  }
  if (wikis) {
    const all = knownWikis(command).map(({ folder }) => folder).sort();
    if (command.json) printJson(command, all);
    else printLines(command, all.map((each) => shownPath(powers.environment, each)));
    return EXIT.success;
  }
  return await withWiki(command, async (wiki) => {
    const clearance = clearanceOf(command);
    if (has(parsed, "sources")) {
      const all = await everyRow(
        async (last?: WikiSource) =>
          readSources(
            await wiki.ask("sources", { clearance, limit: PAGE_ROWS, afterId: last?.id ?? 0 }),
          ),
      );
      const rows = all.filter(({ state }) => state !== "superseded");
      if (command.json) printJson(command, rows);
      else printLines(command, sourceLines(command, rows));
    } else {
      const rows = await everyRow(
        async (last?: IndexAnswer) =>
          readIndex(await wiki.ask("index", { clearance, limit: PAGE_ROWS, after: last?.name })),
      );
      if (command.json) printJson(command, rows);
      else printLines(command, pageLines(command, rows));
    }
    return EXIT.success;
  });
}

/** All rows of a listing; `next` gives those after the last row so far. */
async function everyRow<T>(next: (last?: T) => Promise<readonly T[]>): Promise<readonly T[]> {
  const all: T[] = [];
  for (;;) {
    const rows = await next(all.at(-1));
    all.push(...rows);
    if (rows.length < PAGE_ROWS) return all;
  }
}

function pageLines(command: Command, rows: readonly IndexAnswer[]): readonly string[] {
  if (rows.length === 0) return ["no pages yet"];
  const { paint, outWidth } = command.powers.screen;
  const cells = rows.map((row) => [
    displayText(row.name, { max: 130 }),
    displayText(row.kind, { max: 12 }),
    [marksOf(command, row), row.stale ? paint.yellow("stale") : ""].filter((each) => each !== "")
      .join(" "),
    displayText(row.about === "" ? row.title : row.about, { max: 200 }),
  ]);
  return tableLines(["page", "kind", "", "about"], cells, outWidth ?? DEFAULT_COLUMNS);
}

function sourceLines(command: Command, rows: readonly WikiSource[]): readonly string[] {
  if (rows.length === 0) return ["no sources yet"];
  const { environment, screen } = command.powers;
  const cells = rows.map((row) => {
    const { origin } = row.provenance;
    const { expiresAt } = row;
    const until = expiresAt === undefined
      ? ""
      : `${expiresAt > environment.now() ? "until" : "ended"} ${
        momentText(expiresAt).slice(0, 10)
      }`;
    const state = row.state === "removed" ? "removed" : "";
    return [
      displayText(row.text, { max: 130 }),
      displayText(row.kind, { max: 12 }),
      [marksOf(command, row), until, state].filter((each) => each !== "").join(" "),
      momentText(row.ingestedAt),
      displayText(row.owner, { max: 40 }),
      origin.startsWith("/") ? shownPath(environment, origin) : displayText(origin, { max: 300 }),
    ];
  });
  return tableLines(
    ["source", "kind", "", "taken in", "owner", "from"],
    cells,
    screen.outWidth ?? DEFAULT_COLUMNS,
  );
}
