/** `wiki init FOLDER`: makes a wiki, or takes in one that was moved or cloned. @module */
import { EXIT, Fault } from "../../../contracts/base/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, printJson, printLines } from "../../command.ts";
import { openWiki, shownPath } from "../command.ts";
import { forgetWiki, makeWikiPlace, rememberWiki } from "../place.ts";
import type { Basic } from "../../powers.ts";

export async function wikiInit(command: Command<Basic | "wikis">): Promise<number> {
  const { powers, parsed } = command;
  const { screen, environment } = powers;
  const place = makeWikiPlace(command, parsed.args[0] ?? "");
  const say = (line: string): void => screen.say(`  ${screen.paint.yellow("!")} ${line}`);
  try {
    const status = await openWiki(
      command,
      place,
      { create: true, say },
      (wiki) => Promise.resolve(wiki.link.status),
    );
    rememberWiki(command, place);
    if (command.json) {
      const { folder, adopted, known } = place;
      printJson(command, { folder, adopted, known, pages: status.pages, sources: status.sources });
      return EXIT.success;
    }
    const shown = shownPath(environment, place.folder);
    printLines(command, [
      place.known
        ? `${shown} is a wiki already: ${status.pages} pages, ${status.sources} sources`
        : place.adopted
        ? `took ${shown} in: ${status.pages} pages, ${status.sources} sources, none trusted above YELLOW or below internal`
        : `made a wiki in ${shown}: raw/, pages/, index.md, log.md, AGENTS.md`,
    ]);
    for (const [words, why] of NEXT) {
      const call = displayText(`${environment.command} ${words}`, { max: 300 });
      screen.say(`  ${screen.paint.cyan(call.padEnd(44))} ${why}`);
    }
    return EXIT.success;
  } catch (error) {
    // A folder in which making a wiki failed must not count as known.
    if (!place.known && error instanceof Fault) forgetWiki(command, place);
    throw error;
  }
}

const NEXT: readonly (readonly [string, string])[] = [
  ["wiki ingest PATH", "takes documents in"],
  ['wiki query "…"', "asks"],
  ["wiki lint", "looks for what has gone wrong"],
];
