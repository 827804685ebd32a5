/** The documents and questions that retrieval is measured with: bench/_data/wiki_questions.json. @module */
import * as z from "zod";

const HOME = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");
const MAP = `${HOME}/bench/_data/wiki_questions_package.json`;

/** How a question was written. */
export const KINDS = ["lexical", "paraphrased", "unanswerable"] as const;
/** One of {@link KINDS}. */
export type Kind = (typeof KINDS)[number];

const QuestionSet = z.object({
  package: z.string(),
  folder: z.string(),
  questions: z.array(
    z.object({
      kind: z.enum(KINDS),
      /** What numbers were chosen on, and what they are reported on. */
      half: z.enum(["tuning", "held"]),
      question: z.string(),
      answers: z.array(z.object({ document: z.string(), snippet: z.string() }).strict()).optional(),
    }).strict(),
  ),
}).strict();

/** A document of the package. */
export interface Document {
  readonly name: string;
  readonly title: string;
  readonly text: string;
}

/** A question with the lines that answer it. */
export interface Question {
  readonly kind: Kind;
  readonly half: "tuning" | "held";
  readonly question: string;
  /** Line from 1. */
  readonly answers: readonly { readonly document: string; readonly line: number }[];
}

/** Fetches the package (once, 1.4 MB) and reads its documents. */
export async function readDocuments(): Promise<readonly Document[]> {
  await runDeno(["install", "--quiet", "--config", MAP]);
  const script = `${HOME}/bench/wiki/documents.ts`;
  const printed = await runDeno([
    ...["run", "--quiet", "--no-prompt", "--no-check", "--allow-read", "--config", MAP, script],
  ]);
  const documents = z.array(z.tuple([z.string(), z.string()])).parse(JSON.parse(printed));
  return documents.map(([name, text]) => ({
    name,
    title: /^title:[ \t]*"?(.*?)"?[ \t]*$/m.exec(text)?.[1] ?? name,
    text,
  }));
}

/** Reads the questions. Throws when a snippet is not in its document: the package is another than was read. */
export function readQuestions(documents: readonly Document[]): readonly Question[] {
  const file = new URL("../_data/wiki_questions.json", import.meta.url);
  const { questions } = QuestionSet.parse(JSON.parse(Deno.readTextFileSync(file)));
  const texts = new Map(documents.map(({ name, text }) => [name, text.split("\n")]));
  return questions.map(({ kind, half, question, answers = [] }) => ({
    kind,
    half,
    question,
    answers: answers.flatMap(({ document, snippet }) => {
      const lines = (texts.get(document) ?? []).flatMap((line, n) =>
        line.includes(snippet) ? [{ document, line: n + 1 }] : []
      );
      if (lines.length === 0) throw new Error(`Cannot find "${snippet}" in ${document}`);
      return lines;
    }),
  }));
}

async function runDeno(args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`Cannot read the corpus: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}
