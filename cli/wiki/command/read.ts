/** `wiki status|history|diff|log`: the state of a wiki and how it changed. @module */
import { EXIT, Fault } from "../../../contracts/base/mod.ts";
import type { PageName } from "../../../contracts/memory/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, printJson, printJsonLines, printLines } from "../../command.ts";
import { has } from "../../arguments/parse_arguments.ts";
import { tableLines } from "../../terminal/table.ts";
import {
  readDiff,
  readLog,
  readPage,
  readProblem,
  readStatus,
} from "../../../memory-wiki/host/answers.ts";
import { clearanceOf, counted, EVERYTHING, momentText, pageNameOf, withWiki } from "../command.ts";
import { diffLines } from "../patch.ts";
import type { Basic } from "../../powers.ts";

const EVENTS_PER_REQUEST = 500;

/** A small wiki's index is built for each question: loading a stored one would take longer. */
const INDEX_WORDS = {
  fresh: "fresh",
  behind: "takes in the latest changes with the next question",
  missing: 'none is kept: it is made when something is asked ("remit wiki reindex" keeps one)',
};

/** `wiki status`: counts of pages, sources, waiting patches and notes; the state of the index. */
export async function wikiStatus(command: Command<Basic | "wikis">): Promise<number> {
  return await withWiki(command, async (wiki) => {
    const status = readStatus(await wiki.ask("status", null));
    if (command.json) printJson(command, { ...status, folder: wiki.place.folder });
    else {
      printLines(command, [
        `folder    ${displayText(wiki.place.folder, { max: 500 })}`,
        `pages     ${status.pages}`,
        `sources   ${status.sources} in ${counted(status.passages, "passage")}`,
        `index     ${INDEX_WORDS[status.index]}`,
        `patches   ${status.patches === 0 ? "none waits" : `${status.patches} wait for review`}`,
        `notes     ${status.notesWaiting === 0 ? "none waits" : `${status.notesWaiting} wait`}`,
      ]);
    }
    return EXIT.success;
  });
}

/** `wiki history PAGE`. */
export async function wikiHistory(command: Command<Basic | "wikis">): Promise<number> {
  const name = pageNameOf(command.parsed.args[0] ?? "");
  return await withWiki(command, async (wiki) => {
    const { page, history, backlinks } = readPage(
      await wiki.ask("page", { clearance: clearanceOf(command), name }),
    );
    if (command.json) printJson(command, { page, history, backlinks });
    else {
      const rows = history.map((each) => [
        String(each.version),
        momentText(each.at),
        displayText(each.author, { max: 60 }),
        each.digest.slice(0, 16),
        each.deleted ? "deleted" : `${each.colour} ${each.label}`,
      ]);
      printLines(command, tableLines(["version", "at", "by", "digest", "as"], rows, 160));
      const { reviewed } = page;
      if (reviewed !== undefined) {
        const by = displayText(reviewed.by, { max: 100 });
        command.powers.screen.say(
          `  version ${page.version} was reviewed by ${by}, ${momentText(reviewed.at)}`,
        );
      }
    }
    return EXIT.success;
  });
}

function versionArgument(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Fault("invalidInput", `Cannot read "${text}" as a version: it is a number from 1`);
}

/** `wiki diff PAGE [A] [B]`: two versions, by default the last two. */
export async function wikiDiff(command: Command<Basic | "wikis">): Promise<number> {
  const [text = "", a, b] = command.parsed.args;
  const name: PageName = pageNameOf(text);
  const given = [versionArgument(a), versionArgument(b)];
  return await withWiki(command, async (wiki) => {
    const { page } = readPage(await wiki.ask("page", { clearance: EVERYTHING, name }));
    const to = given[1] ?? page.version;
    const from = given[0] ?? Math.max(1, to - 1);
    const { diff } = readDiff(await wiki.ask("diff", { name, from, to }));
    if (command.json) printJson(command, { page: name, from, to, diff });
    else printLines(command, diffLines(command.powers.screen.paint, diff));
    return EXIT.success;
  });
}

/** `wiki log`: the append-only record; `--verify` checks its chain. */
export async function wikiLog(command: Command<Basic | "wikis">): Promise<number> {
  const { parsed, powers } = command;
  return await withWiki(command, async (wiki) => {
    if (has(parsed, "verify")) {
      const { problem } = readProblem(await wiki.ask("logVerify", null));
      if (command.json) printJson(command, { ok: problem === null, problem });
      else {
        printLines(command, [
          problem === null
            ? "the record holds"
            : `the record does NOT hold: ${displayText(problem, { max: 500 })}`,
        ]);
      }
      return problem === null ? EXIT.success : EXIT.failure;
    }
    for (let afterN = 0;;) {
      const events = readLog(await wiki.ask("log", { afterN, limit: EVENTS_PER_REQUEST }));
      if (command.json) printJsonLines(command, events);
      else {
        printLines(
          command,
          events.map((each) =>
            `${momentText(each.at)}  ${displayText(each.kind, { max: 20 }).padEnd(9)}  ${
              displayText(each.by, { max: 40 })
            }  ${displayText(each.text, { max: 400 })}`
          ),
        );
      }
      const last = events.at(-1)?.n ?? afterN;
      if (events.length < EVENTS_PER_REQUEST || last <= afterN) break;
      afterN = last;
    }
    powers.screen.hint("");
    return EXIT.success;
  });
}
