/** An exchange as the kernel keeps it: a head that changes, and messages and artifacts that do not. @module */
import { Fault, unreachable } from "../../../contracts/base/fault.ts";
import { EXIT } from "../../../contracts/base/fault_exit.ts";
import type { NewEvent } from "../../../contracts/task/event.ts";
import {
  Exchange,
  type ExchangeId,
  type ExchangeState,
  PeerArtifact,
  PeerMessage,
  PeerSend,
  PushConfig,
} from "../../../contracts/exchange/exchange.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  toJsonObject,
} from "../../../contracts/base/json.ts";
import type { DocumentRow, DocumentWrite } from "../../../contracts/task/store.ts";
import type { AgentTask, TaskRequest } from "../../../contracts/task/task.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { canonicalJson } from "../../../port/mod.ts";

/** Kinds of documents: the head, its messages and artifacts, and the request that waits for a person. */
export const HEAD = "exchange", PART = "exchangePart", REQUEST = "exchangeRequest";

/** Where deliveries go, and how far they came. */
export interface Push {
  readonly config: PushConfig;
  /** The newest version that was delivered. */
  readonly delivered: number;
  readonly attempt: number;
  /** Not before. */
  readonly again: number;
}

/** An exchange without its contents. */
export interface ExchangeHead extends Omit<Exchange, "history" | "artifacts" | "pushes"> {
  readonly clearance: PeerSend["clearance"];
  /** Digest of the first message, and of the context where its peer named one: a replay is known by it. */
  readonly first?: string;
  /** What the agent asked in this turn. */
  readonly asking?: string;
  /** With what it ends the exchange at this turn's end, in place of its last words. */
  readonly answering?: string;
  /** The status is a part of what was said: it goes into the history when another follows. */
  readonly said: boolean;
  readonly pushes: readonly Push[];
  /** Messages and artifacts that are kept, and their characters. */
  readonly messages: number;
  readonly artifacts: number;
  readonly bytes: { readonly theirs: number; readonly ours: number };
}

const Base = Exchange.omit({ history: true, artifacts: true, pushes: true }).strip();

/** The head that a document holds; undefined where it was erased. @throws Fault `storeCorrupt` */
export function headOf({ id, body }: Pick<DocumentRow, "id" | "body">): ExchangeHead | undefined {
  if (body["erased"] === true) return undefined;
  const base = Base.safeParse(body);
  const { clearance, first, asking, answering, said, messages, artifacts, bytes } = body;
  const label = PeerSend.shape.clearance.safeParse(clearance);
  if (!base.success || !label.success) {
    throw new Fault("storeCorrupt", `Cannot read exchange ${id}: it does not parse`);
  }
  return {
    ...base.data,
    clearance: label.data,
    ...(typeof first === "string" ? { first } : {}),
    ...(typeof asking === "string" ? { asking } : {}),
    ...(typeof answering === "string" ? { answering } : {}),
    said: said === true,
    pushes: listOf(body["pushes"]).flatMap((each) => pushOf(each) ?? []),
    messages: Number(messages),
    artifacts: Number(artifacts),
    bytes: { theirs: Number(at(bytes, "theirs")), ours: Number(at(bytes, "ours")) },
  };
}

/** The document of a head. */
function headBody(head: ExchangeHead): JsonObject {
  return toJsonObject(head);
}

/** A message or an artifact, as a document of its own. */
export type Part =
  /** `first`: it began the exchange, and named none. */
  | { readonly kind: "message"; readonly message: PeerMessage; readonly first?: true }
  | { readonly kind: "artifact"; readonly artifact: PeerArtifact };

/** The part that a document holds; undefined where it was erased. */
export function partOf({ body }: Pick<DocumentRow, "body">): Part | undefined {
  const message = PeerMessage.safeParse(body["message"]);
  if (message.success) return { kind: "message", message: message.data };
  const artifact = PeerArtifact.safeParse(body["artifact"]);
  return artifact.success ? { kind: "artifact", artifact: artifact.data } : undefined;
}

/** Names a message within its exchange: the same words under the same id are the same message. */
export function wordsDigest({ id, parts }: Pick<PeerMessage, "id" | "parts">): string {
  return sha256Hex(canonicalJson([id, toJsonObject({ parts })])).slice(0, 40);
}

/** Names a part: a second one of the same name meets a conflict in the store. */
export function partId(exchange: ExchangeId, part: Part): string {
  return part.kind === "message"
    ? `${exchange}.${part.first === true ? "f" : "m"}.${wordsDigest(part.message)}`
    : `${exchange}.a.${part.artifact.id}`;
}

function pushOf(value: Json): Push | undefined {
  const config = PushConfig.safeParse(at(value, "config"));
  if (!config.success) return undefined;
  const [delivered, attempt, again] = ["delivered", "attempt", "again"].map((key) =>
    Number(at(value, key) ?? 0)
  );
  return {
    config: config.data,
    delivered: delivered ?? 0,
    attempt: attempt ?? 0,
    again: again ?? 0,
  };
}

const listOf = (value: Json | undefined): readonly Json[] => Array.isArray(value) ? value : [];

function at(value: Json | undefined, key: string): Json | undefined {
  return isObject(value) ? value[key] : undefined;
}

// From which state an exchange may go to which, and what a task's status makes of it. A2A protocol 1.0, TaskState.

/** THE table. States without a successor are final. */
export const EXCHANGE_MOVES: Readonly<Record<ExchangeState, readonly ExchangeState[]>> = Object
  .freeze({
    submitted: ["working", "failed", "canceled", "rejected"],
    working: ["inputRequired", "authRequired", "completed", "failed", "canceled"],
    inputRequired: ["working", "failed", "canceled"],
    authRequired: ["working", "failed", "canceled"],
    completed: [],
    failed: [],
    canceled: [],
    rejected: [],
  });

/** Tells whether nothing follows a state. */
export function isOver(state: ExchangeState): boolean {
  return EXCHANGE_MOVES[state].length === 0;
}

/** Throws `conflict` unless an exchange may go from `from` to `to`; it may always stay, until it is over. */
export function checkMove(exchange: ExchangeId, from: ExchangeState, to: ExchangeState): void {
  if (EXCHANGE_MOVES[from].includes(to) || (from === to && !isOver(from))) return;
  throw new Fault("conflict", `Cannot make exchange ${exchange} "${to}": it is "${from}"`);
}

/** What a task that stands so makes of its exchange. */
export type TaskSays =
  | { readonly kind: "works"; readonly waits: boolean }
  /** Its turn is over: what follows depends on what the agent asked and what waits for it. */
  | { readonly kind: "turnOver" }
  | { readonly kind: "ended"; readonly state: "completed" | "failed" | "canceled" };

/** Reads a task. */
export function whatTaskSays(task: AgentTask, turnOver: boolean): TaskSays {
  switch (task.status) {
    case "open":
      return turnOver ? { kind: "turnOver" } : { kind: "works", waits: false };
    case "blocked":
    case "reviewing":
      return { kind: "works", waits: false };
    case "needsApproval":
      return { kind: "works", waits: true };
    case "done":
      return { kind: "ended", state: "completed" };
    case "failed":
    case "expired":
      return { kind: "ended", state: "failed" };
    case "cancelled":
      return { kind: "ended", state: "canceled" };
    default:
      return unreachable(task.status);
  }
}

/** Why it failed, as a peer may know it: nothing of the task's own words. */
export function plainFailure({ status, exit }: Pick<AgentTask, "status" | "exit">): string {
  if (status === "expired") return "The task took longer than it may.";
  switch (exit) {
    case EXIT.budgetExhausted:
      return "The task used up what it was given.";
    case EXIT.contextOverflow:
      return "The task is too long for the agent.";
    case EXIT.upstreamFailure:
      return "The agent could not be reached.";
    default:
      return "The task failed.";
  }
}

/** Most messages and artifacts of one exchange, as contracts/exchange/exchange.ts has it. */
export const MAX_MESSAGES = 1_000, MAX_ARTIFACTS = 256;

/** A change of one exchange. */
export interface ExchangeChange {
  readonly before?: ExchangeHead | undefined;
  readonly next: ExchangeHead;
  readonly parts?: readonly Part[];
  /** What its task is made of once a person lets it; null: not needed any more. */
  readonly request?: TaskRequest | null;
  /** Nobody but the kernel sees a difference: the version stays. */
  readonly quiet?: boolean;
  /** Ids and counts for the event. */
  readonly note?: JsonObject;
}

/** An exchange as its peer may see it. */
export function shownOf(head: ExchangeHead, parts: readonly Part[]): Exchange {
  const { clearance: _c, first: _f, asking: _a, said: _s, bytes: _b, ...rest } = head;
  const { messages: _m, answering: _w, ...shown } = rest;
  return {
    ...shown,
    history: parts.flatMap((part) => part.kind === "message" ? [part.message] : []),
    artifacts: parts.flatMap((part) => part.kind === "artifact" ? [part.artifact] : []),
    pushes: head.pushes.map(({ config }) => config),
  };
}

/** What was said stays in the history when something else stands in its place. */
export function supersededBy({ before, next }: ExchangeChange): readonly Part[] {
  const old = before?.status;
  if (before === undefined || old === undefined || !before.said) return [];
  if (next.status?.id === old.id || before.messages >= MAX_MESSAGES) return [];
  return [{ kind: "message", message: old }];
}

/** What the log says of it: ids, states and counts. */
export function exchangeEvent({ before, note = {} }: ExchangeChange, head: ExchangeHead): NewEvent {
  const { id, peer, agent, state, version, task, messages, artifacts } = head;
  return {
    kind: "exchange",
    body: {
      ...{ exchange: id, peer, agent, state, version, messages, artifacts },
      ...(before === undefined || before.state === state ? {} : { from: before.state }),
      ...(task === undefined ? {} : { task }),
      ...note,
    },
  };
}

/** Its documents: the head, what is new, and the request while it waits for a person. */
export function documentsOf(
  { before, next, parts = [], request }: ExchangeChange,
  expect: number,
): readonly DocumentWrite[] {
  const { id } = next;
  const written = parts.map((part): DocumentWrite => ({
    ...{ kind: PART, id: partId(id, part), task: id, expect: 0, body: toJsonObject(part) },
  }));
  const kept: DocumentWrite[] = request === undefined ? [] : [{
    ...{ kind: REQUEST, id, task: id, expect: before === undefined ? 0 : 1 },
    body: request === null ? {} : toJsonObject({ request }),
  }];
  return [{ kind: HEAD, id, task: id, expect, body: headBody(next) }, ...written, ...kept];
}
