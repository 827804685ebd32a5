/**
 * Messages between agents, peers and people. A message is data in an inbox and never a command: what it asks for
 * becomes a proposal or a question.
 * @module
 */
import * as z from "zod";
import { Colour, Label } from "../authority/colour.ts";
import type { NewEvent } from "../task/event.ts";
import { Millis, TaskId } from "../authority/ids.ts";
import type { DocumentWrite } from "../task/store.ts";

/** Names a message as its inbox keeps it. */
export const InboxId = z.string().regex(/^m[0-9a-z]{12}$/).brand<"InboxId">();
export type InboxId = z.infer<typeof InboxId>;

/**
 * Who sends, stamped by whoever let the message in and never taken from its words: `host` (the person), `agent:NAME`,
 * `task:ID`, `peer:NAME`, `webhook:NAME`, `schedule:NAME`, `resource:NAME`.
 */
export const Sender = z.string().max(96).regex(
  /^(?:host|(?:agent|peer|webhook|schedule|resource):[a-z][a-z0-9_-]{0,63}|task:t[0-9a-z]{12})$/,
);
export type Sender = z.infer<typeof Sender>;

/** Whose inbox: an agent's by name, a task's, or the person's, whose mail no conversation is given. */
export const Box = z.string().max(96).regex(
  /^(?:host|agent:[a-z][a-z0-9-]{0,63}|task:t[0-9a-z]{12})$/,
);
export type Box = z.infer<typeof Box>;

/** What a message is about. */
export const MessageKind = z.enum([
  "status",
  "question",
  "handoff",
  "reviewFinding",
  "resourceEvent",
  "artifactReady",
  "approvalRequest",
  "interrupt",
]);
export type MessageKind = z.infer<typeof MessageKind>;

/** A message's own id: its sender's, unique for sender and task. */
export const MessageId = z.string().regex(/^[\x21-\x7e]{1,128}$/);

/** An action that a sender would like: it becomes a proposal that the gate decides, as any call. */
export const RequestedAction = z.object({
  tool: z.string().max(64),
  /** Canonical JSON text. */
  arguments: z.string().max(65_536),
  why: z.string().max(1_024),
}).strict();
export type RequestedAction = z.infer<typeof RequestedAction>;

/** A capability that a sender would like, described and never handed over: it becomes a question to a person. */
export const RequestedAuthority = z.object({
  resource: z.string().max(64),
  right: z.string().max(32),
  path: z.string().max(4_096),
  why: z.string().max(1_024),
}).strict();
export type RequestedAuthority = z.infer<typeof RequestedAuthority>;

/** A message, with every field of the seed. Untrusted but for `sender`, which is stamped. */
export const AgentMessage = z.object({
  id: MessageId,
  sender: Sender,
  /** The sender's own name of its task: a TaskId here, any id at a peer. */
  senderTask: z.string().max(128).optional(),
  recipientTask: TaskId.optional(),
  kind: MessageKind,
  /** The message or event that it follows from: an id of a message of the same exchange, or `TASK#N`. */
  causalParent: z.string().max(160).optional(),
  /** Markdown, or JSON text where `schema` names its form. UTF-16 units. */
  body: z.string().max(262_144),
  /** Names what JSON of `body` is; absent: Markdown. */
  schema: z.string().max(256).optional(),
  artifactRefs: z.array(z.string().max(256)).max(64),
  requestedActions: z.array(RequestedAction).max(16),
  requestedAuthority: z.array(RequestedAuthority).max(16),
  expiresAt: Millis.optional(),
}).strict();
export type AgentMessage = z.infer<typeof AgentMessage>;

/**
 * How a message stands. `queued` waits for its task's next turn; `held` waits for a person's decision (`accept: ask`);
 * `quarantined` waits for a person's review. The others are final. Only `delivered` reached a conversation.
 */
export const EntryState = z.enum([
  "queued",
  "held",
  "quarantined",
  "delivered",
  "dismissed",
  "expired",
]);
export type EntryState = z.infer<typeof EntryState>;

/** A message as its inbox keeps it. */
export const InboxEntry = z.object({
  id: InboxId,
  box: Box,
  /** Order of arrival in this kernel, from 1. */
  n: z.int().min(1),
  message: AgentMessage,
  colour: Colour,
  label: Label,
  state: EntryState,
  /** Why it was quarantined, held or dismissed: one sentence in words of ours. */
  why: z.string().max(512).optional(),
  /** Its task here: the recipient's, or the one that it became. */
  task: TaskId.optional(),
  /** The exchange with a peer that it belongs to. */
  exchange: z.string().max(64).optional(),
  /** The call of its task during which it came: it is shown with that call's result, and wakes nobody. */
  call: z.string().max(160).optional(),
  receivedAt: Millis,
  settledAt: Millis.optional(),
  bytes: z.int().min(0),
}).strict();
export type InboxEntry = z.infer<typeof InboxEntry>;

/** What an inbox takes. */
export interface InboxQuotas {
  /** Messages that wait, of one sender and of one box. */
  readonly perSender: number;
  readonly perBox: number;
  /** Bytes that wait, of one box. */
  readonly queuedBytes: number;
  /** Messages a minute, of one sender. */
  readonly perMinute: number;
  /** Bytes of bodies that one turn is shown; what is over waits for the next. */
  readonly visibleBytes: number;
  /** Milliseconds for which a message's id is remembered, at least: the store has every one of them. */
  readonly replayMs: number;
  /** Settled messages of which memory keeps the heads. */
  readonly remembered: number;
  /** Quarantined messages of a sender after which it is muted until a person looks. */
  readonly mutedAfter: number;
}

/** Quotas where nobody says otherwise. */
export const INBOX_QUOTAS: InboxQuotas = Object.freeze({
  perSender: 256,
  perBox: 1_024,
  queuedBytes: 16_777_216,
  perMinute: 120,
  visibleBytes: 65_536,
  replayMs: 86_400_000,
  remembered: 1_024,
  mutedAfter: 8,
});

/** What became of a message that was put. `duplicate`: it was there; nothing changed. */
export interface PutOutcome {
  readonly entry: InboxEntry;
  readonly duplicate: boolean;
}

/** A sender that is not heard until a person says so. */
export interface MutedSender {
  readonly sender: Sender;
  readonly why: string;
  readonly since: number;
}

/** Where a message is taken up: stamped by whoever lets it in, never by the message. */
export interface MessageStamp {
  readonly box: Box;
  readonly colour: Colour;
  readonly label: Label;
  readonly exchange?: string;
  /** It waits for a person's decision before anything reads it. */
  readonly held?: boolean;
  /** It came during this call of the box's task: see {@link CallInbox}. */
  readonly call?: string;
}

/** The inboxes of one kernel. */
export interface AgentInbox {
  /**
   * Validates and keeps a message; durable when it resolves. A replay is answered as it was the first time.
   * Rejects `invalidInput` (does not parse), `tooLarge`, `rateLimited` (quota, rate), `denied` (muted).
   */
  put(message: AgentMessage, stamp: MessageStamp): Promise<PutOutcome>;
  get(id: InboxId): InboxEntry | undefined;
  /** Ascending by `n`. */
  list(query: { readonly box?: Box; readonly state?: EntryState }): readonly InboxEntry[];
  /** What the next turn of a task is to be shown, priority first, within `visibleBytes`. */
  due(task: TaskId): readonly InboxEntry[];
  /** From quarantine to the queue, by a person. */
  release(id: InboxId): Promise<InboxEntry>;
  dismiss(id: InboxId, why: string): Promise<InboxEntry>;
  mute(sender: Sender, why: string): Promise<void>;
  unmute(sender: Sender): Promise<void>;
  muted(): readonly MutedSender[];
}

/** A call of a task, and the sender that it was made to. */
export interface CallPlace {
  readonly task: TaskId;
  /** Names the call in its task: its process and its call id. */
  readonly call: string;
  readonly sender: Sender;
}

/** What is shown with a call's result. Exactly one of the two follows, when the result is durable or never will be. */
export interface CallDelivery {
  readonly entries: readonly InboxEntry[];
  readonly events: readonly NewEvent[];
  readonly documents: readonly DocumentWrite[];
  kept(): void;
  dropped(): void;
}

/**
 * What senders say while a call to them is under way: put as any message, with `call` in its stamp, shown with the
 * call's result, and delivered by the commit that keeps that result.
 */
export interface CallInbox {
  readonly put: AgentInbox["put"];
  /** From now on what is put for the call waits for its result. */
  begin(place: CallPlace): void;
  /**
   * The call is over. What of its sender waits is marked as delivered, also what an earlier call to it left, within
   * `visibleBytes`; undefined when nothing does. What a person must look at first, and what a muted sender said, waits on.
   */
  end(place: CallPlace): CallDelivery | undefined;
}
