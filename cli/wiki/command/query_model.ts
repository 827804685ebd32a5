/** `wiki query` with a model: phrasings, order of passages, answers, vectors. @module */
import { join } from "node:path";
import { EXIT, Fault } from "../../../contracts/base/mod.ts";
import type { CheckedAnswer, WikiQuery } from "../../../contracts/wire/wire_wiki.ts";
import { displayText } from "../../../text/mod.ts";
import { has } from "../../arguments/parse_arguments.ts";
import { type Command, printJson, printLines } from "../../command.ts";
import type { Basic } from "../../powers.ts";
import { wordWrap } from "../../terminal/columns.ts";
import {
  readAnswer,
  readAnswerPlan,
  readFound,
  readPatch,
  type WorkAnswer,
} from "../../../memory-wiki/host/answers.ts";
import { marksOf, type OpenWiki, operatorName, shownPath } from "../command.ts";
import {
  DEFAULT_PASSAGES,
  exitOfFound,
  foundDocument,
  nothingLines,
  printFound,
} from "../hit_lines.ts";
import { type Asked, openModel, refuseAbove, sayWhere, usd } from "../model/ask.ts";
import { type Expanded, expanded } from "../model/expand.ts";
import { MAX_RERANKED, rerank, sayReranked } from "../model/rerank.ts";
import { openEmbedder } from "../model/vectors.ts";
import { decideNow, exitOfPatch } from "../patch.ts";

/** A question's vector; undefined, with a warning, where the wiki's embedder is unreachable. */
export async function vectorOf(
  command: Command<Basic | "mcpStore" | "models">,
  name: string,
  text: string,
): Promise<WikiQuery["vector"]> {
  const { screen } = command.powers;
  try {
    const embedder = await openEmbedder(command, name);
    try {
      // The question is the operator's own text, hence internal.
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

/** Runs `wiki query` with `--answer`, `--rerank` or `--expand`; returns the exit code. */
export async function queryWithModel(
  command: Command<Basic | "keyboard" | "mcpStore" | "models">,
  wiki: OpenWiki,
  asked: WikiQuery,
): Promise<number> {
  const { parsed } = command;
  const wider = has(parsed, "expand") ? await expanded(command, wiki, asked) : { question: asked };
  const { question, about: expand } = wider;
  if (has(parsed, "answer")) return await answerFromWiki(command, wiki, question, expand);
  if (has(parsed, "rerank")) return await queryReranked(command, wiki, question, expand);
  const found = readFound(await wiki.ask("query", question));
  if (command.json) printJson(command, { ...foundDocument(question, found), expand });
  else printFound(command, wiki, question, found);
  return exitOfFound(found);
}

async function queryReranked(
  command: Command<Basic | "mcpStore" | "models">,
  wiki: OpenWiki,
  question: WikiQuery,
  expand: Expanded["about"] | undefined,
): Promise<number> {
  const k = question.k ?? DEFAULT_PASSAGES;
  const wide = { ...question, k: Math.max(k, MAX_RERANKED) };
  const all = readFound(await wiki.ask("query", wide));
  const ranked = all.fit === "none"
    ? undefined
    : await rerank(command, question, all, expand?.cost_usd);
  const ordered = ranked?.found ?? all;
  const found = { ...ordered, hits: ordered.hits.slice(0, k) };
  if (command.json) {
    const document = foundDocument(question, found);
    printJson(command, { ...document, rerank: ranked?.about ?? null, expand });
  } else {
    printFound(command, wiki, question, found);
    if (ranked !== undefined) sayReranked(command, ranked);
  }
  return exitOfFound(found);
}

/**
 * Answers a question from passages; one whose own words find only weak passages is rephrased first
 * (`before`: it already was). Exit code 68 when no passage fits; then no model is asked.
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
  // A question whose own words find good passages is not rephrased: that would cost money.
  if (found.fit !== "good" && before === undefined) {
    const wider = await expanded(command, wiki, question);
    expand = wider.about;
    if (wider.question.queries !== undefined) ({ found, ask } = await plan(wider.question));
  }
  const { fit, searched } = found;
  if (ask === null || fit === "none") {
    if (command.json) {
      printJson(command, { question: question.text, fit, answer: null, searched, expand });
    } else printLines(command, nothingLines(command, found));
    return EXIT.lowConfidence;
  }
  const { answer: said, model } = await askModel(command, ask, expand?.cost_usd ?? 0);
  const checked = readAnswer(
    await wiki.ask("answerCheck", { question: question.text, text: said.text, found }),
  );
  const by = operatorName(command.powers);
  const patch = has(command.parsed, "file")
    ? readPatch(await wiki.ask("answerFile", { answer: checked, model, by }))
    : undefined;
  if (command.json) {
    printJson(command, {
      ...{ question: question.text, fit, answer: checked, model, cost_usd: said.money },
      tokens: said.inputTokens + said.outputTokens,
      ...{ expand, patch: patch?.id, state: patch?.state },
    });
    return EXIT.success;
  }
  show(command, wiki, checked, said);
  if (patch === undefined) return EXIT.success;
  // At a terminal the proposed page is decided now; elsewhere it waits for review.
  return exitOfPatch(await decideNow(command, wiki, patch));
}

async function askModel(
  command: Command<Basic | "mcpStore" | "models">,
  ask: WorkAnswer,
  spent: number,
): Promise<{ readonly answer: Asked; readonly model: string }> {
  const model = await openModel(command);
  try {
    const { screen } = command.powers;
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

function show(command: Command, wiki: OpenWiki, answer: CheckedAnswer, said: Asked): void {
  const { screen, environment } = command.powers;
  const { paint } = screen;
  const places = new Map<string, number>();
  const numberOfPlace = (text: string): number => {
    const known = places.get(text) ?? places.size + 1;
    places.set(text, known);
    return known;
  };
  const text = answer.sentences.map(({ text: sentence, citations, uncited }) => {
    const marks = citations.map(({ file: name, startLine, endLine }) => {
      const at = `${shownPath(environment, join(wiki.place.folder, name))}:${startLine}`;
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
