/** What a host is told of a call: never more than it is cleared for. @module */
import {
  AgentTask,
  CallId,
  cleared,
  Fault,
  type Label,
  type Question,
  Question as QuestionSchema,
  type ServeResult,
  type TaskId,
} from "../../contracts/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Called, type LaneEnd, toldProgress } from "./lane.ts";
import type { Hands, KernelLink } from "../hands.ts";
import { showChange } from "../question/shown_content.ts";
import { subjectOf, textOf } from "../audit/event_fields.ts";
import { askStaged, type WatchEnd, watchTask } from "../run/watch_task.ts";

/** Key of remit.yaml's `clearance` for hosts: what they are told leaves for their models. */
export const HOST_SINK = "mcp:host";
const SUMMARY = 4_000;
const ARGUMENTS = 2_000;

type Waiting = Extract<LaneEnd, { readonly kind: "waiting" }>;

/** What decides what a host is told. */
export interface TellingParts {
  readonly task: string;
  /** The most confidential text that hosts are told. */
  readonly clearance: Label;
  /** The host's own person may answer consent. */
  readonly selfConsent: boolean;
  /** What content of changes is read from. */
  readonly disk: Pick<Hands["disk"], "read">;
  /** How a person answers a question: commands to type. */
  where(question: string): string;
}

/** What a host is told of how a call stands. */
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

/** Whether the host's own person may answer: a consent that it is told whole, and none to administration. */
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

/** What a question would change, read and hashed here; undefined where that cannot be shown whole. */
function contentOf(
  { question: { changes }, content }: Waiting,
  disk: TellingParts["disk"],
): string | undefined {
  if (changes.length === 0) return "";
  if (content === undefined) return undefined;
  try {
    const lines = changes.flatMap((change) => {
      const { lines, note } = showChange(disk, content, change);
      return [fileLine(change), ...(note === undefined ? [] : [`  ${note}`]), ...lines];
    });
    const text = lines.join("\n");
    return text.length <= SUMMARY / 4 * 3 ? text : undefined;
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
  const content = contentOf(end, parts.disk);
  const files = content === undefined
    ? [...changes.slice(0, 40).map(fileLine), "(too much to show here: see it at the terminal)"]
    : [content];
  // Content that the host is not cleared for is not told in a question either.
  const told = cleared(scope.label, parts.clearance);
  const what = !told ? `${scope.tool} (its particulars are "${scope.label}")` : [
    displayText(question.summary, { max: 1_000 }),
    ...(changes.length > 0 ? files : [displayText(argumentsText, { max: ARGUMENTS })]),
  ].join("\n");
  return {
    question: id,
    kind: kind === "consent" || kind === "stepUp" ? kind : "other",
    summary: what.slice(0, SUMMARY),
    where: parts.where(id),
    // What a person was not shown whole is nothing that they can agree to.
    elicit: mayConsent(question, parts) && content !== undefined && what.length <= SUMMARY &&
      argumentsText.length <= ARGUMENTS / 2,
  };
}

// `run_task` of a host: a task of its own, followed to its end.

/** A task under way. */
export interface RunningHostTask {
  readonly task: TaskId;
  /** What its host is told: at its end, or when it waits for a person and `waitMs` are over. */
  result(waitMs: number): Promise<ServeResult>;
  cancel(): Promise<void>;
  close(): void;
}

/** What following is made of. */
export interface RunTaskParts {
  readonly link: KernelLink;
  readonly task: TaskId;
  readonly telling: Omit<TellingParts, "task">;
  onProgress(text: string): void;
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

/** The id of a call that there is none of. */
const QUIET_CALL = CallId.parse("run_task");

/** Follows a task that was just created. */
export async function followHostTask(parts: RunTaskParts): Promise<RunningHostTask> {
  const { link, task, telling } = parts;
  let question: Question | undefined;
  const watch = await watchTask(link, task, {
    from: 0,
    onSeen(seen): void {
      if (seen.kind !== "event") return;
      const { event } = seen;
      if (event.event === "questionAsked") {
        question = QuestionSchema.safeParse(event.private["question"]).data;
      }
      if (event.event === "intent" || event.event === "refused") {
        const tool = textOf(event, "tool");
        // TRUST: a model's words, which may be what it has read.
        const what = toldProgress(`${tool} ${subjectOf(event)}`.trim(), {
          ...{ label: event.body["label"], clearance: telling.clearance, instead: tool },
        });
        parts.onProgress(
          `${event.event === "intent" ? "" : "refused: "}${displayText(what, { max: 200 })}`,
        );
      }
    },
  });
  let last: WatchEnd | undefined;
  const follow = async (): Promise<WatchEnd> => {
    last = await watch.next();
    // The kernel goes on with it when the answer is there.
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
      let end = last ?? await next;
      if (end.status !== "needsApproval" || question === undefined) return await ended();
      const waiting = tellingOf({
        ...{ kind: "waiting", question },
        ...(question.changes.length === 0
          ? {}
          : { content: (await askStaged(link, task)).content }),
      }, { ...telling, task });
      parts.onProgress(`waits for a person: question ${question.id}`);
      if (waitMs === 0) return waiting;
      const done = new AbortController();
      try {
        const late = parts.pause(waitMs, done.signal).then(() => end);
        end = await Promise.race([next, late]);
      } finally {
        done.abort();
      }
      return end.status === "needsApproval" ? waiting : await ended();
    },
    async cancel(): Promise<void> {
      await link.ask("cancel", { task });
    },
    close: () => link.close(),
  });
}
