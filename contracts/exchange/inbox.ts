/**
 * Messages between agents, peers and people. A message is data in an inbox and never a command: the
 * actions and authority that it requests become proposals or questions.
 * @module
 */
import * as z from "zod";
import { Colour, Label } from "../authority/colour.ts";
import type { NewEvent } from "../task/event.ts";
import { Millis, TaskId } from "../authority/ids.ts";
import type { DocumentWrite } from "../task/store.ts";

/** Names a message in its inbox. */
export const InboxId = z.string().regex(/^m[0-9a-z]{12}$/).brand<"InboxId">();
export type InboxId = z.infer<typeof InboxId>;

/**
 * The sender, stamped by the code that admitted the message and never taken from its content:
 * `host` (the person), `agent:NAME`, `task:ID`, `peer:NAME`, `webhook:NAME`, `schedule:NAME`,
 * `resource:NAME`.
 */
export const Sender = z.string().max(96).regex(
  /^(?:host|(?:agent|peer|webhook|schedule|resource):[a-z][a-z0-9_-]{0,63}|task:t[0-9a-z]{12})$/,
);
export type Sender = z.infer<typeof Sender>;

/** Names an inbox: an agent's, a task's, or the person's (`host`), which no conversation sees. */
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

/** A message's id, chosen by its sender, unique for sender and task. */
export const MessageId = z.string().regex(/^[\x21-\x7e]{1,128}$/);

/** An action that a sender requests: it becomes a proposal that the gate decides like any call. */
export const RequestedAction = z.object({
  tool: z.string().max(64),
  /** Canonical JSON text. */
  arguments: z.string().max(65_536),
  why: z.string().max(1_024),
}).strict();
export type RequestedAction = z.infer<typeof RequestedAction>;

/** A capability that a sender requests: only described, never transferred; it becomes a question to a person. */
export const RequestedAuthority = z.object({
  resource: z.string().max(64),
  right: z.string().max(32),
  path: z.string().max(4_096),
  why: z.string().max(1_024),
}).strict();
export type RequestedAuthority = z.infer<typeof RequestedAuthority>;

/** A message. Every field but the stamped `sender` is untrusted. */
export const AgentMessage = z.object({
  id: MessageId,
  sender: Sender,
  /** The sender's own task id: a TaskId for local senders, any id for a peer. */
  senderTask: z.string().max(128).optional(),
  recipientTask: TaskId.optional(),
  kind: MessageKind,
  /** The message or event that caused this one: a message id of the same exchange, or `TASK#N`. */
  causalParent: z.string().max(160).optional(),
  /** Markdown, or JSON text if `schema` is set; length in UTF-16 units. */
  body: z.string().max(262_144),
  /** Names the format of a JSON `body`; absent for Markdown. */
  schema: z.string().max(256).optional(),
  artifactRefs: z.array(z.string().max(256)).max(64),
  requestedActions: z.array(RequestedAction).max(16),
  requestedAuthority: z.array(RequestedAuthority).max(16),
  expiresAt: Millis.optional(),
}).strict();
export type AgentMessage = z.infer<typeof AgentMessage>;

/**
 * State of a message. `queued` waits for its task's next turn; `held` waits for a person's decision
 * (`accept: ask`); `quarantined` waits for a person's review. The other states are final; only
 * `delivered` messages reached a conversation.
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

/** A message in its inbox. */
export const InboxEntry = z.object({
  id: InboxId,
  box: Box,
  /** Order of arrival in this kernel, from 1. */
  n: z.int().min(1),
  message: AgentMessage,
  colour: Colour,
  label: Label,
  state: EntryState,
  /** Why it was quarantined, held or dismissed: one sentence of Remit's. */
  why: z.string().max(512).optional(),
  /** The recipient's task, or the task that the message started. */
  task: TaskId.optional(),
  /** The exchange with a peer that the message belongs to. */
  exchange: z.string().max(64).optional(),
  /** The call of the task during which the message came: shown with that call's result, without starting a turn. */
  call: z.string().max(160).optional(),
  receivedAt: Millis,
  settledAt: Millis.optional(),
  bytes: z.int().min(0),
}).strict();
export type InboxEntry = z.infer<typeof InboxEntry>;

/** Quotas of inboxes. */
export interface InboxQuotas {
  /** Maximum waiting messages of one sender and in one box. */
  readonly perSender: number;
  readonly perBox: number;
  /** Maximum waiting bytes in one box. */
  readonly queuedBytes: number;
  /** Maximum messages a minute from one sender. */
  readonly perMinute: number;
  /** Maximum bytes of message bodies in one turn; the rest waits for the next turn. */
  readonly visibleBytes: number;
  /** Minimum time in milliseconds that memory keeps a message's id; the store keeps all of them. */
  readonly replayMs: number;
  /** Number of settled messages whose heads memory keeps. */
  readonly remembered: number;
  /** Number of quarantined messages after which a sender is muted until a person reviews them. */
  readonly mutedAfter: number;
}

/** Default quotas. */
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

/** Result of `put`. `duplicate`: the message was already stored; nothing changed. */
export interface PutOutcome {
  readonly entry: InboxEntry;
  readonly duplicate: boolean;
}

/** A sender whose messages are refused until a person unmutes it. */
export interface MutedSender {
  readonly sender: Sender;
  readonly why: string;
  readonly since: number;
}

/** Box, colour and label of an admitted message: set by the code that admits it, never by the message. */
export interface MessageStamp {
  readonly box: Box;
  readonly colour: Colour;
  readonly label: Label;
  readonly exchange?: string;
  /** Wait for a person's decision before anything reads the message. */
  readonly held?: boolean;
  /** The call of the box's task during which the message came: see {@link CallInbox}. */
  readonly call?: string;
}

/** The inboxes of one kernel. */
export interface AgentInbox {
  /**
   * Validates and stores a message; durable when it resolves. A replay gets the first answer again.
   * Rejects `invalidInput` (does not parse), `tooLarge`, `rateLimited` (quota, rate), `denied` (muted).
   */
  put(message: AgentMessage, stamp: MessageStamp): Promise<PutOutcome>;
  get(id: InboxId): InboxEntry | undefined;
  /** Ascending by `n`. */
  list(query: { readonly box?: Box; readonly state?: EntryState }): readonly InboxEntry[];
  /** Messages for the next turn of a task, by priority, within `visibleBytes`. */
  due(task: TaskId): readonly InboxEntry[];
  /** Moves a message from quarantine to the queue; a person's decision. */
  release(id: InboxId): Promise<InboxEntry>;
  dismiss(id: InboxId, why: string): Promise<InboxEntry>;
  mute(sender: Sender, why: string): Promise<void>;
  unmute(sender: Sender): Promise<void>;
  muted(): readonly MutedSender[];
}

/** A call of a task and the sender that it addresses. */
export interface CallPlace {
  readonly task: TaskId;
  /** Names the call within its task: process and call id. */
  readonly call: string;
  readonly sender: Sender;
}

/** Messages shown with a call's result. The caller then calls exactly one of `kept` (the result is durable) and `dropped`. */
export interface CallDelivery {
  readonly entries: readonly InboxEntry[];
  readonly events: readonly NewEvent[];
  readonly documents: readonly DocumentWrite[];
  kept(): void;
  dropped(): void;
}

/**
 * Messages that a sender posts while a call to it runs: `put` with `call` in the stamp, shown with
 * the call's result, and delivered by the commit that stores that result.
 */
export interface CallInbox {
  readonly put: AgentInbox["put"];
  /** From now on messages for the call wait for its result. */
  begin(place: CallPlace): void;
  /**
   * Ends the call. Marks waiting messages of its sender as delivered, also those of earlier calls
   * to it, within `visibleBytes`; undefined if there are none. Quarantined messages and those of
   * muted senders keep waiting.
   */
  end(place: CallPlace): CallDelivery | undefined;
}
