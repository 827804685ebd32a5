/** Answers given beforehand: `--answers FILE`. Strict, and used up. @module */
import { z } from "zod";
import { Fault, type Question, ToolName } from "../contracts/mod.ts";
import type { Verdict } from "./sign_answer.ts";

const Entry = z.object({
  tool: ToolName,
  /** `MOUNT/relative`: every changed or named file must be it or lie beneath it. */
  path: z.string().min(1).max(4_096).optional(),
  /** The destination, exactly. */
  scope: z.string().min(1).max(2_048).optional(),
  answer: z.enum(["allow", "deny"]),
  /** How often it may be used; 1 when not given. */
  max: z.int().min(1).max(10_000).optional(),
  say: z.string().max(2_000).optional(),
}).strict();

const AnswersFile = z.object({ answers: z.array(Entry).max(1_000) }).strict();

/** Answers that are left. */
export interface PreparedAnswers {
  /** The first entry that fits and is not used up, counted down; undefined when none does. */
  take(question: Question): Verdict | undefined;
}

function paths(question: Question): string[] {
  if (question.changes.length > 0) return question.changes.map((change) => change.path);
  try {
    const args: unknown = JSON.parse(question.argumentsText);
    const path = z.object({ path: z.string() }).safeParse(args);
    return path.success ? [path.data.path] : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

function beneath(path: string, prefix: string): boolean {
  const clean = prefix.endsWith("/") ? prefix.slice(0, -1) : prefix;
  const plain = !path.split("/").some((part) => part === ".." || part === "." || part === "");
  return plain && (path === clean || path.startsWith(`${clean}/`));
}

/**
 * Parses an answers file.
 *
 * @throws Fault `invalidInput` naming the entry that is wrong.
 */
export function parseAnswers(file: string, text: string): PreparedAnswers {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new Fault("invalidInput", `Cannot read answers "${file}": it is no JSON`, { cause });
  }
  const parsed = AnswersFile.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue === undefined ? "" : issue.path.map(String).join(".");
    throw new Fault(
      "invalidInput",
      `Cannot read answers "${file}": ${where === "" ? "" : `"${where}": `}${issue?.message ?? ""}`,
    );
  }
  const left = parsed.data.answers.map((entry) => ({ entry, count: entry.max ?? 1 }));
  return Object.freeze({
    take(question: Question): Verdict | undefined {
      // The gravest questions, and those about Remit itself, are a person's alone.
      if (question.kind !== "consent") return undefined;
      const found = left.find(({ entry, count }) => {
        if (count < 1 || entry.tool !== question.scope.tool) return false;
        if (entry.scope !== undefined && entry.scope !== question.scope.destination) return false;
        const { path } = entry;
        if (path === undefined) return true;
        const touched = paths(question);
        return touched.length > 0 && touched.every((each) => beneath(each, path));
      });
      if (found === undefined) return undefined;
      found.count -= 1;
      return {
        decision: found.entry.answer,
        for: "once",
        say: found.entry.say,
        by: "answers-file",
        channel: "answersFile",
      };
    },
  });
}
