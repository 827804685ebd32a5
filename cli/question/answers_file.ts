/** Answers given beforehand: `--answers FILE`. Strict, and used up. @module */
import * as z from "zod";
import { Fault, McpServerName, type Question, ToolName } from "../../contracts/mod.ts";
import { canonicalJson } from "../../port/mod.ts";
import { type ElicitForm, parseElicit } from "./elicit_form.ts";
import { wrongForm } from "./elicit_value.ts";
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

/** What an imported server may be told: only the one that is named, and only in exactly these fields. */
const FormEntry = z.object({
  server: McpServerName,
  /** By field; every field that the server requires must be here, and none that it does not ask for. */
  fields: z.record(
    z.string().min(1).max(256),
    z.union([z.string().max(2_000), z.number(), z.boolean(), z.array(z.string()).max(100)]),
  ).optional(),
  /** The address of a question in URL mode, exactly. */
  url: z.string().min(1).max(4_096).optional(),
  answer: z.enum(["allow", "deny"]),
  max: z.int().min(1).max(10_000).optional(),
}).strict();

const AnswersFile = z.object({
  answers: z.array(
    z.unknown().transform((entry, context) => {
      const names = typeof entry === "object" && entry !== null && "server" in entry;
      const parsed = names ? FormEntry.safeParse(entry) : Entry.safeParse(entry);
      if (parsed.success) return parsed.data;
      for (const { message, path } of parsed.error.issues) {
        context.addIssue({ code: "custom", message, path: [...path] });
      }
      return z.NEVER;
    }),
  ).max(1_000),
}).strict();

type Left<E> = { readonly entry: E; count: number };

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

/** The question's form; undefined when it cannot be read: nothing prepared answers that. */
function formOf(question: Question): ElicitForm | undefined {
  try {
    return parseElicit(question);
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

function takeForm(
  left: readonly Left<z.infer<typeof FormEntry>>[],
  question: Question,
): Verdict | undefined {
  const form = formOf(question);
  if (form === undefined) return undefined;
  const found = left.find(({ entry, count }) => {
    if (count < 1 || entry.server !== form.server) return false;
    if (entry.answer === "deny") return true;
    if (form.url !== undefined) return entry.url === form.url;
    return entry.url === undefined && wrongForm(form, entry.fields ?? {}) === undefined;
  });
  if (found === undefined) return undefined;
  found.count -= 1;
  const { entry } = found;
  return {
    decision: entry.answer,
    for: "once",
    ...(entry.answer === "deny" || form.url !== undefined
      ? {}
      : { say: canonicalJson(entry.fields ?? {}) }),
    by: "answers-file",
    channel: "answersFile",
  };
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
  const left: Left<z.infer<typeof Entry>>[] = [];
  const forms: Left<z.infer<typeof FormEntry>>[] = [];
  for (const entry of parsed.data.answers) {
    const count = entry.max ?? 1;
    if ("tool" in entry) left.push({ entry, count });
    else forms.push({ entry, count });
  }
  return Object.freeze({
    take(question: Question): Verdict | undefined {
      if (question.kind === "elicit") return takeForm(forms, question);
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
