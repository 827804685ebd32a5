/**
 * Collects a peer's answers and stream events about one task, within limits. Used by peer_ops.ts
 * and peer_result.ts.
 * @module
 */
import {
  type Artifact,
  type Message,
  type Part,
  Role,
  type StreamResponse,
  type Task,
  TaskState,
  type TaskStatus,
} from "@a2a-js/sdk";
import { Fault } from "../../../contracts/base/fault.ts";
import type { Label } from "../../../contracts/authority/colour.ts";
import type { ExchangeState, PeerSaid } from "../../../contracts/exchange/exchange.ts";
import {
  higherLabel,
  PEER_SAID_UNITS,
  peerLabelIn,
  peerTaskWords,
} from "../../../contracts/exchange/peer_words.ts";
import { cutText, type ReportViolation } from "../../mcp/client/mod.ts";
import { ARTIFACTS, NOTICES, PARTS, RESULT_UNITS, SAID } from "./limits.ts";

/** An artifact, with the parts received so far. */
export interface HeardArtifact {
  readonly id: string;
  readonly name: string;
  readonly parts: readonly Part[];
}

/** What a peer has said about one task. */
export interface Heard {
  /** The peer's id of the task; undefined before the peer named one, or when it answers without a task. */
  readonly task: string | undefined;
  readonly context: string | undefined;
  readonly state: ExchangeState | undefined;
  /** The message of the state, or the message that answers without a task. */
  readonly message: readonly Part[];
  readonly artifacts: readonly HeardArtifact[];
  /** The highest label of anything received. */
  readonly label: Label;
  /** Parts left out for lack of room. */
  readonly dropped: number;
  /** The task is over, or waits for us. */
  readonly settled: boolean;
  /** The task is over: the message of its state is the result. */
  readonly over: boolean;
  /** Complete artifacts. */
  readonly ready: readonly Pick<HeardArtifact, "id" | "name">[];
  /** Takes the answer to a poll. @throws Fault `upstream` when it is of another task */
  answered(answer: Task | Message): void;
  /** Takes the answer to our message; its "waits for us" may be older than the message. Throws as `answered`. */
  sent(answer: Task | Message): void;
  /** Takes a stream event; one of another task is reported and dropped. */
  event(event: StreamResponse): void;
}

interface HeardParts {
  /** The task that the call is about; absent: a new one. */
  readonly task?: string | undefined;
  readonly report: ReportViolation;
  /** Receives the text of each status message; before all, the id of a new task in our words. */
  notice(text: string): void;
  /** Receives each message for the inbox: all but the task's last. */
  said(message: SaidParts): void;
}

const STATES: Readonly<Record<number, ExchangeState>> = {
  [TaskState.TASK_STATE_SUBMITTED]: "submitted",
  [TaskState.TASK_STATE_WORKING]: "working",
  [TaskState.TASK_STATE_COMPLETED]: "completed",
  [TaskState.TASK_STATE_FAILED]: "failed",
  [TaskState.TASK_STATE_CANCELED]: "canceled",
  [TaskState.TASK_STATE_INPUT_REQUIRED]: "inputRequired",
  [TaskState.TASK_STATE_REJECTED]: "rejected",
  [TaskState.TASK_STATE_AUTH_REQUIRED]: "authRequired",
};
const OVER: ReadonlySet<ExchangeState> = new Set(
  ["completed", "failed", "canceled", "rejected"] as const,
);
const ASKS: ReadonlySet<ExchangeState> = new Set(["inputRequired", "authRequired"] as const);
const ID_UNITS = 128;

/** Makes the collector of one call. */
export function makeHeard({ task: meant, report, notice, said }: HeardParts): Heard {
  let task = meant, context: string | undefined, state: ExchangeState | undefined;
  let message: readonly Part[] = [], answeredAlone = false, stale = false;
  const artifacts = new Map<string, { name: string; parts: Part[]; ready: boolean }>();
  let label: Label = "public";
  const labelled = ({ metadata }: Pick<Message, "metadata">): void => {
    label = higherLabel(label, peerLabelIn(metadata));
  };
  let parts = 0, units = 0, dropped = 0, notices = 0, lastNotice = "";

  const isOurs = (id: string): boolean => {
    if (id === "" || id.length > ID_UNITS) return task !== undefined && id === "";
    if (task === undefined) {
      task = id;
      tell(peerTaskWords(id));
    }
    return id === task;
  };
  const fits = (part: Part): boolean => {
    parts++;
    units += unitsOf(part);
    if (parts <= PARTS && units <= RESULT_UNITS) return true;
    dropped++;
    return false;
  };
  const tell = (text: string): void => {
    if (text === "" || text === lastNotice || ++notices > NOTICES) return;
    lastNotice = text;
    notice(text);
  };
  const status = (given: TaskStatus | undefined): void => {
    if (given === undefined) return;
    state = STATES[given.state] ?? state;
    if (given.message !== undefined) labelled(given.message);
    const words = given.message?.parts ?? [];
    if (words.length === 0) {
      // A state without a message does not keep the message of the state before.
      if (isSettled(state)) message = [];
      else if (state === "submitted") tell("it has the message, and has not begun");
      return;
    }
    message = words.slice(0, PARTS);
    tell(textOf(message));
    if (state !== undefined && OVER.has(state)) return;
    const kind = state !== undefined && ASKS.has(state) ? "question" : "status";
    said({ kind, message: given.message?.messageId ?? "", task, parts: message, label });
  };
  const artifact = (
    given: Artifact | undefined,
    { append, last }: { readonly append: boolean; readonly last: boolean },
  ): void => {
    if (given === undefined || given.artifactId.length > 256) return;
    labelled(given);
    const before = artifacts.get(given.artifactId);
    if (before === undefined && artifacts.size >= ARTIFACTS) return void dropped++;
    const kept = given.parts.filter(fits);
    artifacts.set(given.artifactId, {
      name: cutText(given.name || (before?.name ?? ""), 256),
      parts: append ? [...before?.parts ?? [], ...kept] : kept,
      ready: last,
    });
  };
  const whole = (given: Task): void => {
    if (given.contextId !== "" && given.contextId.length <= ID_UNITS) context = given.contextId;
    status(given.status);
    parts = units = 0;
    for (const each of given.artifacts) artifact(each, { append: false, last: true });
    if (state !== undefined && OVER.has(state) && message.length + artifacts.size === 0) {
      const last = given.history.findLast(({ role }) => role === Role.ROLE_AGENT);
      message = (last?.parts ?? []).filter(fits);
    }
  };
  const alone = (given: Message): void => {
    answeredAlone = true;
    labelled(given);
    if (given.contextId !== "" && given.contextId.length <= ID_UNITS) context = given.contextId;
    message = given.parts.filter(fits);
  };
  const answered = (answer: Task | Message): void => {
    if ("messageId" in answer) {
      if (meant !== undefined && answer.taskId !== "" && answer.taskId !== meant) throw stranger();
      return alone(answer);
    }
    if (!isOurs(answer.id)) throw stranger();
    stale = false;
    whole(answer);
  };
  const sent = (answer: Task | Message): void => {
    answered(answer);
    stale = meant !== undefined && (state === "inputRequired" || state === "authRequired");
  };
  const other = (): void => report("It spoke of another task than the one that was asked about");

  return Object.freeze<Heard>({
    get task() {
      return task;
    },
    get context() {
      return context;
    },
    get state() {
      return state;
    },
    get message() {
      return message;
    },
    get artifacts() {
      return [...artifacts].map(([id, { name, parts: each }]) => ({ id, name, parts: each }));
    },
    get label() {
      return label;
    },
    get dropped() {
      return dropped;
    },
    get settled() {
      return answeredAlone || (isSettled(state) && !stale);
    },
    get over() {
      return answeredAlone || (state !== undefined && OVER.has(state));
    },
    get ready() {
      return [...artifacts].flatMap(([id, { name, ready }]) => ready ? [{ id, name }] : []);
    },
    ...{ answered, sent },
    event({ payload }) {
      switch (payload?.$case) {
        case "task":
          return isOurs(payload.value.id) ? sent(payload.value) : other();
        case "message":
          return alone(payload.value);
        case "statusUpdate":
          if (!isOurs(payload.value.taskId)) return other();
          stale = false;
          return status(payload.value.status);
        case "artifactUpdate":
          return isOurs(payload.value.taskId)
            ? artifact(payload.value.artifact, {
              append: payload.value.append,
              last: payload.value.lastChunk,
            })
            : other();
        case undefined:
          return;
      }
    },
  });
}

function isSettled(state: ExchangeState | undefined): boolean {
  return state !== undefined && (OVER.has(state) || ASKS.has(state));
}

function stranger(): Fault {
  return new Fault("upstream", "Cannot use the peer's answer: it is about another task");
}

function textOf(parts: readonly Part[]): string {
  return cutText(
    parts.flatMap(({ content }) => content?.$case === "text" ? [content.value] : []).join("\n"),
    8_192,
  );
}

function unitsOf({ content }: Part): number {
  switch (content?.$case) {
    case "text":
    case "url":
      return content.value.length;
    case "raw":
      return Math.ceil(content.value.length * 4 / 3);
    case "data":
      return JSON.stringify(content.value ?? null).length;
    case undefined:
      return 0;
  }
}

/** A message for the inbox, without its call. */
type Said = Omit<PeerSaid, "id">;

interface SaidParts {
  readonly kind: PeerSaid["kind"];
  /** The peer's id of the message. */
  readonly message: string;
  readonly task: string | undefined;
  readonly parts: readonly Part[];
  readonly label: NonNullable<PeerSaid["label"]>;
}

/** Passes messages to `tell`: a limited number of each kind, and none twice. */
export function makeSaying(tell: (said: Said) => void): {
  message(given: SaidParts): void;
  /** Tells of complete artifacts that the result does not show. */
  ready(
    task: string | undefined,
    artifacts: readonly { readonly id: string; readonly name: string }[],
  ): void;
} {
  const seen = new Set<string>();
  const counts: Record<PeerSaid["kind"], number> = { status: 0, question: 0, artifactReady: 0 };
  const pass = (said: Said): void => {
    const name = JSON.stringify([said.kind, said.message, said.body]);
    if (said.body === "" || seen.has(name) || counts[said.kind] >= SAID[said.kind]) return;
    counts[said.kind] += 1;
    seen.add(name);
    tell(said);
  };
  const ofTask = (task: string | undefined): Pick<Said, "task"> =>
    task === undefined ? {} : { task };
  return Object.freeze({
    message({ kind, message, task, parts, label }: SaidParts): void {
      const units = kind === "question" ? PEER_SAID_UNITS : SAID.statusUnits;
      const body = cutText(parts.map(wordsOf).filter((each) => each !== "").join("\n"), units);
      const told = { kind, message: cutText(message, 1_024), ...ofTask(task), body, artifacts: [] };
      pass(label === "public" ? told : { ...told, label });
    },
    ready(task, artifacts): void {
      const some = artifacts.slice(0, SAID.artifacts);
      const lines = some.map(({ id, name }) => `${JSON.stringify(id)} ${JSON.stringify(name)}`);
      pass({
        ...{ kind: "artifactReady", message: "", ...ofTask(task) },
        body: cutText(lines.join("\n"), SAID.statusUnits),
        artifacts: some.map(({ id }) => cutText(id, 256)),
      });
    },
  });
}

/** A part as text: a link is named and never followed, bytes are counted. */
function wordsOf({ content }: Part): string {
  switch (content?.$case) {
    case "text":
      return content.value;
    case "data":
      return JSON.stringify(content.value ?? null);
    case "url":
      return `⟨link ${JSON.stringify(cutText(content.value, 1_024))}, not followed⟩`;
    case "raw":
      return `⟨${content.value.length} bytes, left out⟩`;
    case undefined:
      return "";
  }
}
