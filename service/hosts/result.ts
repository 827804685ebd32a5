/** What a host is told of a call or of `run_task`: never more than its clearance allows. @module */
import {
  CallId,
  cleared,
  type Label,
  type Question,
  Question as QuestionSchema,
  type TaskId,
} from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { AgentTask } from "../../contracts/task/mod.ts";
import type { StagedChange } from "../../contracts/tool/mod.ts";
import type { ServeResult } from "../../contracts/wire/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Called, type HostKernel, type LaneEnd, toldProgress } from "./lane.ts";

/** The key of remit.yaml's `clearance` for hosts: what a host is told goes to its model. */
export const HOST_SINK = "mcp:host";
const MAX_SUMMARY = 4_000;
const MAX_ARGUMENTS = 2_000;

type Waiting = Extract<LaneEnd, { readonly kind: "waiting" }>;

/** What a host may be told, and how its person is asked. */
export interface TellingParts {
  readonly task: string;
  /** The most confidential label that hosts may see. */
  readonly clearance: Label;
  /** Whether the host's own person may answer consent. */
  readonly selfConsent: boolean;
  /**
   * Reads and verifies a change's new content in the folder `content`; returns safe lines of its
   * diff. Throws a Fault where the content does not match its digest.
   */
  show(content: string, change: StagedChange): {
    readonly lines: readonly string[];
    readonly note?: string;
  };
  /** The commands with which a person answers a question. */
  where(question: string): string;
}

/** What a host is told about the state of a call. */
export function tellingOf(end: LaneEnd, parts: TellingParts): ServeResult {
  switch (end.kind) {
    case "done":
      return calledResult(end.called, parts);
    case "over":
      return {
        ...{ outcome: "cancelled", content: "", colour: "BLUE", label: "public" },
        ...{ task: parts.task, error: `Cannot call: ${end.why}; start a new session` },
      };
    case "waiting": {
      const before = end.called === undefined ? undefined : calledResult(end.called, parts);
      return {
        ...(before ??
          { content: "", colour: end.question.scope.colour, label: "public", task: parts.task }),
        outcome: before?.outcome ?? "waiting",
        waiting: waitingOf(end, parts),
      };
    }
  }
}

/** Whether the host's person may answer: consent within its clearance, never to administration. */
export function mayConsent(
  { kind, scope }: Question,
  { selfConsent, clearance }: Pick<TellingParts, "selfConsent" | "clearance">,
): boolean {
  return selfConsent && kind === "consent" && scope.effect !== "admin" &&
    cleared(scope.label, clearance);
}

function calledResult(called: Called, { task, clearance }: TellingParts): ServeResult {
  const { outcome, content, error, colour, label } = called;
  if (!cleared(label, clearance)) {
    return {
      ...{ outcome: "refusedByPolicy", content: "", colour, label: "public", task },
      error: `Cannot tell a host what came of it: it is "${label}", and hosts are cleared for ` +
        `"${clearance}"; the operator can write clearance: { "${HOST_SINK}": ${label} } in remit.yaml`,
    };
  }
  return {
    ...{ outcome, content, colour, label, task },
    ...(error === undefined ? {} : { error: error.slice(0, 8_000) }),
  };
}

/** The verified contents of a question's changes; undefined where they cannot be shown whole. */
function contentOf(
  { question: { changes }, content }: Waiting,
  show: TellingParts["show"],
): string | undefined {
  if (changes.length === 0) return "";
  if (content === undefined) return undefined;
  try {
    const lines = changes.flatMap((change) => {
      const { lines, note } = show(content, change);
      return [fileLine(change), ...(note === undefined ? [] : [`  ${note}`]), ...lines];
    });
    const text = lines.join("\n");
    return text.length <= MAX_SUMMARY / 4 * 3 ? text : undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return undefined;
  }
}

function fileLine({ base, next, path }: Question["changes"][number]): string {
  const how = base === undefined ? "new" : next === undefined ? "delete" : "change";
  return `${how} ${displayText(path, { max: 200 })}`;
}

function waitingOf(end: Waiting, parts: TellingParts): NonNullable<ServeResult["waiting"]> {
  const { question } = end, { id, kind, changes, argumentsText, scope } = question;
  const content = contentOf(end, parts.show);
  const files = content === undefined
    ? [...changes.slice(0, 40).map(fileLine), "(too much to show here: see it at the terminal)"]
    : [content];
  // A question reveals no content above the host's clearance.
  const told = cleared(scope.label, parts.clearance);
  const what = !told ? `${scope.tool} (its particulars are "${scope.label}")` : [
    displayText(question.summary, { max: 1_000 }),
    ...(changes.length > 0 ? files : [displayText(argumentsText, { max: MAX_ARGUMENTS })]),
  ].join("\n");
  return {
    question: id,
    kind: kind === "consent" || kind === "stepUp" ? kind : "other",
    summary: what.slice(0, MAX_SUMMARY),
    where: parts.where(id),
    // A person consents only to what they saw whole; a plan has a frame of its own.
    elicit: mayConsent(question, parts) && question.plan === undefined && content !== undefined &&
      what.length <= MAX_SUMMARY &&
      argumentsText.length <= MAX_ARGUMENTS / 2,
  };
}

/** Resolves like `next`, or with `instead` after `waitMs` milliseconds. */
export async function nextWithin<T>(
  next: Promise<T>,
  { waitMs, instead, pause }: {
    readonly waitMs: number;
    readonly instead: T;
    pause(ms: number, signal: AbortSignal): Promise<void>;
  },
): Promise<T> {
  const done = new AbortController();
  try {
    return await Promise.race([next, pause(waitMs, done.signal).then(() => instead)]);
  } finally {
    done.abort();
  }
}

/** A running task of `run_task`. */
export interface RunningHostTask {
  readonly task: TaskId;
  /** Resolves when the task ends, or after it has waited for a person for `waitMs` milliseconds. */
  result(waitMs: number): Promise<ServeResult>;
  cancel(): Promise<void>;
  close(): void;
}

/** The powers of {@link followHostTask}, and its task. */
export interface RunTaskParts {
  readonly link: HostKernel;
  readonly task: TaskId;
  readonly telling: Omit<TellingParts, "task">;
  onProgress(text: string): void;
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

/** A task of `run_task` has no call; its result uses this id. */
const QUIET_CALL = CallId.parse("run_task");

/** Follows a task that was just created. */
export async function followHostTask(parts: RunTaskParts): Promise<RunningHostTask> {
  const { link, task, telling } = parts;
  let question: Question | undefined;
  const watch = await link.watch(task, (seen) => {
    if (seen.kind !== "event") return;
    const { event } = seen;
    if (event.event === "questionAsked") {
      question = QuestionSchema.safeParse(event.private["question"]).data;
    }
    if (event.event === "intent" || event.event === "refused") {
      const tool = event.text("tool");
      // TRUST: a model's words, which may repeat what it has read.
      const what = toldProgress(`${tool} ${event.subject()}`.trim(), {
        ...{ label: event.body["label"], clearance: telling.clearance, instead: tool },
      });
      parts.onProgress(
        `${event.event === "intent" ? "" : "refused: "}${displayText(what, { max: 200 })}`,
      );
    }
  });
  type End = { readonly status: string };
  let last: End | undefined;
  const follow = async (): Promise<End> => {
    last = await watch.next();
    // The kernel resumes the task after the answer.
    if (last.status === "needsApproval") {
      next = follow();
      next.catch(() => undefined);
    }
    return last;
  };
  let next = follow();

  const ended = async (): Promise<ServeResult> => {
    const { status, answer = "", reason, colour, label } = AgentTask.parse(
      await link.ask("task", { task }),
    );
    const ok = status === "done";
    return tellingOf({
      kind: "done",
      called: {
        callId: QUIET_CALL,
        outcome: ok ? "ok" : status === "cancelled" ? "cancelled" : "executionError",
        content: answer,
        ...(ok
          ? {}
          : { error: `The task is ${status}${reason === undefined ? "" : `: ${reason}`}` }),
        ...{ colour, label },
      },
    }, { ...telling, task });
  };

  return Object.freeze<RunningHostTask>({
    task,
    async result(waitMs): Promise<ServeResult> {
      const end = last ?? await next;
      if (end.status !== "needsApproval" || question === undefined) return await ended();
      const waiting = tellingOf({
        ...{ kind: "waiting", question },
        ...(question.changes.length === 0 ? {} : { content: (await link.staged(task)).content }),
      }, { ...telling, task });
      parts.onProgress(`waits for a person: question ${question.id}`);
      if (waitMs === 0) return waiting;
      const { status } = await nextWithin(next, { waitMs, instead: end, pause: parts.pause });
      return status === "needsApproval" ? waiting : await ended();
    },
    async cancel(): Promise<void> {
      await link.ask("cancel", { task });
    },
    close: () => link.close(),
  });
}
