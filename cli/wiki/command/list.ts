/** `wiki list`: a wiki's pages, its sources, or the wikis themselves. @module */
import { EXIT, Fault } from "../../../contracts/base/mod.ts";
import type { WikiSource } from "../../../contracts/memory/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, printJson, printLines } from "../../command.ts";
import { has } from "../../arguments/parse_arguments.ts";
import { tableLines } from "../../terminal/table.ts";
import { type IndexAnswer, readIndex, readSources } from "../../../memory-wiki/host/answers.ts";
import {
  clearanceOf,
  marksOf,
  momentText,
  type OpenWiki,
  shownPath,
  withWiki,
} from "../command.ts";
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
    const { rows, lines } = has(parsed, "sources")
      ? await listed(wikiSources(command, wiki), (all) => sourceLines(command, all))
      : await listed(wikiPages(command, wiki), (all) => pageLines(command, all));
    if (command.json) printJson(command, rows);
    else printLines(command, lines);
    return EXIT.success;
  });
}

async function listed<T>(
  found: AsyncIterable<readonly T[]>,
  show: (rows: readonly T[]) => readonly string[],
): Promise<{ readonly rows: readonly unknown[]; readonly lines: readonly string[] }> {
  const rows = (await Array.fromAsync(found)).flat();
  return { rows, lines: show(rows) };
}

async function* wikiPages(
  command: Command,
  wiki: OpenWiki,
): AsyncGenerator<readonly IndexAnswer[]> {
  const body = { clearance: clearanceOf(command), limit: PAGE_ROWS };
  let after: string | undefined;
  do {
    const rows = readIndex(
      await wiki.ask("index", after === undefined ? body : { ...body, after }),
    );
    yield rows;
    after = rows.length < PAGE_ROWS ? undefined : rows.at(-1)?.name;
  } while (after !== undefined);
}

async function* wikiSources(
  command: Command,
  wiki: OpenWiki,
): AsyncGenerator<readonly WikiSource[]> {
  const body = { clearance: clearanceOf(command), limit: PAGE_ROWS };
  for (let afterId = 0;;) {
    const rows = readSources(await wiki.ask("sources", { ...body, afterId }));
    yield rows.filter(({ state }) => state !== "superseded");
    afterId = rows.at(-1)?.id ?? afterId;
    if (rows.length < PAGE_ROWS) return;
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
