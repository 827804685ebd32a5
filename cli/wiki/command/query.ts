/** `wiki query`: the best passages, with place and origin; with `--answer` what a model makes of them. @module */
import { join } from "node:path";
import { EXIT, type ExitCode, Fault } from "../../../contracts/base/mod.ts";
import type { CheckedAnswer, WikiQuery } from "../../../contracts/wire/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { has, oneOf } from "../../arguments/parse_arguments.ts";
import { type Command, printJson, printLines } from "../../command.ts";
import { wordWrap } from "../../terminal/columns.ts";
import {
  type FoundAnswer,
  type PatchAnswer,
  readAnswer,
  readAnswerPlan,
  readFound,
  readPatch,
  type WorkAnswer,
} from "../../../memory-wiki/host/answers.ts";
import {
  clearanceOf,
  marksOf,
  type OpenWiki,
  operatorName,
  shownPath,
  wholeNumber,
  withWiki,
} from "../command.ts";
import { hitLines, nothingLines, wordsOf } from "../hit_lines.ts";
import { type Asked, openModel, refuseAbove, sayWhere, usd } from "../model/ask.ts";
import { type Expanded, expanded } from "../model/expand.ts";
import { rerank, RERANKED, sayReranked } from "../model/rerank.ts";
import { openEmbedder, wikiEmbedder } from "../model/vectors.ts";
import { decideNow, exitOfPatch } from "../patch.ts";
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
function foundDocument(question: WikiQuery, found: FoundAnswer): Readonly<Record<string, unknown>> {
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

/**
 * Answers a question, searched also in a model's words where its own find it in part or not (`before`: they were asked for already). Exit
 * code 68 when nothing fits: then no model is asked to answer.
 */
async function answerFromWiki(
  command: Command<Basic | "keyboard" | "mcpStore" | "models">,
  wiki: OpenWiki,
  question: WikiQuery,
  before?: Expanded["about"],
): Promise<number> {
  const plan = async (asked: WikiQuery) => readAnswerPlan(await wiki.ask("answerPlan", asked));
  let { found, ask } = await plan(question);
  let expand: Expanded["about"] | undefined = before;
  // Where the question's own words find the answer, other words are not paid for.
  if (found.fit !== "good" && before === undefined) {
    const wider = await expanded(command, wiki, question);
    expand = wider.about;
    if (wider.question.queries !== undefined) ({ found, ask } = await plan(wider.question));
  }
  const also = expand === undefined ? {} : { expand };
  if (ask === null || found.fit === "none") {
    if (command.json) {
      printJson(command, {
        question: question.text,
        fit: found.fit,
        answer: null,
        searched: found.searched,
        ...also,
      });
    } else printLines(command, nothingLines(command, found));
    return EXIT.lowConfidence;
  }
  const { answer: said, model } = await askModel(command, ask, expand?.cost_usd ?? 0);
  const checked = readAnswer(
    await wiki.ask("answerCheck", { question: question.text, text: said.text, found }),
  );
  const patch = has(command.parsed, "file") ? await file(command, wiki, checked, model) : undefined;
  if (command.json) {
    printJson(command, {
      question: question.text,
      fit: found.fit,
      answer: checked,
      model,
      cost_usd: said.money,
      tokens: said.inputTokens + said.outputTokens,
      ...also,
      ...(patch === undefined ? {} : { patch: patch.id, state: patch.state }),
    });
    return EXIT.success;
  }
  show(command, wiki, checked, said);
  if (patch === undefined) return EXIT.success;
  // Filing is a decision: at a terminal it is taken now, elsewhere it waits.
  return exitOfPatch(await decideNow(command, wiki, patch));
}

async function askModel(
  command: Command<Basic | "mcpStore" | "models">,
  ask: WorkAnswer,
  spent: number,
): Promise<{ readonly answer: Asked; readonly model: string }> {
  const model = await openModel(command);
  try {
    const { screen } = command.hands;
    sayWhere(command, model.providers);
    refuseAbove(command, model, ask, "answer", spent);
    screen.hint("  the model reads the passages …");
    const { system, user, responseSchema, maxTokens, label, colour } = ask;
    const answer = await model.ask({ system, user, responseSchema, maxTokens, label, colour });
    screen.hint("");
    return { answer, model: model.name };
  } finally {
    model.close();
  }
}

/** Proposes the answer as a page. */
async function file(
  command: Command,
  wiki: OpenWiki,
  answer: CheckedAnswer,
  model: string,
): Promise<PatchAnswer> {
  const by = operatorName(command.hands);
  return readPatch(await wiki.ask("answerFile", { answer, model, by }));
}

function show(command: Command, wiki: OpenWiki, answer: CheckedAnswer, said: Asked): void {
  const { screen, around } = command.hands;
  const { paint } = screen;
  const places = new Map<string, number>();
  const numberOfPlace = (text: string): number => {
    const known = places.get(text) ?? places.size + 1;
    places.set(text, known);
    return known;
  };
  const text = answer.sentences.map(({ text: sentence, citations, uncited }) => {
    const marks = citations.map(({ file: name, startLine, endLine }) => {
      const at = `${shownPath(around, join(wiki.place.folder, name))}:${startLine}`;
      return `[${numberOfPlace(endLine > startLine ? `${at}-${endLine}` : at)}]`;
    });
    const mark = uncited ? "(uncited)" : [...new Set(marks)].join("");
    return `${displayText(sentence, { max: 4_000 })} ${mark}`;
  }).join(" ");
  const lines = wordWrap(text, Math.min(screen.width, 100)).map((line) =>
    line.replaceAll("(uncited)", paint.yellow("(uncited)"))
  );
  const cited = [...places].map(([place, n]) => `  [${n}] ${paint.cyan(place)}`);
  printLines(command, [...lines, ...(cited.length === 0 ? [] : ["", ...cited])]);
  const uncited = answer.sentences.filter((each) => each.uncited).length;
  const about = [
    `${said.inputTokens} tokens in, ${said.outputTokens} out, ${usd(said.money)}`,
    marksOf(command, answer),
    uncited === 0
      ? ""
      : `${uncited} of ${answer.sentences.length} sentences have no citation that holds`,
    answer.dropped === 0 ? "" : `${answer.dropped} citations of the model's did not hold`,
  ].filter((each) => each !== "");
  screen.say(paint.dim(`  ${about.join(" · ")}`));
}
