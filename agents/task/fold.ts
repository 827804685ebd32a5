/** A task's state as the fold of its events. @module */
import { DEFAULT_LIMITS, Limits } from "../../contracts/task/budget.ts";
import { mixColour, mixLabel, mixTaints } from "../../contracts/authority/colour.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { AgentTask, TASK_TRANSITIONS, TaskRequest, TaskStatus } from "../../contracts/task/task.ts";
import type { ChatMessage } from "../../contracts/model/chat.ts";
import type { EventKind, NewEvent } from "../../contracts/task/event.ts";
import { Digest, type TaskId } from "../../contracts/authority/ids.ts";
import { isObject, type Json, type JsonObject, toJson } from "../../contracts/base/json.ts";

/** One event as the fold reads it: its public body and, unless purged, its private part. */
export interface FoldEvent {
  readonly kind: EventKind;
  readonly at: number;
  readonly body: JsonObject;
  readonly private?: JsonObject | undefined;
}

/** Whether a status is final. */
export function isFinal(status: TaskStatus): boolean {
  return TASK_TRANSITIONS[status].length === 0;
}

/** Throws `conflict` for a transition that is not allowed; `resumed`: a person resumes a failed task. */
export function checkTransition(
  task: TaskId,
  from: TaskStatus,
  to: TaskStatus,
  resumed = false,
): void {
  if (from === to || (resumed && from === "failed" && to === "open")) return;
  if (!TASK_TRANSITIONS[from].includes(to)) {
    throw new Fault("conflict", `Cannot make task ${task} "${to}": it is "${from}"`);
  }
}

/** Whether no turn is running after an event, given the value before it. */
export function isTurnOver(before: boolean, event: FoldEvent): boolean {
  if (event.kind === "taskCreated" || event.kind === "message") return false;
  // `open` without an answer or failure means that the turn continues.
  return event.kind === "taskStatus" && event.body["status"] === "open"
    ? before || event.private?.["answer"] !== undefined || event.body["failed"] !== undefined
    : before;
}

/** Whether the event is a refusal for colour, which decides a task's exit code (69). */
export function isContaminating(event: FoldEvent): boolean {
  return event.kind === "refused" && event.body["code"] === "contaminated";
}

function created(task: TaskId, event: FoldEvent): AgentTask {
  const harness = typeof event.body["harness"] === "string" ? event.body["harness"] : "unknown";
  const request = TaskRequest.safeParse(event.private?.["request"]);
  if (!request.success) {
    throw new Fault("storeCorrupt", `Cannot read task ${task}: its request does not parse`);
  }
  const asked = request.data;
  const colour = AgentTask.shape.colour.safeParse(event.body["colour"]);
  const label = AgentTask.shape.label.safeParse(event.body["label"]);
  return {
    id: task,
    request: asked.request,
    objective: objectiveOf(asked.request, asked.ingress),
    session: asked.session,
    ingress: asked.ingress,
    profile: asked.profile,
    model: asked.model.ref,
    harness,
    ...(asked.agent === undefined ? {} : { agent: asked.agent.name, labels: asked.agent.labels }),
    status: "open",
    phase: asked.phase,
    mounts: asked.mounts,
    ...(asked.folder === undefined ? {} : { folder: asked.folder }),
    ...rulesIn(event),
    limits: { ...DEFAULT_LIMITS, ...definedOf(asked.limits) },
    // A fork has the colour and label of the original.
    colour: colour.success ? colour.data : asked.ingress.colour,
    label: label.success ? label.data : asked.ingress.label,
    questions: [],
    artifacts: [],
    applied: [],
    createdAt: event.at,
    updatedAt: event.at,
    archived: false,
    purged: false,
  };
}

function definedOf(limits: Partial<TaskRequest["limits"]>): Partial<typeof DEFAULT_LIMITS> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

/** The request's first line for lists, at most 200 characters; for a peer's message the peer and its first line. */
function objectiveOf(
  request: string,
  ingress?: Pick<TaskRequest["ingress"], "channel" | "principal">,
): string {
  const lines = request.split("\n");
  // Lines of a sender begin with "| " (agents/post/inbox/deliveries.ts).
  const said = ingress?.channel === "a2a" ? lines.find((each) => /^\| *\S/.test(each)) : undefined;
  const line = said === undefined
    ? lines.find((each) => each.trim() !== "") ?? ""
    : `${ingress?.principal.replace(":", " ")}: ${said.slice(1).trim()}`;
  return [...line.trim()].slice(0, 200).join("");
}

const text = (value: unknown): string | undefined => typeof value === "string" ? value : undefined;

/**
 * The next state. `state` is undefined only before `taskCreated`.
 *
 * @throws Fault `storeCorrupt` when an event cannot follow the state.
 */
export function foldTask(
  task: TaskId,
  state: AgentTask | undefined,
  event: FoldEvent,
): AgentTask {
  if (event.kind === "taskCreated") return created(task, event);
  if (state === undefined) {
    throw new Fault("storeCorrupt", `Cannot read task ${task}: it begins with "${event.kind}"`);
  }
  const next = { ...state, updatedAt: event.at };
  switch (event.kind) {
    case "taskStatus": {
      const status = TaskStatus.safeParse(event.body["status"]);
      if (!status.success) {
        throw new Fault("storeCorrupt", `Cannot read task ${task}: a status does not parse`);
      }
      const exit = event.body["exit"];
      const answer = text(event.private?.["answer"]);
      const reason = text(event.private?.["reason"]) ?? text(event.body["reason"]);
      const { reason: _before, exit: last, ...rest } = next;
      // A continuing task has no exit code; drop that of the wait.
      const kept = status.data === "open" || last === undefined ? {} : { exit: last };
      return {
        ...rest,
        ...kept,
        status: status.data,
        ...(typeof exit === "number" ? { exit } : {}),
        ...(answer === undefined ? {} : { answer }),
        ...(reason === undefined ? {} : { reason }),
        archived: event.body["archived"] === true || state.archived,
      };
    }
    case "message":
      return { ...next, ...mixTaints(next, taintIn(event)) };
    case "recovered":
      return { ...next, ...rulesIn(event) };
    case "phase": {
      const phase = AgentTask.shape.phase.safeParse(event.body["phase"]);
      return phase.success ? { ...next, phase: phase.data } : next;
    }
    case "taskIntake": {
      const objective = text(event.private?.["objective"]);
      return objective === undefined ? next : { ...next, objective: objectiveOf(objective) };
    }
    case "questionAsked": {
      const question = text(event.body["question"]);
      return question === undefined || state.questions.includes(question)
        ? next
        : { ...next, questions: [...state.questions, question] };
    }
    case "questionAnswered":
      return { ...next, ...unansweredIn(state, event) };
    case "budget": {
      const limits = Limits.partial().safeParse(event.body["limits"]);
      if (!limits.success) return next;
      const { callsByEffect, ...plain } = definedOf(limits.data);
      const effects = { ...state.limits.callsByEffect, ...callsByEffect };
      return { ...next, limits: { ...state.limits, ...plain, callsByEffect: effects } };
    }
    case "outcome":
      return foldOutcome(next, event);
    case "purged": {
      const { answer: _answer, reason: _reason, folder: _folder, ...kept } = next;
      return { ...kept, purged: true, request: "(purged)", objective: "(purged)", mounts: [] };
    }
    default:
      return next;
  }
}

/** The digest of the rules in an event; none in events of earlier versions. */
function rulesIn({ body }: FoldEvent): Pick<AgentTask, "rules"> {
  const rules = Digest.safeParse(body["rules"]);
  return rules.success ? { rules: rules.data } : {};
}

const COLOUR_OR_BLUE = AgentTask.shape.colour.catch("BLUE");
const LABEL_OR_PUBLIC = AgentTask.shape.label.catch("public");

/** The reason of a task whose question has expired. */
function unansweredIn(state: AgentTask, { body }: FoldEvent): Pick<AgentTask, "reason"> {
  const question = text(body["question"]) ?? "";
  const waits = state.status === "needsApproval" && question !== "" &&
    state.reason?.includes(question) === true;
  return !waits || body["state"] !== "expired" ? {} : {
    reason:
      `question ${question} has expired, nobody answered it: "remit resume ${state.id}" asks it again`,
  };
}

/** Colour and label of a message; a person's own message has none. */
function taintIn({ body }: FoldEvent): Pick<AgentTask, "colour" | "label"> {
  return {
    colour: COLOUR_OR_BLUE.parse(body["colour"]),
    label: LABEL_OR_PUBLIC.parse(body["label"]),
  };
}

function foldOutcome(state: AgentTask, event: FoldEvent): AgentTask {
  const colour = AgentTask.shape.colour.safeParse(event.body["colour"]);
  const label = AgentTask.shape.label.safeParse(event.body["label"]);
  const patch = Digest.safeParse(objectAt(objectAt(event.private, "record"), "applied")?.["patch"]);
  const artifact = text(objectAt(objectAt(event.private, "record"), "artifact")?.["id"]);
  return {
    ...state,
    // Colours only fall: a later result of a better colour does not raise the task's.
    ...(colour.success ? { colour: mixColour(state.colour, colour.data) } : {}),
    ...(label.success ? { label: mixLabel(state.label, label.data) } : {}),
    ...(patch.success ? { applied: [...state.applied, patch.data] } : {}),
    ...(artifact === undefined ? {} : { artifacts: [...state.artifacts, artifact] }),
  };
}

function objectAt(value: Json | undefined, key: string): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const found = value[key];
  return isObject(found) ? found : undefined;
}

/** Logs of tasks. */
export interface TaskHistory {
  /** Every task that has a log. */
  tasks(): Promise<readonly TaskId[]>;
  /** A task's events, in order. */
  events(task: TaskId): AsyncIterable<FoldEvent>;
}

/** State folded from a task's log. */
export interface Remembered {
  readonly task: AgentTask;
  /** Whether no turn was running. */
  readonly turnOver: boolean;
  readonly contaminated: boolean;
}

/** Folds a task's whole log; undefined when its content is erased, or does not fold. */
export async function rememberTask(
  history: TaskHistory,
  task: TaskId,
): Promise<Remembered | undefined> {
  let state: AgentTask | undefined;
  let turnOver = false;
  let contaminated = false;
  try {
    for await (const event of history.events(task)) {
      state = foldTask(task, state, event);
      turnOver = isTurnOver(turnOver, event);
      contaminated ||= isContaminating(event);
    }
  } catch (error) {
    if (error instanceof Fault && error.code === "storeCorrupt") return undefined;
    throw error;
  }
  return state === undefined ? undefined : { task: state, turnOver, contaminated };
}

/** Version and rules of the kernel that creates tasks. */
export interface Origin {
  readonly harness: string;
  /** Digest of the kernel's rules. */
  readonly rules: Digest;
}

/** The event that creates a task. */
export function createdEvent(
  request: TaskRequest,
  { harness, rules }: Origin,
): NewEvent & { readonly private: NonNullable<NewEvent["private"]> } {
  return {
    kind: "taskCreated",
    body: {
      session: request.session,
      principal: request.ingress.principal,
      channel: request.ingress.channel,
      profile: request.profile,
      model: request.model.ref,
      ...{ harness, rules },
      interactive: request.interactive,
    },
    private: { request: toJson(request) },
  };
}

/** The event of a person's message to a task. */
export function saidEvent(message: ChatMessage): NewEvent {
  return { kind: "message", body: { role: "user" }, private: { message: toJson(message) } };
}
