/** `wiki review`: lists or decides waiting patches, or records that a person read a page. @module */
import { EXIT, Fault } from "../../../contracts/base/mod.ts";
import { PatchName } from "../../../contracts/memory/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, commandText, idOf, printJson, printLines } from "../../command.ts";
import { flag, has } from "../../arguments/parse_arguments.ts";
import { tableLines } from "../../terminal/table.ts";
import { readMarked, readPage, readPatches } from "../../../memory-wiki/host/answers.ts";
import {
  EVERYTHING,
  marksOf,
  momentText,
  numberOf,
  type OpenWiki,
  operatorName,
  pageNameOf,
  withWiki,
} from "../command.ts";
import {
  decide,
  decideAll,
  decideMany,
  decideNow,
  diffLines,
  exitOfPatch,
  sayPatch,
  showPatch,
} from "../patch.ts";
import type { Basic } from "../../powers.ts";

export async function wikiReview(command: Command<Basic | "keyboard" | "wikis">): Promise<number> {
  const { parsed } = command;
  const [id] = parsed.args;
  const page = flag(parsed, "page");
  if (has(parsed, "apply") && has(parsed, "reject")) {
    throw new Fault("invalidInput", "Cannot review: --apply and --reject cannot both be");
  }
  if (has(parsed, "all") && (id !== undefined || page !== undefined)) {
    throw new Fault("invalidInput", "Cannot review: --all names every patch that waits already");
  }
  if (page !== undefined && id !== undefined) {
    throw new Fault("invalidInput", "Cannot review: name a patch or a page, not both");
  }
  return await withWiki(command, async (wiki) => {
    if (page !== undefined) return await reviewPage(command, wiki, page);
    if (has(parsed, "all")) return await reviewAll(command, wiki);
    return id === undefined ? await list(command, wiki) : await reviewPatch(command, wiki, id);
  });
}

/** Decides every waiting patch, by a flag or by asking at the terminal. */
async function reviewAll(command: Command<Basic | "keyboard">, wiki: OpenWiki): Promise<number> {
  const { parsed, powers } = command;
  const patches = readPatches(await wiki.ask("patches", { state: "proposed" }));
  if (patches.length === 0) return await list(command, wiki);
  const flagged = has(parsed, "apply") || has(parsed, "reject");
  if (!flagged && powers.keyboard === undefined) {
    throw new Fault(
      "refused",
      "Cannot decide all: nobody is at a terminal; add --apply or --reject",
    );
  }
  const decided = flagged
    ? await decideAll(command, wiki, patches, has(parsed, "apply"))
    : await decideMany(command, wiki, patches);
  if (command.json) printJson(command, decided.map(({ id, state }) => ({ id, state })));
  return decided.some(({ state }) => state === "conflict") ? EXIT.failure : EXIT.success;
}

async function list(command: Command, wiki: OpenWiki): Promise<number> {
  const patches = readPatches(await wiki.ask("patches", { state: "proposed" }));
  if (command.json) {
    printJson(command, patches);
    return EXIT.success;
  }
  if (patches.length === 0) {
    printLines(command, ["no patch waits"]);
    return EXIT.success;
  }
  const rows = patches.map((each) => [
    each.id,
    momentText(each.createdAt),
    String(each.changes.length),
    marksOf(command, each),
    displayText(`${each.author}: ${each.reason}`, { max: 200 }),
  ]);
  const { screen } = command.powers;
  printLines(
    command,
    tableLines(["patch", "at", "pages", "", "by and why"], rows, screen.outWidth ?? 200),
  );
  screen.say(screen.paint.cyan(`  ${commandText(command, "wiki review PATCH")}`));
  return EXIT.success;
}

async function reviewPatch(
  command: Command<Basic | "keyboard">,
  wiki: OpenWiki,
  text: string,
): Promise<number> {
  const { parsed, powers } = command;
  const id = idOf(PatchName, text, "patch");
  if (has(parsed, "apply") || has(parsed, "reject")) {
    const decided = await decide(command, wiki, { id, apply: has(parsed, "apply") });
    if (command.json) printJson(command, decided);
    return exitOfPatch(decided);
  }
  const { patch, diff } = await showPatch(command, wiki, id);
  if (command.json) {
    printJson(command, { patch, diff });
    return EXIT.success;
  }
  if (patch.state === "proposed" && powers.keyboard !== undefined) {
    const decided = await decideNow(command, wiki, patch);
    return decided.state === "proposed" ? EXIT.success : exitOfPatch(decided);
  }
  printLines(command, diffLines(powers.screen.paint, diff));
  if (patch.state === "proposed") {
    powers.screen.say(`  --apply or --reject decides it`);
  } else sayPatch(command, patch);
  return EXIT.success;
}

/** Records that a person has read this version of a page and found it right. */
async function reviewPage(command: Command, wiki: OpenWiki, text: string): Promise<number> {
  const name = pageNameOf(text);
  const { page } = readPage(await wiki.ask("page", { clearance: EVERYTHING, name }));
  const version = numberOf(command, "at", 1_000_000, "whole") ?? page.version;
  const by = operatorName(command.powers);
  const marked = readMarked(await wiki.ask("review", { name, version, by }));
  if (command.json) printJson(command, marked);
  else {printLines(command, [
      `version ${version} of ${name} is reviewed by ${displayText(by, { max: 100 })}`,
    ]);}
  return EXIT.success;
}
