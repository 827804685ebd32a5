/** Decides whether a message is quarantined for a person instead of shown to a model. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { TaskId } from "../../../contracts/authority/ids.ts";
import type { AgentMessage, InboxEntry, MessageStamp } from "../../../contracts/exchange/mod.ts";
import type { AgentTask } from "../../../contracts/task/mod.ts";
import { parseJson } from "../../../port/mod.ts";
import { isFinal } from "../../task/fold.ts";

/** The part of a task that the inbox uses. */
export type KnownTask = Pick<AgentTask, "status" | "session" | "purged">;

/** Lookup of tasks and exchanges. */
export interface JudgeParts {
  task(id: TaskId): KnownTask | undefined;
  /** The task of an exchange with a peer; undefined without a task or exchange. */
  exchangeTask?(exchange: string): TaskId | undefined;
  /** Whether tasks of different sessions are related, such as a parent and its child. */
  related?(a: TaskId, b: TaskId): boolean;
}

/** The inbox's facts about a message. */
export interface JudgeFacts {
  /** State of its causal parent. */
  readonly parent: "none" | "known" | "old" | "unknown";
  /** Whether it answers a message that its recipient sent to its sender. */
  readonly answers: boolean;
  /** Waiting messages of the same sender in the same box. */
  readonly waiting: readonly InboxEntry[];
}

/** Limits of a JSON body. */
const BODY_LIMITS = { frameBytes: 1_048_576, depth: 32, nodes: 10_000 } as const;
/** Senders that may write to any task: the operator's own, and the kernel. */
const FREE = /^(?:host$|webhook:|schedule:|resource:)/;

/** The task of a box; undefined for an agent's. */
export function taskOfBox(box: string): TaskId | undefined {
  return box.startsWith("task:") ? TaskId.parse(box.slice("task:".length)) : undefined;
}

/** The reason for quarantine, one sentence; undefined if there is none. */
export function whyAside(
  parts: JudgeParts,
  message: AgentMessage,
  stamp: MessageStamp,
  facts: JudgeFacts,
): string | undefined {
  return whyStale(parts, message, stamp) ?? whyStranger(parts, message, stamp, facts) ??
    whyMalformed(message) ?? whyOutOfOrder(message, facts);
}

function whyStale(
  parts: JudgeParts,
  message: AgentMessage,
  { box }: MessageStamp,
): string | undefined {
  const task = taskOfBox(box);
  if (message.recipientTask !== undefined && message.recipientTask !== task) {
    return "it names another recipient than its box";
  }
  if (task === undefined) return undefined;
  const known = parts.task(task);
  if (known === undefined) return "its task is not known";
  return isFinal(known.status) || known.purged ? "its task is over" : undefined;
}

/** Checks that the sender is known and related to the recipient. */
function whyStranger(
  parts: JudgeParts,
  message: AgentMessage,
  stamp: MessageStamp,
  facts: JudgeFacts,
): string | undefined {
  const { sender, senderTask } = message;
  if (FREE.test(sender)) return undefined;
  const to = taskOfBox(stamp.box);
  if (sender.startsWith("peer:")) {
    // A call of this task asked the peer.
    if (stamp.call !== undefined && to !== undefined) return undefined;
    if (stamp.exchange === undefined) return "its sender is a peer, and no exchange is named";
    if (to === undefined || parts.exchangeTask?.(stamp.exchange) === to) return undefined;
    return "the task is not the one of its sender's exchange";
  }
  const own = sender.startsWith("task:") ? sender.slice("task:".length) : senderTask;
  if (sender.startsWith("task:") && senderTask !== undefined && senderTask !== own) {
    return "its sender names a task that is not its own";
  }
  const from = TaskId.safeParse(own);
  const known = from.success ? parts.task(from.data) : undefined;
  if (own !== undefined && known === undefined) return "its sender is not known";
  if (to === undefined || facts.answers) return undefined;
  if (known === undefined || !from.success) return "its sender has nothing to do with this task";
  const recipient = parts.task(to);
  return from.data === to || recipient?.session === known.session ||
      parts.related?.(from.data, to) === true
    ? undefined
    : "its sender has nothing to do with this task";
}

function whyMalformed({ schema, body }: AgentMessage): string | undefined {
  if (schema === undefined) return undefined;
  try {
    parseJson(body, BODY_LIMITS);
    return undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return error.code === "tooLarge"
      ? "its body is JSON that is too deep or too large"
      : "its body names a schema and is no JSON";
  }
}

const wishes = (message: AgentMessage): string =>
  JSON.stringify([message.requestedAuthority, message.requestedActions]);

function whyOutOfOrder(message: AgentMessage, facts: JudgeFacts): string | undefined {
  if (facts.parent === "unknown") return "it follows from something that is not known here";
  if (facts.parent === "old") return "it follows from something older than what was delivered";
  const same = facts.waiting.filter((each) => each.message.kind === message.kind);
  if (message.kind === "interrupt" && same.length > 0) return "an interrupt of its sender waits";
  return message.kind === "approvalRequest" &&
      same.some((each) => wishes(each.message) === wishes(message))
    ? "the same request of its sender waits"
    : undefined;
}
