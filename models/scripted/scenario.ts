/** Parses a scenario file, with line and column for errors. Used by open.ts. @module */
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
} from "yaml";
import { Fault } from "../../contracts/base/fault.ts";
import type { Json } from "../../contracts/base/json.ts";
import { Scenario } from "./schema.ts";
import { parseTemplate } from "./template.ts";
import type * as z from "zod";

/** UTF-16 units of a scenario file. */
const MAX_FILE = 1_000_000;

/** An error and its place in the document. */
interface Problem {
  readonly path: readonly PropertyKey[];
  /** Locate this key rather than a value. */
  readonly key?: string;
  readonly reason: string;
}

/**
 * Parses the text of a scenario file. `file` is its name in errors.
 * @throws Fault `invalidInput`: `Cannot read scenario: FILE:LINE:COLUMN: REASON`, with the same in its detail
 * (`file`, `line`, `column`, `reason`)
 */
export function parseScenario(text: string, file: string): Scenario {
  const lines = new LineCounter();
  const refuse = (offset: number, reason: string): Fault => {
    const { line, col } = lines.linePos(offset);
    const column = Math.max(1, col);
    return new Fault("invalidInput", `Cannot read scenario: ${file}:${line}:${column}: ${reason}`, {
      detail: { file, line: Math.max(1, line), column, reason },
    });
  };
  if (text.length > MAX_FILE) throw refuse(0, `it is longer than ${MAX_FILE} characters`);
  const document = parseYaml(text, lines);
  if (document instanceof Error) throw refuse(0, `it nests too deeply (${document.message})`);
  const [error] = [...document.errors, ...document.warnings];
  if (error !== undefined) throw refuse(error.pos[0], firstLine(error.message));

  const dangling = danglingAlias(document);
  if (dangling !== undefined) {
    throw refuse(dangling.offset, `no anchor "${dangling.name}" before it`);
  }
  let value: Json;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch (cause) {
    throw refuse(0, cause instanceof Error ? cause.message : "it cannot be read");
  }
  const parsed = Scenario.safeParse(value);
  const problem = parsed.success
    ? templateProblem(parsed.data)
    : schemaProblem(parsed.error.issues, value);
  if (problem !== undefined) {
    throw refuse(offsetOf(document, problem.path, problem.key), problem.reason);
  }
  if (!parsed.success) throw refuse(0, "it does not fit the format");
  return parsed.data;
}

function parseYaml(
  text: string,
  lineCounter: LineCounter,
): ReturnType<typeof parseDocument> | Error {
  try {
    return parseDocument(text, { lineCounter, prettyErrors: false, stringKeys: true });
  } catch (error) {
    // The parser recurses: 10,000 brackets overflow its stack.
    if (error instanceof RangeError) return error;
    throw error;
  }
}

function danglingAlias(
  document: ReturnType<typeof parseDocument>,
): { readonly offset: number; readonly name: string } | undefined {
  let found: { readonly offset: number; readonly name: string } | undefined;
  visit(document, {
    Alias(_, alias): symbol | undefined {
      if (alias.resolve(document) !== undefined) return undefined;
      found = { offset: alias.range?.[0] ?? 0, name: alias.source };
      return visit.BREAK;
    },
  });
  return found;
}

function schemaProblem(issues: readonly z.core.$ZodIssue[], value: Json): Problem | undefined {
  const [issue] = issues;
  if (issue === undefined) return undefined;
  if (issue.code === "unrecognized_keys") {
    const [key = ""] = issue.keys;
    return { path: issue.path, key, reason: `unknown key "${key}" in ${where(issue.path)}` };
  }
  if (issue.code === "invalid_union") {
    // Report the union's branch that matched furthest, which the author probably meant.
    const meant = [...issue.errors].sort((a, b) => depthOf(b) - depthOf(a))[0] ?? [];
    const inner = depthOf(meant) > 0 ? schemaProblem(meant, value) : undefined;
    if (inner !== undefined) return { ...inner, path: [...issue.path, ...inner.path] };
    const wanted = issue.errors.flatMap(([first]) => first === undefined ? [] : [first.message]);
    return { path: issue.path, reason: [...new Set(wanted)].join("; or: ") };
  }
  const last = issue.path.at(-1);
  const missing = issue.code === "invalid_type" && /received undefined$/.test(issue.message);
  if (missing) {
    const parent = issue.path.slice(0, -1);
    return { path: parent, reason: `missing key "${String(last)}" in ${where(parent)}` };
  }
  const at = last === undefined || issue.code === "custom" ? "" : `${pathText(issue.path)}: `;
  return { path: issue.path, reason: `${at}${issue.message}` };
}

/** An unknown key means that the rest of the branch matched. */
function depthOf(issues: readonly z.core.$ZodIssue[]): number {
  const [issue] = issues;
  if (issue === undefined) return 0;
  return issue.path.length + (issue.code === "unrecognized_keys" ? 1 : 0);
}

function templateProblem(scenario: Scenario): Problem | undefined {
  for (const [turn, { say, rationale, calls }] of scenario.turns.entries()) {
    const problem = badTemplate(say, ["turns", turn, "say"]) ??
      badTemplate(rationale, ["turns", turn, "rationale"]) ??
      badTemplate(calls, ["turns", turn, "calls"]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function badTemplate(value: unknown, path: readonly PropertyKey[]): Problem | undefined {
  if (typeof value === "string") {
    try {
      parseTemplate(value);
      return undefined;
    } catch (error) {
      if (error instanceof SyntaxError) return { path, reason: error.message };
      throw error;
    }
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const problem = badTemplate(item, [...path, Array.isArray(value) ? Number(key) : key]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function where(path: readonly PropertyKey[]): string {
  return path.length === 0 ? "the scenario" : pathText(path);
}

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === "number" ? `${text}[${part + 1}]` : `${text}${text && "."}${String(part)}`,
    "",
  );
}

function firstLine(message: string): string {
  return message.split("\n", 1)[0] ?? message;
}

/** The offset of the value at `path`, or of its deepest existing ancestor; of `key` within it, if given. */
function offsetOf(
  document: Document,
  path: readonly PropertyKey[],
  key: string | undefined,
): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const part of key === undefined ? path : [...path, key]) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && item.key.value === part);
      if (pair === undefined) break;
      const named = startOf(pair.key);
      node = pair.value;
      offset = (key !== undefined && part === key ? named : startOf(node) ?? named) ?? offset;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      offset = startOf(node) ?? offset;
    } else {
      break;
    }
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
