/** Questions to people on behalf of imported servers: one at a time, only during a call, and a limited number. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import type { Label } from "../../../contracts/authority/colour.ts";
import type { Questions } from "../../../contracts/authority/gate.ts";
import {
  Digest,
  type Pid,
  QuestionId,
  type TaskId,
  ToolName,
} from "../../../contracts/authority/ids.ts";
import { isObject, type Json, type JsonObject } from "../../../contracts/base/json.ts";
import { type ImportedServer, mcpPart } from "../../../contracts/exchange/mcp.ts";
import type { Powers, ProcessKeeper, ProcessRow } from "../../../contracts/task/process.ts";
import type { Answer, AnswerScope, Question } from "../../../contracts/authority/question.ts";
import type { McpElicit, McpElicited } from "../../../contracts/wire/wire_mcp.ts";
import { digestOf } from "../../../port/digest.ts";
import { canonicalJson } from "../../../port/mod.ts";
import type { McpLog } from "./log.ts";

/** Questions that one server may cause in a task, so that people are not worn down. */
const MAX_QUESTIONS = 10;
/** Milliseconds that a question stays open, an hour: a call waits for its answer. */
const TTL = 60 * 60_000;
const NO_TOOL = Digest.parse("0".repeat(64));

/** A server, and the call during which it makes a request. */
export interface McpCallAt {
  readonly task: TaskId;
  readonly server: ImportedServer;
  readonly pid?: Pid;
  readonly callId?: string;
}

/** A question for a server. */
interface McpQuestion {
  readonly kind: "elicit" | "consent";
  /** One line of trusted text. */
  readonly summary: string;
  /** The server's exact request. */
  readonly said: Json;
  readonly rule: string;
  readonly label: AnswerScope["label"];
}

/** Asks people on behalf of servers. */
export interface McpAsks {
  /**
   * Asks a person; undefined when nobody answers or can be asked.
   *
   * @throws Fault `refused` without a running call, or while another question of the server waits; `budgetExhausted`
   */
  ask(at: McpCallAt, question: McpQuestion): Promise<Answer | undefined>;
  /** The process that made the running call. @throws Fault `refused` */
  caller(at: McpCallAt): ProcessRow;
  /** Called at a call's end: closes the call's questions. */
  callEnded(at: Required<Pick<McpCallAt, "task" | "callId">>): void;
  /** Called when the server has ended in this task. */
  ended(at: Pick<McpCallAt, "task" | "server">): void;
  /** Called when the task has ended. */
  forget(task: TaskId): void;
}

interface Asked {
  times: number;
  /** Questions that were queued because nobody was there; each is closed at the end of its call, which continued without an answer. */
  readonly queued: { readonly callId: string; readonly question: QuestionId }[];
  waiting: { readonly callId: string; readonly abort: AbortController } | undefined;
}

/** Makes the questions of all servers. */
export function makeMcpAsks(
  { questions, processes, powers, note }: {
    readonly questions: Pick<Questions, "ask"> & {
      lapse(which: { readonly question: QuestionId }): Promise<void>;
    };
    readonly processes: Pick<ProcessKeeper, "get" | "charge">;
    readonly powers: Pick<Powers, "now" | "id">;
    /** Writes a line to the kernel's own log. */
    note(line: string): void;
  },
): McpAsks {
  const table = new Map<TaskId, Map<string, Asked>>();

  const caller = ({ server, pid, callId }: McpCallAt): ProcessRow => {
    const row = pid === undefined || callId === undefined ? undefined : processes.get(pid);
    if (row !== undefined && row.status !== "ended") return row;
    throw new Fault("refused", `Cannot ask for "${server.name}": no call of it is under way`);
  };
  const askedOf = (task: TaskId, server: string): Asked => {
    const ofTask = table.get(task) ?? new Map<string, Asked>();
    table.set(task, ofTask);
    const asked = ofTask.get(server) ?? { times: 0, queued: [], waiting: undefined };
    ofTask.set(server, asked);
    return asked;
  };

  return Object.freeze<McpAsks>({
    caller,
    async ask(at, question): Promise<Answer | undefined> {
      const { task, server, callId = "" } = at;
      const row = caller(at);
      const asked = askedOf(task, server.name);
      if (asked.waiting !== undefined) {
        throw new Fault("refused", `Cannot ask for "${server.name}": a question of it waits`);
      }
      if (asked.times >= MAX_QUESTIONS) {
        throw new Fault(
          "budgetExhausted",
          `Cannot ask for "${server.name}": it has asked ${MAX_QUESTIONS} times in this task`,
        );
      }
      asked.times += 1;
      if (row.onQuestion === "deny") return undefined;
      processes.charge(row.pid, { questions: 1 });
      const abort = new AbortController();
      asked.waiting = { callId, abort };
      try {
        const made = questionOf(row, at, question, powers);
        const wait = row.onQuestion === "ask";
        const answered = await questions.ask(made, { wait, signal: abort.signal });
        if (answered.kind === "queued") asked.queued.push({ callId, question: made.id });
        return answered.kind === "answered" ? answered.answer : undefined;
      } finally {
        asked.waiting = undefined;
      }
    },
    callEnded({ task, callId }): void {
      for (const { waiting, queued } of table.get(task)?.values() ?? []) {
        if (waiting?.callId === callId) waiting.abort.abort();
        const over = queued.filter((each) => each.callId === callId);
        for (const each of over) {
          queued.splice(queued.indexOf(each), 1);
          questions.lapse(each).catch((error: unknown) =>
            note(`Question ${each.question} was not closed: ${String(error)}`)
          );
        }
      }
    },
    ended({ task, server }): void {
      table.get(task)?.get(server.name)?.waiting?.abort.abort();
    },
    forget(task): void {
      for (const { waiting } of table.get(task)?.values() ?? []) waiting?.abort.abort();
      table.delete(task);
    },
  });
}

function questionOf(
  row: ProcessRow,
  { task, server, callId }: McpCallAt,
  { kind, summary, said, rule, label }: McpQuestion,
  powers: Pick<Powers, "now" | "id">,
): Question {
  const now = powers.now();
  const under = [...row.calls].find(([id]) => id === callId);
  const tool = ToolName.safeParse(under?.[1].tool).data ??
    ToolName.parse(`mcp_${mcpPart(server.name)}`);
  const source = { source: `mcp ${server.name}`, colour: "RED", label } as const;
  const remote = server.launch.kind === "http" || server.grants.net.length > 0;
  return {
    id: QuestionId.parse(powers.id("q")),
    task,
    pid: row.pid,
    kind,
    ...(under === undefined ? {} : { callId: under[0] }),
    turn: row.turn,
    scope: {
      tool,
      descriptor: NO_TOOL,
      // Hashed in another form than any call's arguments, so that consent never covers a call
      arguments: digestOf({ [kind]: said }),
      destination: server.launch.kind === "http"
        ? new URL(server.launch.url).origin
        : `mcp:${server.name}`,
      effect: remote ? "outboundWrite" : "read",
      colour: "RED",
      label,
      session: row.session,
    },
    argumentsText: canonicalJson(said),
    summary: summary.slice(0, 1_024),
    changes: [],
    executes: [],
    sources: [...row.sources.slice(-99), source],
    rule,
    asked: Math.max(1, row.usage.questions),
    createdAt: now,
    expiresAt: now + TTL,
    state: "open",
  };
}

// A server's own questions to a person, of kind `elicit`: answered by a signed answer, never by a
// model. The server's text is shown as a stranger's.

interface McpElicitParts {
  readonly asks: Pick<McpAsks, "ask">;
  readonly log: Pick<McpLog, "note">;
  /** The label of what a server knows. */
  labelOf(at: { readonly task: McpCallAt["task"]; readonly server: ImportedServer }): Label;
}

/** Asks the person; on any failure the server receives `cancel`. */
type McpElicits = (at: McpCallAt, asked: McpElicit) => Promise<McpElicited>;

/** Makes the elicitation for all servers. */
export function makeMcpElicit({ asks, log, labelOf }: McpElicitParts): McpElicits {
  return async (at, asked) => {
    const { server } = at, { message, schema, url } = asked;
    const mode = url === undefined ? "form" : "url";
    const ended = (action: McpElicited["action"], why?: string): McpElicited => {
      log.note(at, "elicit", { mode, action, ...(why === undefined ? {} : { why }) }, message);
      return { action };
    };
    if (!server.elicitation) return ended("cancel", "off");
    const fields = schema === undefined ? undefined : schemaIn(schema);
    if (schema !== undefined && fields === undefined) return ended("cancel", "schema");
    let answer: Answer | undefined;
    try {
      answer = await asks.ask(at, {
        kind: "elicit",
        summary: url === undefined
          ? `the imported server "${server.name}" asks you for input, which it will be sent`
          : `the imported server "${server.name}" asks you to visit an address; Remit opens none`,
        said: {
          ...{ server: server.name, message: message.toWellFormed() },
          ...(fields === undefined ? {} : { schema: fields }),
          ...(url === undefined ? {} : { url: url.toWellFormed() }),
        },
        rule: "built-in: only a person answers what a server asks",
        label: labelOf(at),
      });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return ended("cancel", error.code);
    }
    if (answer === undefined) return ended("cancel", "unanswered");
    if (answer.decision === "deny") return ended("decline");
    if (url !== undefined) return ended("accept");
    const content = contentOf(answer.say, fields);
    if (content === undefined) return ended("cancel", "form");
    ended("accept");
    return { action: "accept", content };
  };
}

/** TRUST: from the server; only a schema with properties is a form. */
function schemaIn(text: string): JsonObject | undefined {
  const schema = jsonOf(text);
  return isObject(schema) && isObject(schema["properties"]) ? schema : undefined;
}

/** The signed form in canonical JSON, if flat, with all required fields and no unknown ones; else undefined. */
function contentOf(say: string | undefined, schema: JsonObject | undefined): string | undefined {
  const content = jsonOf(say ?? "");
  if (!isObject(content)) return undefined;
  const properties = schema?.["properties"];
  const known = isObject(properties) ? properties : {};
  const required = schema?.["required"];
  const names = Array.isArray(required) ? required.map(String) : [];
  const flat = Object.entries(content).every(([name, value]) =>
    Object.hasOwn(known, name) && isFlat(value)
  );
  const whole = names.every((name) => Object.hasOwn(content, name));
  return flat && whole ? canonicalJson(content) : undefined;
}

function isFlat(value: Json): boolean {
  const list: readonly Json[] = Array.isArray(value) ? value : [];
  return ["string", "number", "boolean"].includes(typeof value) ||
    Array.isArray(value) && list.every((each) => typeof each === "string");
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
