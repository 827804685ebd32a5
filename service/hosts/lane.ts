/**
 * One task of a host's session. Each turn makes one call. A call that waits for a person ends its
 * turn, and the kernel resumes the call after the answer. The task's program ({@link
 * CALLER_PROGRAM}) uses no model: it makes exactly the call that its message names. Gate, log,
 * budgets and receipts are those of any program.
 * @module
 */
import * as z from "zod";
import {
  CallId,
  cleared,
  Colour,
  Label,
  type Question,
  Question as QuestionSchema,
  type TaskId,
  ToolName,
} from "../../contracts/authority/mod.ts";
import { Fault, type Json } from "../../contracts/base/mod.ts";
import { Outcome } from "../../contracts/tool/mod.ts";

/** An event of a task's log, as the kernel reports it: no field is trusted. */
export interface TaskEvent {
  readonly event: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly private: Readonly<Record<string, unknown>>;
  /** A field of the private part, else of the body; "" where there is none. */
  text(field: string): string;
  /** The subject of a call in a few words: a path, an address. */
  subject(): string;
}

/** What the kernel reports of a followed task. */
export type TaskSeen =
  | { readonly kind: "event"; readonly event: TaskEvent }
  /** `label`: of what the call has read, as the kernel reported it. */
  | { readonly kind: "progress"; readonly text: string; readonly label: unknown };

/** A session with the kernel, as hosts' tasks need one. */
export interface HostKernel {
  ask(op: string, body: Json): Promise<Json>;
  /** Follows a task from its first event; `next` resolves at the end of a turn or of the task. */
  watch(
    task: TaskId,
    onSeen: (seen: TaskSeen) => void,
  ): Promise<{ next(): Promise<{ readonly status: string }> }>;
  /** A task's staged changes. `content`: the folder of new contents, named by digest. */
  staged(task: TaskId): Promise<{ readonly patch: string | null; readonly content: string }>;
  close(): void;
}

/** One call, as the message of a turn. */
export interface CallWords {
  readonly id: CallId;
  readonly name: ToolName;
  /** JSON text. */
  readonly arguments: string;
}

/** The outcome of a call, as the program reports it. */
export const Called = z.object({
  callId: CallId,
  outcome: Outcome,
  content: z.string(),
  error: z.string().optional(),
  colour: Colour,
  label: Label,
}).strict();
export type Called = z.infer<typeof Called>;

/** UTF-16 units of an answer that the kernel accepts as the end of a turn. */
const MAX_ANSWER = 1_000_000;

/**
 * Source of the program: an IIFE. It runs without permissions. What it reports of a result is
 * trusted only as far as the kernel's own log confirms it, because its only reader is the session
 * that it speaks for.
 */
export const CALLER_PROGRAM = `(() => {
  const asked = (text) => {
    try { return JSON.parse(text).call; } catch { return undefined; }
  };
  const make = async (ports, call) => {
    for (let tries = 0;; tries++) {
      const { id } = await ports.advertise();
      const result = await ports.call(id, call);
      if (result.outcome !== "unknownTool" || tries > 0) return result;
    }
  };
  return {
    async turn(ports, message) {
      const call = message === undefined ? undefined : asked(message.content);
      if (call === undefined) return { stop: "answered", text: "ready" };
      const { content, ...head } = await make(ports, call);
      return { stop: "answered", text: (JSON.stringify(head) + "\\n" + content).slice(0, ${MAX_ANSWER}) };
    },
  };
})()`;

/** The message that makes the program perform a call. Throws `tooLarge`. */
export function callMessage(call: CallWords): string {
  const text = JSON.stringify({ call });
  if (text.length <= 200_000) return text;
  throw new Fault(
    "tooLarge",
    `Cannot call "${call.name}": its arguments are longer than a call over MCP may have (180,000 characters)`,
  );
}

/** Reads the program's answer; undefined where it is not about `call`. */
export function readCalled(answer: string, call: CallId): Called | undefined {
  const end = answer.indexOf("\n");
  if (end < 0) return undefined;
  let head: unknown;
  try {
    head = JSON.parse(answer.slice(0, end));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const parsed = Called.safeParse({ ...Object(head), content: answer.slice(end + 1) });
  return parsed.success && parsed.data.callId === call ? parsed.data : undefined;
}

/** Progress for a host: `text` where the kernel's label for it is cleared, else `instead`. */
export function toldProgress(
  text: string,
  { label, clearance, instead }: {
    readonly label: unknown;
    readonly clearance: Label;
    readonly instead: string;
  },
): string {
  const { success, data } = Label.safeParse(label);
  return success && cleared(data, clearance) ? text : instead;
}

/** The state of a call. */
export type LaneEnd =
  | { readonly kind: "done"; readonly called: Called }
  /** A person is asked: about the call itself, or about what it staged when `called` is present. */
  | {
    readonly kind: "waiting";
    readonly question: Question;
    readonly called?: Called;
    /** The folder with the contents of the question's changes, by digest. */
    readonly content?: string;
  }
  /** The task is over and makes no more calls. */
  | { readonly kind: "over"; readonly why: string };

/** A task that makes calls. */
export interface Lane {
  readonly task: TaskId;
  /** Makes a call; one at a time. */
  call(words: CallWords): Promise<LaneEnd>;
  /** Resolves with the next state of the waiting call. */
  next(id: CallId): Promise<LaneEnd>;
  /** Cancels the call in progress. */
  interrupt(): Promise<void>;
  /** Why the task makes no more calls; undefined while it does. */
  over(): string | undefined;
  /** Ends the task; a task that waits for a person stays with that person, unless `drop`. */
  close(how?: { readonly drop: boolean }): Promise<void>;
}

/** The powers of {@link openLane}, and its task. */
export interface LaneParts {
  readonly link: HostKernel;
  readonly task: TaskId;
  /** The most confidential label that the host may see. */
  readonly clearance: Label;
  /** Receives the progress of the call. */
  onProgress(text: string): void;
  /** Called when the task's tools have changed. */
  onTools(): void;
}

const FINAL: ReadonlySet<string> = new Set(["done", "failed", "cancelled", "expired"]);
/** Events of an imported server after which its tools have changed. */
const TOOLS_CHANGE: ReadonlySet<string> = new Set(["suspended", "changed"]);
const MAX_TRIES = 20;

/** Follows a new task of {@link CALLER_PROGRAM}; resolves when the task accepts calls. */
export async function openLane(
  { link, task, clearance, onProgress, onTools }: LaneParts,
): Promise<Lane> {
  let answer: string | undefined;
  let question: Question | undefined;
  let ended: string | undefined;
  let waiting = false;

  const onEvent = (event: TaskEvent): void => {
    switch (event.event) {
      case "taskStatus": {
        const said = event.private["answer"];
        if (typeof said === "string" && said !== "") answer = said;
        const status = event.text("status");
        if (FINAL.has(status)) ended = `the session's task ${task} is ${status}${reasonOf(event)}`;
        break;
      }
      case "questionAsked": {
        const asked = QuestionSchema.safeParse(event.private["question"]);
        if (asked.success) question = asked.data;
        break;
      }
      case "leaseRevoked":
        onTools();
        break;
      case "mcp":
        if (TOOLS_CHANGE.has(event.text("what"))) onTools();
        break;
      default:
        break;
    }
  };
  const watch = await link.watch(task, (seen) => {
    if (seen.kind === "event") return onEvent(seen.event);
    const { text, label } = seen;
    onProgress(toldProgress(text, { label, clearance, instead: "works (withheld)" }));
  });

  const next = async (id: CallId | undefined): Promise<LaneEnd> => {
    const { status } = await watch.next();
    const called = id === undefined || answer === undefined ? undefined : readCalled(answer, id);
    waiting = status === "needsApproval";
    if (waiting && question !== undefined) {
      return {
        ...{ kind: "waiting", question, ...(called === undefined ? {} : { called }) },
        ...(question.changes.length === 0 ? {} : { content: (await link.staged(task)).content }),
      };
    }
    if (status !== "open") {
      ended ??= `the session's task ${task} is ${status}`;
      return { kind: "over", why: ended };
    }
    if (called !== undefined) return { kind: "done", called };
    if (id === undefined) return { kind: "over", why: "ready" };
    throw new Fault("upstream", `Cannot read what came of a call of task ${task}`);
  };

  /** The kernel reports a turn's end a moment before it accepts the next turn, so retry. */
  const say = async (text: string): Promise<void> => {
    for (let tries = 1;; tries++) {
      try {
        await link.ask("say", { task, text });
        return;
      } catch (error) {
        const early = error instanceof Fault && error.code === "conflict" && ended === undefined;
        if (!early || tries === MAX_TRIES) throw error;
      }
    }
  };

  const ready = await next(undefined);
  if (ended !== undefined || ready.kind === "waiting") {
    throw new Fault("upstream", `Cannot begin a session: task ${task} did not start`);
  }
  return Object.freeze<Lane>({
    task,
    async call(words): Promise<LaneEnd> {
      const text = callMessage(words);
      answer = undefined;
      question = undefined;
      await say(text);
      return await next(words.id);
    },
    next,
    async interrupt(): Promise<void> {
      await link.ask("interrupt", { task, second: false });
    },
    over: () => ended,
    async close({ drop } = { drop: false }): Promise<void> {
      try {
        if (ended === undefined && (drop || !waiting)) await link.ask("cancel", { task });
      } catch (error) {
        // The task, or the kernel, has already ended.
        if (!(error instanceof Fault)) throw error;
      } finally {
        ended ??= "the session is over";
        link.close();
      }
    },
  });
}

function reasonOf(event: TaskEvent): string {
  const reason = event.text("reason");
  return reason === "" ? "" : `: ${reason}`;
}
