/**
 * The documents and questions that retrieval is measured with: bench/_data/wiki_questions.json, whose phrasings are a model's that saw the
 * questions alone (wiki_phrasings.json), and documents that no model can know, with facts that were made up (wiki_invented.json).
 * @module
 */
import * as z from "zod";

const HOME = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");
const MAP = `${HOME}/bench/_data/wiki_questions_package.json`;

/** How a question was written. */
export const KINDS = ["lexical", "paraphrased", "unanswerable"] as const;
/** One of {@link KINDS}. */
export type Kind = (typeof KINDS)[number];

const Written = z.object({
  kind: z.enum(KINDS),
  question: z.string(),
  answers: z.array(z.object({ document: z.string(), snippet: z.string() }).strict()).optional(),
}).strict();
const QuestionSet = z.object({
  package: z.string(),
  folder: z.string(),
  /** Half: what numbers were chosen on, and what they are reported on. */
  questions: z.array(Written.extend({ half: z.enum(["tuning", "held"]) })),
}).strict();
const Invented = z.object({
  documents: z.array(z.object({ name: z.string(), text: z.string() }).strict()),
  questions: z.array(Written.extend({ queries: z.array(z.string()) })),
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
  /** The question as a model words it that saw nothing else; none of the tuning half. */
  readonly queries: readonly string[];
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
  const { questions } = QuestionSet.parse(readData("wiki_questions.json"));
  const phrasings = z.record(z.string(), z.array(z.string())).parse(
    readData("wiki_phrasings.json"),
  );
  return questions.map((each) => placed(documents, each, phrasings[each.question] ?? []));
}

/** Documents with facts that were made up, and questions about them. */
export function readInvented(): {
  readonly documents: readonly Document[];
  readonly questions: readonly Question[];
} {
  const { documents, questions } = Invented.parse(readData("wiki_invented.json"));
  const all = documents.map(({ name, text }) => ({
    name,
    text,
    title: /^# (.*)$/m.exec(text)?.[1] ?? name,
  }));
  return {
    documents: all,
    questions: questions.map(({ queries, ...each }) =>
      placed(all, { ...each, half: "held" }, queries)
    ),
  };
}

/** A question whose snippets are found in their documents. */
function placed(
  documents: readonly Document[],
  { kind, half, question, answers = [] }: z.infer<typeof QuestionSet>["questions"][number],
  queries: readonly string[],
): Question {
  return {
    ...{ kind, half, question, queries },
    answers: answers.flatMap(({ document, snippet }) => {
      const text = documents.find(({ name }) => name === document)?.text ?? "";
      const lines = text.split("\n").flatMap((line, n) =>
        line.includes(snippet) ? [{ document, line: n + 1 }] : []
      );
      if (lines.length === 0) throw new Error(`Cannot find "${snippet}" in ${document}`);
      return lines;
    }),
  };
}

function readData(name: string): unknown {
  return JSON.parse(Deno.readTextFileSync(new URL(`../_data/${name}`, import.meta.url)));
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
