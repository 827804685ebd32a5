/** `wiki query`: the best passages, with place and origin; with `--answer` what a model makes of them. @module */
import { EXIT, type ExitCode, Fault, type WikiQuery } from "../../../contracts/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, printJson, printLines } from "../../command.ts";
import { has, oneOf } from "../../arguments/parse_arguments.ts";
import { type FoundAnswer, readFound } from "../answers.ts";
import { answerFromWiki } from "./answer.ts";
import { clearanceOf, type OpenWiki, wholeNumber, withWiki } from "../command.ts";
import { hitLines, nothingLines, wordsOf } from "../hit_lines.ts";
import { type Expanded, expanded } from "../model/expand.ts";
import { rerank, RERANKED, sayReranked } from "../model/rerank.ts";
import { openEmbedder, wikiEmbedder } from "../model/vectors.ts";
import type { Basic } from "../../hands.ts";

const PASSAGES = 5;
const LONGEST = 4_096;

/** The question of a command, with its vector where the wiki has vectors. */
async function questionOf(
  command: Command<Basic | "mcpStore" | "models">,
  wiki: OpenWiki,
): Promise<WikiQuery> {
  const { parsed } = command;
  const text = parsed.args.join(" ").trim();
  if (text === "") throw new Fault("invalidInput", "Cannot ask the wiki: the question is empty");
  if (text.length > LONGEST) {
    throw new Fault(
      "tooLarge",
      `Cannot ask the wiki: a question has at most ${LONGEST} characters`,
    );
  }
  const within = oneOf(parsed, "within", ["pages", "sources"]);
  const vector = await vectorOf(command, wiki, text);
  return {
    text,
    k: wholeNumber(command, "k", { least: 1, most: 100 }) ?? PASSAGES,
    clearance: clearanceOf(command),
    ...(within === undefined ? {} : { within }),
    ...(vector === undefined ? {} : { vector }),
  };
}

/** A wiki without vectors is asked by words alone; so is one whose embedder cannot be reached, and it is said. */
async function vectorOf(
  command: Command<Basic | "mcpStore" | "models">,
  wiki: OpenWiki,
  text: string,
): Promise<WikiQuery["vector"]> {
  const name = wikiEmbedder(command, wiki.place);
  if (name === undefined || has(command.parsed, "no-vectors")) return undefined;
  const { screen } = command.hands;
  try {
    const embedder = await openEmbedder(command, name);
    try {
      // A question is the operator's own words, and as confidential as those.
      const { vectors } = await embedder.embed([text], "internal", 1);
      const [values] = vectors;
      return values === undefined ? undefined : { embedder: embedder.vectors, values };
    } finally {
      embedder.close();
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const why = displayText(error.message, { max: 300 });
    screen.say(`  ${screen.paint.yellow("!")} searched by words alone: ${why}`);
    return undefined;
  }
}

/** What was found, as JSON: stable. */
function foundDocument(
  question: WikiQuery,
  found: FoundAnswer,
): Readonly<Record<string, unknown>> {
  const { text, queries } = question;
  const { fit, hits, searched } = found;
  return { question: text, fit, hits, searched, ...(queries === undefined ? {} : { queries }) };
}

/** Prints what was found; the best first. */
function printFound(
  command: Command,
  { place }: OpenWiki,
  question: WikiQuery,
  found: FoundAnswer,
): void {
  const { screen } = command.hands;
  if (found.fit === "none") return printLines(command, nothingLines(command, found));
  const words = wordsOf(question.text, found.searched.terms);
  if (found.fit === "weak") {
    screen.say(screen.paint.yellow("  The best of these fits only in part."));
  }
  found.hits.forEach((hit, n) => {
    printLines(command, [...(n === 0 ? [] : [""]), ...hitLines(command, place, hit, words)]);
  });
}

/** The exit code of a query: 68 when nothing fits. */
function exitOfFound({ fit }: FoundAnswer): ExitCode {
  return fit === "none" ? EXIT.lowConfidence : EXIT.success;
}

async function queryReranked(
  command: Command<Basic | "mcpStore" | "models">,
  wiki: OpenWiki,
  question: WikiQuery,
  expand: Expanded["about"] | undefined,
): Promise<number> {
  const k = question.k ?? PASSAGES;
  const wide = { ...question, k: Math.max(k, RERANKED) };
  const all = readFound(await wiki.ask("query", wide));
  const ranked = all.fit === "none"
    ? undefined
    : await rerank(command, question, all, expand?.cost_usd);
  const ordered = ranked?.found ?? all;
  const found = { ...ordered, hits: ordered.hits.slice(0, k) };
  const also = expand === undefined ? {} : { expand };
  if (command.json) {
    printJson(command, {
      ...foundDocument(question, found),
      rerank: ranked?.about ?? null,
      ...also,
    });
  } else {
    printFound(command, wiki, question, found);
    if (ranked !== undefined) sayReranked(command, ranked);
  }
  return exitOfFound(found);
}

/** Runs the command. */
export async function wikiQuery(
  command: Command<Basic | "keyboard" | "mcpStore" | "models" | "wikis">,
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
    const wider = has(parsed, "expand")
      ? await expanded(command, wiki, asked)
      : { question: asked };
    const { question, about: expand } = wider;
    if (has(parsed, "answer")) return await answerFromWiki(command, wiki, question, expand);
    if (has(parsed, "rerank")) return await queryReranked(command, wiki, question, expand);
    const found = readFound(await wiki.ask("query", question));
    const also = expand === undefined ? {} : { expand };
    if (command.json) printJson(command, { ...foundDocument(question, found), ...also });
    else printFound(command, wiki, question, found);
    return exitOfFound(found);
  });
}
