/** Why a message is put aside for a person instead of shown to a model. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { TaskId } from "../../../contracts/authority/ids.ts";
import type { AgentMessage, InboxEntry, MessageStamp } from "../../../contracts/exchange/mod.ts";
import type { AgentTask } from "../../../contracts/task/mod.ts";
import { parseJson } from "../../../port/mod.ts";
import { isFinal } from "../../task/fold.ts";

/** What a task is to the inbox. */
export type KnownTask = Pick<AgentTask, "status" | "session" | "purged">;

/** Who knows tasks, exchanges and the operator's rules. */
export interface JudgeParts {
  task(id: TaskId): KnownTask | undefined;
  /** The task that an exchange with a peer became; undefined: it has none, or there is no such exchange. */
  exchangeTask?(exchange: string): TaskId | undefined;
  /** Tasks that have to do with each other beside those of one session: a parent and its child. */
  related?(a: TaskId, b: TaskId): boolean;
}

/** What the inbox itself knows of a message. */
export interface JudgeFacts {
  /** How its causal parent stands. */
  readonly parent: "none" | "known" | "old" | "unknown";
  /** It answers a message that its recipient sent to it. */
  readonly answers: boolean;
  /** The same is waiting already. */
  readonly waiting: readonly InboxEntry[];
}

/** JSON of a body that names a schema: bytes, levels and values. */
const BODY_LIMITS = { frameBytes: 1_048_576, depth: 32, nodes: 10_000 } as const;
/** Senders who may write to any task: they are the operator's own, or the kernel's. */
const FREE = /^(?:host$|webhook:|schedule:|resource:)/;

/** The task of a box; undefined for an agent's. */
export function taskOfBox(box: string): TaskId | undefined {
  return box.startsWith("task:") ? TaskId.parse(box.slice("task:".length)) : undefined;
}

/** One sentence in words of ours; undefined when nothing speaks against it. */
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

/** Who sends, and what they have to do with the recipient. */
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
    // It was asked, by a call of this very task.
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
