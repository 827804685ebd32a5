/**
 * Messages removed from a conversation, as its log keeps them: listed, shown and restored. Used by
 * kernel/task/context_past.ts and replay.ts.
 * @module
 */
import { ChatMessage } from "../../../contracts/model/chat.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { JsonObject } from "../../../contracts/base/mod.ts";
import type { StoredEvent } from "../../../contracts/task/mod.ts";
import { estimateTokens } from "../../../contracts/model/tokens.ts";

/** One compaction of a conversation. */
export interface ArchivedChange {
  /** Counted from 1. */
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly method: string;
  readonly turn: number;
  /** Tokens before the change, tools and the answer's share included. */
  readonly before: number;
  readonly after: number;
  /** Tokens of the window. */
  readonly limit: number;
  /** Tokens of tools and answer in the window. */
  readonly fixed: number;
  /** Tokens counted by the model for each estimated token. */
  readonly ratio: number;
  readonly preserved: readonly string[];
  readonly replaced: readonly ChatMessage[];
  readonly by: readonly ChatMessage[];
  restored: boolean;
}

/** An event with its bodies parsed. */
export interface ContextEvent {
  readonly event: Pick<StoredEvent, "kind" | "at">;
  readonly body: JsonObject;
  readonly secret: JsonObject | undefined;
}

/**
 * Folds an event into a conversation, in place. Returns whether the event added messages that no inference had seen.
 * @throws Fault `storeCorrupt` for an event that does not fit the conversation
 */
export function foldContext(
  { event, body, secret }: ContextEvent,
  conversation: ChatMessage[],
  changes: ArchivedChange[],
): boolean {
  if (body["child"] === true) return false;
  const number = Number(body["number"]);
  if (event.kind === "contextRestored") {
    const change = changes.find((each) => each.number === number);
    if (change === undefined) throw corrupt("it puts back what never gave way");
    putBack(change, conversation);
    change.restored = true;
    return false;
  }
  const append = messagesIn(secret, "append");
  const replaced = messagesIn(secret, "replaced");
  const by = messagesIn(secret, "by");
  conversation.length = Math.min(conversation.length, Number(body["base"]));
  conversation.push(...append);
  conversation.splice(Number(body["from"]), replaced.length, ...by);
  const preserved = body["preserved"];
  changes.push({
    ...{ number, at: event.at, method: String(body["method"]), replaced, by, restored: false },
    ...{ turn: Number(body["turn"] ?? 0), before: Number(body["before"]) },
    ...{ after: Number(body["after"]), limit: Number(body["limit"]), fixed: Number(body["fixed"]) },
    ratio: Number(body["ratio"] ?? 1),
    preserved: Array.isArray(preserved) ? preserved.map(String) : [],
  });
  return append.length > 0;
}

/**
 * Replaces a stand-in message by the messages it stands for.
 *
 * @throws Fault `conflict` when the stand-in is gone: a later change removed it
 */
function putBack(change: ArchivedChange, conversation: ChatMessage[]): void {
  const at = placeOf(change.by, conversation);
  if (at === undefined) {
    throw new Fault(
      "conflict",
      `Cannot restore ${change.number}: what stands for it gave way too; restore later ones first`,
    );
  }
  conversation.splice(at, change.by.length, ...change.replaced);
}

/**
 * The body of the event that restores change `number`.
 *
 * @throws Fault `notFound`, `conflict` when it was restored already or a later change covers it,
 * `contextOverflow` when the messages do not fit
 */
export function restoring(
  { changes, conversation, turn }: {
    readonly changes: readonly ArchivedChange[];
    readonly conversation: readonly ChatMessage[];
    readonly turn: number;
  },
  number: number,
): JsonObject {
  const change = changeOf(changes, number);
  if (change.restored) {
    throw new Fault("conflict", `Cannot restore ${number}: it has been put back already`);
  }
  const whole = [...conversation];
  putBack(change, whole);
  const sizeOf = (messages: readonly ChatMessage[]): number =>
    Math.ceil(estimateTokens(messages) * change.ratio) + change.fixed;
  const [before, after] = [sizeOf(conversation), sizeOf(whole)];
  if (after > change.limit) {
    throw new Fault(
      "contextOverflow",
      `Cannot restore ${number}: about ${after} tokens do not fit the window of ${change.limit}`,
    );
  }
  return { number, turn, before, after };
}

/** Finds change `number`. @throws Fault `notFound` */
export function changeOf(changes: readonly ArchivedChange[], number: number): ArchivedChange {
  const found = changes.find((each) => each.number === number);
  if (found !== undefined) return found;
  throw new Fault("notFound", `Cannot find change ${number} of the conversation: there is none`);
}

function placeOf(
  by: readonly ChatMessage[],
  conversation: readonly ChatMessage[],
): number | undefined {
  const wanted = by.map((message) => JSON.stringify(message));
  for (let at = 0; at + by.length <= conversation.length; at++) {
    if (wanted.every((text, index) => JSON.stringify(conversation[at + index]) === text)) return at;
  }
  return undefined;
}

function messagesIn(secret: JsonObject | undefined, name: string): readonly ChatMessage[] {
  const parsed = ChatMessage.array().safeParse(secret?.[name]);
  if (!parsed.success) throw corrupt("a message does not parse");
  return parsed.data;
}

function corrupt(why: string): Fault {
  return new Fault("storeCorrupt", `Cannot read a conversation: ${why}`);
}
