/** What a peer has said of one task so far, of answers and of streams: bounded, and of no other task. @module */
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

/** An artifact, as far as it came. */
export interface HeardArtifact {
  readonly id: string;
  readonly name: string;
  readonly parts: readonly Part[];
}

/** See {@link makeHeard}. */
export interface Heard {
  /** The peer's names of the task; undefined before it said one, or when it answered with a message alone. */
  readonly task: string | undefined;
  readonly context: string | undefined;
  readonly state: ExchangeState | undefined;
  /** What was said with the state, or the message that it answered with. */
  readonly message: readonly Part[];
  readonly artifacts: readonly HeardArtifact[];
  /** The highest label that it said of anything. */
  readonly label: Label;
  /** Parts that there was no room for. */
  readonly dropped: number;
  /** It is over, or waits for us. */
  readonly settled: boolean;
  /** It is over: what was said with the state is the result. */
  readonly over: boolean;
  /** Artifacts of which nothing more comes. */
  readonly ready: readonly Pick<HeardArtifact, "id" | "name">[];
  /** Takes the answer to a look. @throws Fault `upstream` when it is of another task */
  answered(answer: Task | Message): void;
  /** Takes the answer to a message of ours: that it waits for us may be how it stood before. Throws as `answered`. */
  sent(answer: Task | Message): void;
  /** What belongs to another task is reported and left out. */
  event(event: StreamResponse): void;
}

interface HeardParts {
  /** The task that is meant; absent: a new one. */
  readonly task?: string | undefined;
  readonly report: ReportViolation;
  /** A status message came: its text; first of all, the name of the task that the peer made, in our words. */
  notice(text: string): void;
  /** A message came that is not the end of the task: it is the inbox's. */
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

/** Collects what is heard during one call. */
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
      told(peerTaskWords(id));
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
  const told = (text: string): void => {
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
      // A state that says nothing says nothing of the state before.
      if (isSettled(state)) message = [];
      else if (state === "submitted") told("it has the message, and has not begun");
      return;
    }
    message = words.slice(0, PARTS);
    told(textOf(message));
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

// What a peer says beside the result of a call, a message at a time: bounded, and each once.

/** A message, without the call that it came during. */
type Said = Omit<PeerSaid, "id">;

interface SaidParts {
  readonly kind: PeerSaid["kind"];
  /** The peer's own id of it. */
  readonly message: string;
  readonly task: string | undefined;
  readonly parts: readonly Part[];
  readonly label: NonNullable<PeerSaid["label"]>;
}

/** Makes what passes messages on to `tell`: of each kind only so many, and nothing twice. */
export function makeSaying(tell: (said: Said) => void): {
  message(given: SaidParts): void;
  /** Artifacts that are there, and are not shown with the result. */
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

/** A part as words: a link is named and never followed, bytes are counted. */
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
