/** `tool_test.yaml`: calls of a plugin's tools, with the expected results. @module */
import { parseDocument } from "yaml";
import * as z from "zod";
import { Fault, FAULT_CODES, type Json } from "../../contracts/base/mod.ts";
import { canonicalJson } from "../../port/mod.ts";
import { displayText } from "../../text/mod.ts";

const path = z.string().regex(/^[a-z][a-z0-9_-]{0,31}(\/[^\0]{0,1000})?$/);
const text = z.string().max(1_000_000);

/** One call and its expected result. */
export const ToolCase = z.object({
  /** Shown with the result; the tool's name when absent. */
  name: z.string().min(1).max(200).optional(),
  tool: z.string().min(1).max(64),
  args: z.record(z.string().max(256), z.json()).default({}),
  /** Files that the plugin may read, by `MOUNT/relative`. */
  files: z.record(path, text).default({}),
  /** The web's answers by address; any other address is not found. */
  http: z.record(
    z.string().max(2_048),
    z.object({
      status: z.int().min(100).max(599).default(200),
      headers: z.record(z.string().max(128), text).default({}),
      text: text.default(""),
    }).strict(),
  ).default({}),
  expect: z.object({
    /** The exact result. */
    value: z.json().optional(),
    /** Parts of the result, or of its JSON text when it is not a text. */
    contains: z.union([text, z.array(text).min(1).max(64)]).optional(),
    /** The fault with which the call must end. */
    error: z.enum(FAULT_CODES).optional(),
    /** Part of the fault's message. */
    message: text.optional(),
    /** Every file that was written, and its text; null for a deleted one. */
    writes: z.record(path, text.nullable()).optional(),
    /** Part of the logs. */
    logs: text.optional(),
  }).strict().default({}),
}).strict();
/** See {@link ToolCase}. */
export type ToolCase = z.infer<typeof ToolCase>;

const ToolCases = z.object({ cases: z.array(ToolCase).min(1).max(1_000) }).strict();

/** Name of the file beside `tool.yaml`. */
export const CASES_NAME = "tool_test.yaml";

/** The result of a call. */
export type CaseEnd =
  & {
    /** Files as they were written; null for deleted ones. */
    readonly writes: Readonly<Record<string, string | null>>;
    readonly logs: readonly string[];
  }
  & (
    | { readonly value: Json }
    | { readonly fault: { readonly code: string; readonly message: string } }
  );

/** Parses the text of a `tool_test.yaml`. Throws `invalidInput` with its line. */
export function parseToolCases(source: string): readonly ToolCase[] {
  const wrong = (why: string): Fault =>
    new Fault("invalidInput", `Cannot read ${CASES_NAME}: ${displayText(why, { max: 300 })}`);
  const document = parseDocument(source, {
    uniqueKeys: true,
    strict: true,
    logLevel: "error",
  });
  const [broken] = document.errors;
  if (broken !== undefined) throw wrong(broken.message.split("\n")[0] ?? "it is no YAML");
  let plain: unknown;
  try {
    plain = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    if (error instanceof ReferenceError) throw wrong("too many aliases");
    throw error;
  }
  const parsed = ToolCases.safeParse(plain);
  if (parsed.success) return parsed.data.cases;
  const [issue] = parsed.error.issues;
  throw wrong(`${issue?.path.map(String).join(".") || "the top"}: ${issue?.message ?? "?"}`);
}

const show = (value: Json): string => JSON.stringify(value);
const asText = (value: Json): string => typeof value === "string" ? value : show(value);

/** All differences between a call's result and its expectation; none when they agree. */
export function mismatches(expect: ToolCase["expect"], end: CaseEnd): readonly string[] {
  const found: string[] = [];
  const { value, error, message, writes, logs } = expect;
  const contains = [expect.contains ?? []].flat();
  if ("fault" in end) {
    const { fault } = end;
    if (error === undefined && message === undefined) {
      found.push(`it failed with ${fault.code}: ${fault.message}`);
    }
    if (error !== undefined && fault.code !== error) {
      found.push(`it failed with ${fault.code}, not ${error}: ${fault.message}`);
    }
    if (message !== undefined && !fault.message.includes(message)) {
      found.push(`its message lacks ${show(message)}: ${fault.message}`);
    }
    if (value !== undefined || contains.length > 0) found.push("it gave no value");
  } else {
    if (error !== undefined || message !== undefined) {
      found.push(`it did not fail, and gave ${show(end.value)}`);
    }
    if (value !== undefined && canonicalJson(value) !== canonicalJson(end.value)) {
      found.push(`it gave ${show(end.value)}, not ${show(value)}`);
    }
    for (const part of contains) {
      if (!asText(end.value).includes(part)) found.push(`${show(end.value)} lacks ${show(part)}`);
    }
  }
  if (writes !== undefined && canonicalJson(writes) !== canonicalJson(end.writes)) {
    found.push(`it wrote ${show(end.writes)}, not ${show(writes)}`);
  }
  if (logs !== undefined && !end.logs.join("\n").includes(logs)) {
    found.push(`it did not log ${show(logs)}`);
  }
  return found;
}
