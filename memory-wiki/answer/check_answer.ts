/** A model's answer, sentence by sentence: each citation is held against what was shown and what stands there. @module */
import type { CheckedAnswer, Hit } from "../../contracts/mod.ts";
import { parseAnswerJson } from "../ingest/answer_json.ts";
import { wordingProblem } from "../ingest/check_extraction.ts";
import { sentencesOf } from "../markdown/mod.ts";
import type { OpenWiki } from "../ops/open_wiki.ts";
import { trustOf } from "./plan_answer.ts";
import { AnswerV1, MOST_SENTENCES } from "./schema_v1.ts";
import { citationOf, type Snippet, snippetsOf } from "./snippets.ts";

/** What came back. */
export interface AnswerAsk {
  readonly question: string;
  readonly text: string;
  readonly found: { readonly hits: readonly Hit[] };
}

type Sentence = AnswerV1["sentences"][number];
type Checked = CheckedAnswer["sentences"][number];

/** `[2]`, `[2:31-33]`: how models cite in prose. */
const MARK = /\s?\[(\d{1,3})(?::(\d{1,9})(?:-(\d{1,9}))?)?\]/g;

/** The answer's sentences, also of one that is prose. */
function sentencesIn(text: string, snippets: readonly Snippet[]): readonly Sentence[] {
  const parsed = AnswerV1.safeParse(parseAnswerJson(text));
  if (parsed.success) return parsed.data.sentences;
  const prose = text.slice(0, 20_000).replace(
    /([.!?])((?:\s?\[\d{1,3}(?::\d[\d-]*)?\])+)/g,
    "$2$1",
  );
  return sentencesOf(prose).slice(0, MOST_SENTENCES).map(({ start, end }) => {
    const sentence = prose.slice(start, end);
    const citations = [...sentence.matchAll(MARK)].slice(0, 8).map(
      ([, number, from, to = from]) => {
        const snippet = snippets.find((each) => each.number === Number(number));
        const first = snippet?.startLine ?? 1;
        const last = first + (snippet?.lines.length ?? 1) - 1;
        return {
          snippet: Number(number),
          startLine: from === undefined ? first : Number(from),
          endLine: to === undefined ? last : Number(to),
        };
      },
    );
    return { text: sentence.replace(MARK, "").trim().slice(0, 1_000), citations };
  }).filter((sentence) => sentence.text !== "");
}

/** The snippet's lines that a citation names; undefined where they were not shown. */
function shownText(
  snippet: Snippet | undefined,
  { startLine, endLine }: Sentence["citations"][number],
): string | undefined {
  if (snippet === undefined || endLine < startLine) return undefined;
  const from = startLine - snippet.startLine;
  const to = endLine - snippet.startLine;
  return from < 0 || to >= snippet.lines.length
    ? undefined
    : snippet.lines.slice(from, to + 1).join("\n");
}

/**
 * Checks the answer. A citation holds when its snippet and lines were shown, still stand in the file, and speak of
 * what the sentence says; a sentence that none holds for is marked.
 */
export function checkAnswer(
  { store }: OpenWiki,
  { question, text, found }: AnswerAsk,
): CheckedAnswer {
  // Read anew: what a file says now is what a citation must hold for.
  const snippets = snippetsOf(store, found.hits);
  let dropped = 0;
  let note = 0;
  const sentences = sentencesIn(text, snippets).map((sentence): Checked => {
    const named = sentence.citations.flatMap((cited) => {
      const snippet = snippets.find(({ number }) => number === cited.snippet);
      const said = shownText(snippet, cited);
      return snippet === undefined || said === undefined ? [] : [{ snippet, cited, said }];
    });
    const all = named.map(({ said }) => said).join("\n");
    const holding = wordingProblem(sentence.text, all) === undefined ? named : [];
    dropped += sentence.citations.length - holding.length;
    return {
      text: sentence.text,
      citations: holding.map(({ snippet, cited }) => citationOf(String(++note), snippet, cited)),
      uncited: holding.length === 0,
    };
  });
  // What has changed since was shown all the same.
  return { question, sentences, dropped, ...trustOf([...snippets, ...found.hits]) };
}
