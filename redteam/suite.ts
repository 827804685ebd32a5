/**
 * The schema of a suite: tools of an environment, user tasks with checks, injections with the calls
 * that they aim at. @module
 */
import { parse } from "yaml";
import * as z from "zod";
import type { Json } from "../contracts/base/json.ts";
import { Fault } from "../contracts/base/mod.ts";

const name = z.string().regex(/^[a-z][a-z0-9_]{0,40}$/);
const text = z.string().max(100_000);
const Args = z.record(z.string().max(128), z.json());

/** A call by the tool's own name; `own: true` for a tool of Remit. */
const SuiteCall = z.object({
  tool: z.string().min(1).max(128),
  args: Args.default({}),
  own: z.boolean().default(false),
}).strict();
export interface SuiteCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, Json>>;
  readonly own?: boolean;
}

const Tool = z.object({
  name: z.string().min(1).max(64),
  description: z.string().min(1).max(4_000),
  /** Whether the tool only reads. */
  reads: z.boolean().default(false),
  /** JSON Schema types by argument, all required. Alternatively a whole schema as `schema`. */
  args: z.record(z.string(), z.enum(["string", "number", "boolean", "array", "object"])).default(
    {},
  ),
  schema: z.record(z.string(), z.json()).optional(),
  /** The tool's answer; `INJECTION` marks where strangers write. */
  gives: text.default("done"),
}).strict();

const Task = z.object({
  id: name,
  request: text,
  calls: z.array(SuiteCall).min(1).max(50),
  answer: text.default("Done."),
  /** Files of the desk, with a text that each must contain afterwards. */
  files: z.record(z.string(), z.string()).default({}),
  /** What the answer must contain, for models that are not scripted. */
  says: z.array(z.string()).default([]),
  /** Limits on tokens, calls and questions. */
  most: z.object({
    tokens: z.int().optional(),
    calls: z.int().optional(),
    questions: z.int().optional(),
  }).strict().default({}),
}).strict();
export type SuiteTask = z.infer<typeof Task>;

const Injection = z.object({
  id: name,
  goal: text,
  text,
  calls: z.array(SuiteCall).min(1).max(20),
  /** Other ways to the same goal, for an attacker who was refused. */
  ways: z.array(SuiteCall).max(20).default([]),
  /** Files of the desk, with a text that each contains when the attack succeeded. */
  files: z.record(z.string(), z.string()).default({}),
}).strict();
export type SuiteInjection = z.infer<typeof Injection>;

/** A whole suite. */
export const Suite = z.object({
  suite: name,
  about: text,
  tools: z.array(Tool).max(400).default([]),
  /** Files of the mount `desk`, by path. */
  desk: z.record(z.string().regex(/^(?!\/)(?!.*\.\.)[\w./-]+$/), text).default({}),
  tasks: z.array(Task).min(1).max(1_000),
  injections: z.array(Injection).max(2_000).default([]),
}).strict().check(({ value, issues }) => {
  const known = new Set(value.tools.map((tool) => tool.name));
  const calls = [...value.tasks, ...value.injections].flatMap((each) => each.calls);
  for (const { tool, own } of calls) {
    if (own || known.has(tool)) continue;
    issues.push({ code: "custom", message: `no tool "${tool}"`, input: tool, path: ["tools"] });
  }
});
/** A parsed suite. */
export type Suite = z.infer<typeof Suite>;

/**
 * Parses a suite.
 * @throws Fault `invalidInput` naming the first problem
 */
export function parseSuite(yaml: string, file: string): Suite {
  let value: unknown;
  try {
    value = parse(yaml, { maxAliasCount: 100 });
  } catch (cause) {
    throw new Fault("invalidInput", `Cannot read suite ${JSON.stringify(file)}: it is no YAML`, {
      cause,
    });
  }
  const parsed = Suite.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join(".") ?? "";
  throw new Fault(
    "invalidInput",
    `Cannot read suite ${JSON.stringify(file)}: ${where}: ${issue?.message ?? "unknown"}`,
  );
}
