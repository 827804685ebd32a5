/**
 * Answers prepared in a file (`--answers FILE`), each used at most so often. A call to an imported server, a peer or the
 * network is only allowed by its arguments: a tool's name does not show what injected text put into the call.
 * @module
 */
import * as z from "zod";
import { standsIn } from "../../text/stands_in.ts";
import { type EffectClass, type Question, ToolName } from "../../contracts/authority/mod.ts";
import { MAX_ORIGINS } from "../../contracts/authority/origin.ts";
import { Fault, type Json } from "../../contracts/base/mod.ts";
import { PLAN_RUN } from "../../contracts/exchange/planned.ts";
import { McpServerName } from "../../contracts/exchange/mod.ts";
import { isObject } from "../../contracts/base/json.ts";
import { canonicalJson } from "../../port/mod.ts";
import { partMatcher } from "../../text/path_list.ts";
import { displayText } from "../../text/mod.ts";
import { type ElicitForm, parseElicit } from "./elicit_form.ts";
import { wrongForm } from "./elicit_value.ts";
import type { Verdict } from "./sign_answer.ts";

const Entry = z.object({
  tool: ToolName,
  /** `MOUNT/relative`: every changed or named file must equal it or lie beneath it. */
  path: z.string().min(1).max(4_096).optional(),
  /** The exact destination. */
  scope: z.string().min(1).max(2_048).optional(),
  /**
   * Exactly the arguments of the call, by name: each a JSON value to equal, `{"glob": "…"}`, or `{"fromRequest": true}`
   * for a value that stands in the person's own request.
   */
  arguments: z.record(z.string().min(1).max(256), z.json()).optional(),
  answer: z.enum(["allow", "deny"]),
  /** How often the entry may be used; default 1. */
  max: z.int().min(1).max(10_000).optional(),
  say: z.string().max(2_000).optional(),
}).strict();

/** An answer to one imported server's form, with exactly these fields. */
const FormEntry = z.object({
  server: McpServerName,
  /** By field: all that the server requires, and none that it does not ask for. */
  fields: z.record(
    z.string().min(1).max(256),
    z.union([z.string().max(2_000), z.number(), z.boolean(), z.array(z.string()).max(100)]),
  ).optional(),
  /** The exact address of a question in URL mode. */
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

type Left<E> = {
  readonly entry: E; /** Position in the file, from 1. */
  readonly at: number;
  count: number;
};

/** The prepared answers that are not used up. */
export interface PreparedAnswers {
  /** Takes the first entry that fits and is not used up; undefined when none does. */
  take(question: Question, asked?: AskedWith): Verdict | undefined;
}

/** The context of a question. */
export interface AskedWith {
  /** The person's own words; absent where someone else wrote the request. */
  readonly request?: string | undefined;
  /** Receives a line that says why an entry for the tool is not used. */
  readonly say?: (line: string) => void;
}

const BY_ARGUMENTS: ReadonlySet<EffectClass> = new Set([
  "outboundRead",
  "outboundWrite",
  "destructive",
  "admin",
]);

/** Why an entry without arguments cannot allow this question; undefined where it can. */
function whyArguments({ scope }: Question): string | undefined {
  if (scope.tool.startsWith("mcp_")) return "it is an imported server's";
  if (scope.tool.startsWith("a2a_")) return "it tells a peer something";
  if (scope.tool === PLAN_RUN) return "it is a program, and its text says what it calls";
  return BY_ARGUMENTS.has(scope.effect) ? `its effect is ${scope.effect}` : undefined;
}

function argumentsOf({ argumentsText }: Question): Readonly<Record<string, Json>> | undefined {
  try {
    const args: Json = JSON.parse(argumentsText);
    return isObject(args) ? args : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Whether the call has exactly the arguments that the entry names, with fitting values. */
function argumentsFit(
  wanted: Readonly<Record<string, Json>>,
  question: Question,
  request: string | undefined,
): boolean {
  const args = argumentsOf(question);
  if (args === undefined) return false;
  const names = Object.keys(args);
  return names.length === Object.keys(wanted).length && names.every((name) => {
    const value = args[name], want = Object.hasOwn(wanted, name) ? wanted[name] : undefined;
    return value !== undefined && want !== undefined &&
      (valueFits(want, value, request) || isOwnWithheld(want, name, question, request));
  });
}

function valueFits(want: Json, value: Json, request: string | undefined): boolean {
  if (isObject(want) && Object.keys(want).length === 1) {
    const { glob, fromRequest } = want;
    if (typeof glob === "string") {
      return leavesOf(value).every((leaf) =>
        leaf !== null && partMatcher(glob)(String(leaf).normalize())
      );
    }
    if (fromRequest === true) {
      const leaves = leavesOf(value);
      return request !== undefined && leaves.length > 0 &&
        leaves.every((leaf) => standsIn(request, leaf));
    }
  }
  return canonicalJson(want) === canonicalJson(value);
}

const FROM_REQUEST = canonicalJson({ fromRequest: true });

/**
 * Whether the entry wants a value of the request, and the kernel says that this one is: credentials are shown withheld,
 * so only the kernel can compare them.
 */
function isOwnWithheld(
  want: Json,
  name: string,
  { origins = [] }: Question,
  request: string | undefined,
): boolean {
  if (request === undefined || canonicalJson(want) !== FROM_REQUEST) return false;
  // The kernel's list may be cut: origins past the end are unknown.
  if (origins.length >= MAX_ORIGINS) return false;
  const own = origins.filter(({ at }) => at === name || at.startsWith(`${name}.`));
  return own.length > 0 && own.every(({ from }) => from === "request");
}

/** All texts, numbers, booleans and nulls in a value, without field names, which belong to the tool. */
function leavesOf(value: Json): readonly (string | number | boolean | null)[] {
  if (value === null || typeof value !== "object") return [value];
  return Object.values(value).flatMap((each: Json) => leavesOf(each));
}

/** The entry to write in place of one without arguments. */
function proposedEntry(question: Question): string {
  const args = Object.keys(argumentsOf(question) ?? {}).slice(0, 16);
  return JSON.stringify({
    tool: question.scope.tool,
    arguments: Object.fromEntries(args.map((name) => [name, { fromRequest: true }])),
    answer: "allow",
  });
}

function paths(question: Question): string[] {
  if (question.changes.length > 0) return question.changes.map((change) => change.path);
  const path = argumentsOf(question)?.["path"];
  return typeof path === "string" ? [path] : [];
}

function beneath(path: string, prefix: string): boolean {
  const clean = prefix.endsWith("/") ? prefix.slice(0, -1) : prefix;
  const plain = !path.split("/").some((part) => part === ".." || part === "." || part === "");
  return plain && (path === clean || path.startsWith(`${clean}/`));
}

/** The question's form; undefined when it cannot be read: no prepared answer fits then. */
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
 * @throws Fault `invalidInput` that names the wrong entry.
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
  parsed.data.answers.forEach((entry, n) => {
    const at = n + 1, count = entry.max ?? 1;
    if ("tool" in entry) left.push({ entry, at, count });
    else forms.push({ entry, at, count });
  });
  return Object.freeze({
    take(question: Question, asked: AskedWith = {}): Verdict | undefined {
      if (question.kind === "elicit") return takeForm(forms, question);
      // Step-up questions, and those about Remit itself, need a person.
      if (question.kind !== "consent") return undefined;
      const needs = whyArguments(question);
      const found = left.find(({ entry, at, count }) => {
        if (count < 1 || entry.tool !== question.scope.tool) return false;
        if (entry.arguments !== undefined) {
          if (!argumentsFit(entry.arguments, question, asked.request)) return false;
        } else if (needs !== undefined && entry.answer === "allow") {
          asked.say?.(
            `  answer ${at} of "${displayText(file, { max: 200 })}" is not used: it allows ` +
              `"${entry.tool}" whatever its arguments are, and ${needs}; say which it may have, ` +
              `as ${displayText(proposedEntry(question), { max: 1_000 })}`,
          );
          return false;
        }
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
