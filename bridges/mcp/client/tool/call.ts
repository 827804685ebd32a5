/** A call of a tool: its parameters, its result, and calls that run as tasks. Used by server_ops.ts. @module */
import { Fault } from "../../../../contracts/base/fault.ts";
import { isList, isObject, type Json, type JsonObject } from "../../../../contracts/base/json.ts";
import type { McpCall, McpCallResult } from "../../../../contracts/wire/wire_mcp.ts";
import { MAX_FIELDS, MAX_RECORDS } from "../../../../contracts/exchange/mcp_limits.ts";
import { asJson } from "../../../../port/as_json.ts";
import { parseJson } from "../../../../port/parse.ts";
import { cutText, MAX_PAGES } from "../limits.ts";
import { misfit } from "./schema_check.ts";
import { toolResult } from "./result.ts";
import { type Clock, pause } from "../calls.ts";
import type { Ask, Behalf } from "../requests.ts";
import { ProtocolError } from "@modelcontextprotocol/client";
import type { KernelSide } from "../kernel_side.ts";

/** Units of structured content as JSON text. */
const MAX_STRUCTURED_UNITS = 8_000_000;

/** The parameters of `tools/call`. */
export function callParams({ tool, args }: Pick<McpCall, "tool" | "args">): JsonObject {
  return { name: tool, arguments: asJson(args) };
}

/**
 * Converts a server's answer; its structured content is checked against the reviewed schema.
 *
 * @throws Fault `upstream` when the answer does not fit, `tooLarge` beyond the limits
 */
export function callResult(
  { tool, resultSchema }: Pick<McpCall, "tool" | "resultSchema">,
  answer: JsonObject,
): McpCallResult {
  const { content, structuredContent } = answer;
  const cannot = `Cannot take the result of tool ${JSON.stringify(cutText(tool, 80))}`;
  if (!Array.isArray(content) && (content !== undefined || structuredContent === undefined)) {
    throw new Fault("upstream", `${cannot}: the server answered something else (no "content")`);
  }
  const result = toolResult(answer);
  const records = recordsOf(structuredContent);
  if (structuredContent === undefined) {
    if (resultSchema === undefined || result.isError) return result;
    throw new Fault("upstream", `${cannot}: it has no structured content, as its schema says`);
  }
  const structured = JSON.stringify(structuredContent);
  if (structured.length > MAX_STRUCTURED_UNITS) {
    throw new Fault("tooLarge", `${cannot}: its structured content is too large`);
  }
  if (resultSchema !== undefined && !result.isError) {
    const why = misfit(parseJson(resultSchema), structuredContent);
    if (why !== undefined) {
      throw new Fault("upstream", `${cannot}: it does not fit its schema: ${why}`);
    }
  }
  return { ...result, structured, ...(records.length === 0 ? {} : { records }) };
}

/** Units of a value, at most. */
const MAX_VALUE_UNITS = 256;

type Records = NonNullable<McpCallResult["records"]>;

/**
 * The fields of each object in a result, for the gate, which recognises ids by them.
 * Reads structured content alone: JSON inside a text may come from a stranger's file or letter.
 * Beyond the limits the result is one empty record, since a duplicate of an id may be missing.
 */
function recordsOf(value: Json | undefined): Records {
  const records: [string, string | number][][] = [];
  const walk = (at: Json): boolean => {
    if (isList(at)) return at.every(walk);
    if (!isObject(at)) return true;
    const fields: [string, string | number][] = [];
    for (const [field, each] of Object.entries(at)) {
      for (const one of isList(each) ? each : [each]) {
        if (typeof one !== "string" && typeof one !== "number") continue;
        if (fields.length >= MAX_FIELDS) return false;
        if (String(one).length <= MAX_VALUE_UNITS) fields.push([field.slice(0, 64), one]);
      }
    }
    if (fields.length > 0) records.push(fields);
    return records.length <= MAX_RECORDS && Object.values(at).every(walk);
  };
  if (value === undefined) return [];
  return walk(value) ? records : [[]];
}

interface ToolList {
  clear(): void;
  /** Records one page of `tools/list`. */
  note(page: JsonObject): void;
  /** Whether a page was recorded. */
  known(): boolean;
  /** Reads the whole list with `ask`. */
  read(ask: (method: string, params: JsonObject) => Promise<JsonObject>): Promise<void>;
  needsTask(tool: string): boolean;
}

/** Remembers which tools of a server must run as tasks. */
export function makeToolList(): ToolList {
  let known = false;
  const tasks = new Set<string>();
  const note = (page: JsonObject): void => {
    known = true;
    const { tools } = page;
    for (const tool of Array.isArray(tools) ? tools : []) {
      if (!isObject(tool) || !isObject(tool["execution"])) continue;
      const { name, execution } = tool;
      if (typeof name === "string" && execution["taskSupport"] === "required") tasks.add(name);
    }
  };
  return Object.freeze<ToolList>({
    clear() {
      known = false;
      tasks.clear();
    },
    note,
    known: () => known,
    async read(ask) {
      let cursor: string | undefined;
      for (let page = 0; page < MAX_PAGES; page++) {
        const answer = await ask("tools/list", cursor === undefined ? {} : { cursor });
        note(answer);
        const next = answer["nextCursor"];
        if (typeof next !== "string" || next === cursor) return;
        cursor = next;
      }
    },
    needsTask: (tool) => tasks.has(tool),
  });
}

interface TaskCallParts {
  readonly ask: Ask;
  readonly clock: Pick<Clock, "after">;
}

/** Milliseconds between two polls of a task. */
const POLL_MS = { min: 50, default: 500, max: 5_000 } as const;

/** Runs `tools/call` as a task of the server: starts, polls, fetches the result; cancels it with the call. */
export async function callAsTask(
  { ask, clock }: TaskCallParts,
  params: JsonObject,
  behalf: Behalf & { readonly deadlineMs: number },
): Promise<JsonObject> {
  const { verb, signal, deadlineMs } = behalf;
  const created = await ask("tools/call", { ...params, task: { ttl: deadlineMs } }, behalf);
  let task = created["task"];
  // Some servers answer at once instead of making a task.
  if (task === undefined && created["content"] !== undefined) return created;
  const taskId = isObject(task) ? task["taskId"] : undefined;
  if (typeof taskId !== "string" || taskId.length > 1_024) {
    throw new Fault("upstream", `Cannot ${verb}: the server made no proper task`);
  }
  const quiet: Behalf = { verb, signal };
  const cancel = (): void => {
    const over: Behalf = { verb, signal: new AbortController().signal };
    ask("tasks/cancel", { taskId }, over).catch(() => {});
  };
  signal.addEventListener("abort", cancel, { once: true });
  try {
    while (isObject(task) && task["status"] === "working") {
      const wished = task["pollInterval"];
      const interval = typeof wished === "number" ? wished : POLL_MS.default;
      await pause(clock, Math.min(POLL_MS.max, Math.max(POLL_MS.min, interval)), signal);
      task = await ask("tasks/get", { taskId }, quiet);
    }
    // While the task waits for input this request stays open and carries the server's questions.
    return await ask("tasks/result", { taskId }, behalf);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** Error of revision 2025-11-25: a person must visit addresses before the call is repeated. */
const URL_NEEDED = -32_042;
/** Addresses of one error that a person is asked to visit, at most. */
const MAX_VISITS = 4;

/** Addresses that an error asks a person to visit, each with the server's message; empty for other errors. */
function visitsOf(fault: Fault): readonly { readonly message: string; readonly url: string }[] {
  const { cause } = fault;
  if (!(cause instanceof ProtocolError) || cause.code !== URL_NEEDED) return [];
  const data: Json = asJson(isObject(cause.data as Json) ? cause.data as JsonObject : {});
  const asked = isObject(data) ? data["elicitations"] : undefined;
  return (Array.isArray(asked) ? asked.slice(0, MAX_VISITS) : []).flatMap((one) => {
    const { url, message = "" } = isObject(one) ? one : {};
    const fits = typeof url === "string" && url.length <= 4_096 && typeof message === "string";
    return fits && message.length <= 8_192 ? [{ message, url }] : [];
  });
}

/** Asks the person to visit each address. Always throws: the fault, or one that says to repeat the call. */
export async function askVisits(
  fault: Fault,
  { call, kernel }: { readonly call: string; readonly kernel: Pick<KernelSide, "elicit"> },
): Promise<never> {
  for (const visit of visitsOf(fault)) {
    const { action } = await kernel.elicit({ call, ...visit });
    if (action !== "accept") throw fault;
  }
  if (visitsOf(fault).length === 0) throw fault;
  const why = "the person was asked to visit an address first; make the call again afterwards";
  throw new Fault("upstream", `Cannot finish the call: ${why}`, { cause: fault });
}
