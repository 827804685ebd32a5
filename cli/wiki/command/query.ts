/** `wiki query`: finds passages; with `--answer`, a model answers from them. @module */
import { Fault } from "../../../contracts/base/mod.ts";
import type { WikiQuery } from "../../../contracts/wire/wire_wiki.ts";
import { has, oneOf } from "../../arguments/parse_arguments.ts";
import { type LazyCommand, printJson } from "../../command.ts";
import type { Basic } from "../../powers.ts";
import { readFound } from "../../../memory-wiki/host/answers.ts";
import { clearanceOf, numberOf, type OpenWiki, withWiki } from "../command.ts";
import { DEFAULT_PASSAGES, exitOfFound, foundDocument, printFound } from "../hit_lines.ts";
import { wikiEmbedder } from "../place.ts";

const MAX_QUESTION_CHARS = 4_096;
/** Loaded only for queries that need a model: triples the modules of a query by words. */
const withModel = async (): Promise<typeof import("./query_model.ts")> =>
  await import("./query_model.ts");

/** A command whose powers over models are loaded on demand. */
type QueryCommand = LazyCommand<Basic | "keyboard" | "wikis", "mcpStore" | "models">;

/** The question, with its vector where the wiki has vectors. Throws `invalidInput`, `tooLarge`. */
async function questionOf(
  command: QueryCommand,
  wiki: OpenWiki,
): Promise<WikiQuery> {
  const { parsed } = command;
  const text = parsed.args.join(" ").trim();
  if (text === "") throw new Fault("invalidInput", "Cannot ask the wiki: the question is empty");
  if (text.length > MAX_QUESTION_CHARS) {
    throw new Fault(
      "tooLarge",
      `Cannot ask the wiki: a question has at most ${MAX_QUESTION_CHARS} characters`,
    );
  }
  const within = oneOf(parsed, "within", ["pages", "sources"]);
  const embedder = has(parsed, "no-vectors") ? undefined : wikiEmbedder(command, wiki.place);
  const vector = embedder === undefined
    ? undefined
    : await (await withModel()).vectorOf(await command.more(), embedder, text);
  return {
    text,
    k: numberOf(command, "k", 100, "whole") ?? DEFAULT_PASSAGES,
    clearance: clearanceOf(command),
    ...(within === undefined ? {} : { within }),
    ...(vector === undefined ? {} : { vector }),
  };
}

export async function wikiQuery(
  command: QueryCommand,
): Promise<number> {
  const { parsed } = command;
  if (!has(parsed, "answer")) {
    const asks = has(parsed, "rerank") || has(parsed, "expand");
    for (const name of ["file", "no-expand", ...(asks ? [] : ["model", "max-cost"])]) {
      if (!has(parsed, name)) continue;
      const ofAnswer = name === "file" || name === "no-expand";
      const goes = ofAnswer ? "--answer" : "--answer, --expand or --rerank";
      throw new Fault("invalidInput", `Cannot read --${name}: it goes with ${goes}`);
    }
  } else if (has(parsed, "rerank")) {
    throw new Fault("invalidInput", "Cannot read --rerank: --answer chooses its passages itself");
  }
  return await withWiki(command, async (wiki) => {
    const asked = await questionOf(command, wiki);
    const bare = !["answer", "rerank", "expand"].some((name) => has(parsed, name));
    if (!bare) return await (await withModel()).queryWithModel(await command.more(), wiki, asked);
    const found = readFound(await wiki.ask("query", asked));
    if (command.json) printJson(command, foundDocument(asked, found));
    else printFound(command, wiki, asked, found);
    return exitOfFound(found);
  });
}
