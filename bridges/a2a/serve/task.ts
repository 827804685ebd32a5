/**
 * Converts an exchange to the A2A task that its peer sees. A2A 1.0, section 4.1. Used by handler.ts
 * and stream_events.ts.
 * @module
 */
import {
  type Artifact,
  type Message,
  Role,
  type Task,
  type TaskPushNotificationConfig,
  TaskState,
  type TaskStatus,
} from "@a2a-js/sdk";
import type {
  Exchange,
  ExchangeState,
  PeerArtifact,
  PeerMessage,
  PushConfig,
} from "../../../contracts/exchange/exchange.ts";
import { peerLabelOf } from "../../../contracts/exchange/peer_words.ts";
import { metadataOf, partOf } from "./part.ts";

const STATES = {
  submitted: TaskState.TASK_STATE_SUBMITTED,
  working: TaskState.TASK_STATE_WORKING,
  inputRequired: TaskState.TASK_STATE_INPUT_REQUIRED,
  authRequired: TaskState.TASK_STATE_AUTH_REQUIRED,
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  canceled: TaskState.TASK_STATE_CANCELED,
  rejected: TaskState.TASK_STATE_REJECTED,
} as const satisfies Record<ExchangeState, TaskState>;

const FINAL: ReadonlySet<ExchangeState> = new Set(["completed", "failed", "canceled", "rejected"]);
const INTERRUPTED: ReadonlySet<ExchangeState> = new Set(["inputRequired", "authRequired"]);

/** Whether a state is final. */
export function isFinal(state: ExchangeState): boolean {
  return FINAL.has(state);
}

/** Whether a state is final or the peer's turn: blocking requests and streams end here. */
export function isSettled(state: ExchangeState): boolean {
  return FINAL.has(state) || INTERRUPTED.has(state);
}

/** The exchange's state for one of A2A; undefined for none. */
export function exchangeState(state: TaskState): ExchangeState | undefined {
  return (Object.keys(STATES) as ExchangeState[]).find((key) => STATES[key] === state);
}

/** The parts of an exchange that a task shows. */
interface TaskView {
  /** The number of last messages; undefined: all. */
  readonly historyLength?: number | undefined;
  /** False: without artifacts. */
  readonly artifacts?: boolean;
}

/** The A2A task of an exchange. */
export function taskOf(exchange: Exchange, view: TaskView = {}): Task {
  const { historyLength } = view;
  const history = historyLength === undefined
    ? exchange.history
    : historyLength === 0
    ? []
    : exchange.history.slice(-historyLength);
  return {
    id: exchange.id,
    contextId: exchange.context,
    status: statusOf(exchange),
    artifacts: view.artifacts === false ? [] : exchange.artifacts.map(artifactOf),
    history: history.map((message) => messageOf(exchange, message)),
    metadata: metadataOf(exchange.metadata),
  };
}

/** The A2A status of an exchange. */
export function statusOf(exchange: Exchange): TaskStatus {
  const { status, state, updatedAt } = exchange;
  return {
    state: STATES[state],
    message: status === undefined ? undefined : messageOf(exchange, status),
    timestamp: new Date(updatedAt).toISOString(),
  };
}

function messageOf(
  exchange: { readonly id: string; readonly context: string },
  message: PeerMessage,
): Message {
  return {
    messageId: message.id,
    contextId: exchange.context,
    taskId: exchange.id,
    role: message.role === "peer" ? Role.ROLE_USER : Role.ROLE_AGENT,
    parts: message.parts.map(partOf),
    metadata: metadataOf(message.metadata),
    extensions: [...message.extensions],
    referenceTaskIds: [...message.references],
  };
}

/** The message that answers directly, without a task; undefined where there is a task. */
export function directOf(exchange: Exchange): Message | undefined {
  const { direct, state, status } = exchange;
  if (direct !== true || state !== "completed" || status === undefined) return undefined;
  return { ...messageOf(exchange, status), taskId: "" };
}

/** An A2A artifact. Remit's own id of it is not shown. */
export function artifactOf(artifact: PeerArtifact): Artifact {
  return {
    artifactId: artifact.id,
    name: artifact.name,
    description: artifact.description,
    parts: artifact.parts.map(partOf),
    metadata: peerLabelOf(artifact.label),
    extensions: [],
  };
}

/** The settings of push notifications, as A2A shows them. */
export function pushConfigOf(exchange: string, config: PushConfig): TaskPushNotificationConfig {
  const { authentication } = config;
  return {
    tenant: "",
    id: config.id,
    taskId: exchange,
    url: config.url,
    token: config.token ?? "",
    authentication: authentication === undefined
      ? undefined
      : { scheme: authentication.scheme, credentials: authentication.credentials ?? "" },
  };
}
