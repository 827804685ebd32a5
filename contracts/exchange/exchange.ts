/**
 * Exchanges with peers: A2A tasks as the kernel keeps them. A peer sees only its own exchanges. A
 * peer's message enters an inbox; whether it becomes an AgentTask is decided by `accept`, with a
 * request from the operator's remit.yaml. A2A protocol 1.0, Task.
 * @module
 */
import * as z from "zod";
import { ArtifactId, Millis, TaskId } from "../authority/ids.ts";
import { Label } from "../authority/colour.ts";
import { type McpLaunch, ServerListing } from "./mcp.ts";
import type { McpOpen } from "../wire/wire_mcp.ts";
import { InboxId, MessageId, MessageKind } from "./inbox.ts";
import { PEER_SAID_UNITS } from "./peer_words.ts";
import { TaskRequest } from "../task/task.ts";

/** A peer's name, as remit.yaml or `remit a2a` knows it. */
export const PeerName = z.string().regex(/^[a-z][a-z0-9]{0,23}$/).brand<"PeerName">();
export type PeerName = z.infer<typeof PeerName>;

/** Names an exchange and is its A2A task id; unguessable. */
export const ExchangeId = z.string().regex(/^x[0-9a-z]{24}$/).brand<"ExchangeId">();
export type ExchangeId = z.infer<typeof ExchangeId>;

/** A2A context: chosen by the peer, or by Remit (`c` and 24 characters). */
export const ContextId = z.string().regex(/^[\x21-\x7e]{1,128}$/);

/** A2A's states, without `TASK_STATE_`. The last four are final. */
export const ExchangeState = z.enum([
  "submitted",
  "working",
  "inputRequired",
  "authRequired",
  "completed",
  "failed",
  "canceled",
  "rejected",
]);
export type ExchangeState = z.infer<typeof ExchangeState>;

/** A part of a message or artifact. Links are never followed. */
export const PeerPart = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("text"),
    text: z.string().max(262_144),
    mediaType: z.string().max(128).optional(),
  }).strict(),
  /** JSON text. */
  z.object({ kind: z.literal("data"), json: z.string().max(262_144) }).strict(),
  z.object({
    kind: z.literal("bytes"),
    /** Base64. */
    data: z.string().max(1_400_000),
    mediaType: z.string().max(128).optional(),
    name: z.string().max(256).optional(),
  }).strict(),
  z.object({
    kind: z.literal("link"),
    url: z.string().max(4_096),
    mediaType: z.string().max(128).optional(),
    name: z.string().max(256).optional(),
  }).strict(),
]);
export type PeerPart = z.infer<typeof PeerPart>;

/** Maximum size of a peer's message as canonical JSON, bytes. */
export const PEER_MESSAGE_BYTES = 2_000_000;

/** One message of an exchange. */
export const PeerMessage = z.object({
  id: MessageId,
  role: z.enum(["peer", "agent"]),
  parts: z.array(PeerPart).min(1).max(64),
  /**
   * JSON object text, stored and returned as it came; only PEER_LABEL
   * (contracts/exchange/peer_words.ts) is read from it.
   */
  metadata: z.string().max(16_384).optional(),
  extensions: z.array(z.string().max(512)).max(16),
  /** Ids of other exchanges that the message refers to. */
  references: z.array(z.string().max(128)).max(16),
  at: Millis,
}).strict();
export type PeerMessage = z.infer<typeof PeerMessage>;

/** An artifact exported to the peer, always by an explicit call. */
export const PeerArtifact = z.object({
  id: z.string().min(1).max(64),
  name: z.string().max(256),
  description: z.string().max(1_024),
  parts: z.array(PeerPart).min(1).max(64),
  /** Its id in the outbox, if it came from there. */
  artifact: ArtifactId.optional(),
  /** Absent: public. */
  label: Label.optional(),
}).strict();
export type PeerArtifact = z.infer<typeof PeerArtifact>;

/** Where changes of an exchange are delivered. The credentials are the peer's own, for its own server. */
export const PushConfig = z.object({
  id: z.string().min(1).max(128),
  url: z.string().max(2_048).regex(/^https?:\/\//),
  token: z.string().max(1_024).optional(),
  authentication: z.object({
    scheme: z.string().max(64),
    credentials: z.string().max(4_096).optional(),
  }).strict().optional(),
}).strict();
export type PushConfig = z.infer<typeof PushConfig>;

/** A complete exchange. */
export const Exchange = z.object({
  id: ExchangeId,
  context: ContextId,
  peer: PeerName,
  /** Name of Remit's agent. */
  agent: z.string().max(64),
  state: ExchangeState,
  /** Message that accompanies the state, in the agent's or Remit's words. */
  status: PeerMessage.optional(),
  /** The agent answered at once with a single message: a waiting peer receives it in place of a task. */
  direct: z.literal(true).optional(),
  /** The AgentTask that the exchange started. */
  task: TaskId.optional(),
  /** Inbox entry of the first message. */
  entry: InboxId,
  history: z.array(PeerMessage).max(1_000),
  artifacts: z.array(PeerArtifact).max(256),
  pushes: z.array(PushConfig).max(16),
  /** Metadata of the first request, JSON object text. */
  metadata: z.string().max(16_384).optional(),
  /** Incremented with each change; orders pushes and streams. */
  version: z.int().min(1),
  createdAt: Millis,
  updatedAt: Millis,
}).strict();
export type Exchange = z.infer<typeof Exchange>;

/** One change of an exchange; streams and deliveries consist of these, in order. */
export type ExchangeEvent =
  | { readonly kind: "state"; readonly version: number; readonly exchange: Exchange }
  | {
    readonly kind: "artifact";
    readonly version: number;
    readonly artifact: PeerArtifact;
    /** Appends to earlier pieces of the same artifact. */
    readonly append: boolean;
    readonly last: boolean;
  }
  /** Text of the agent while it works, if the operator shares it with peers. Not stored. */
  | { readonly kind: "progress"; readonly text: string; readonly label?: Label };

/** A peer's message with the operator's settings for that peer: built by `remit serve` from remit.yaml. */
export const PeerSend = z.object({
  peer: PeerName,
  agent: z.string().max(64),
  message: PeerMessage,
  /** Continues this exchange; `notFound` if it is not this peer's. */
  exchange: ExchangeId.optional(),
  context: ContextId.optional(),
  metadata: z.string().max(16_384).optional(),
  /** `ask`: a person decides (`remit inbox release`) before a task is made. */
  accept: z.enum(["ask", "auto"]),
  /** The task's request without its words: the framed message becomes the words. */
  request: TaskRequest,
  /** Highest label of text that this peer may receive. */
  clearance: Label,
  push: PushConfig.optional(),
  /** Maximum open exchanges of this peer, and tasks a day. */
  most: z.object({ open: z.int().min(1), perDay: z.int().min(1) }).strict(),
  /** Also watch the exchange from the answer on, as `peerWatch` does. */
  watch: z.object({ progress: z.boolean() }).strict().optional(),
}).strict();
export type PeerSend = z.infer<typeof PeerSend>;

/** Query for a peer's exchanges, newest first. `page` is `next` of the previous page. */
export const PeerQuery = z.object({
  peer: PeerName,
  context: ContextId.optional(),
  state: ExchangeState.optional(),
  /** Only exchanges changed at or after this time. */
  since: Millis.optional(),
  size: z.int().min(1).max(100),
  page: z.string().max(128).optional(),
}).strict();
export type PeerQuery = z.infer<typeof PeerQuery>;

/** A page of exchanges. */
export interface PeerPage {
  readonly exchanges: readonly Exchange[];
  readonly total: number;
  /** Empty at the end. */
  readonly next: string;
}

/**
 * Facts of a peer's card beside its skills; pinned as `a2a` of its launch. Untrusted when a bridge
 * reports them.
 */
export const PeerFacts = z.object({
  /** Where the card was found. */
  card: z.string().max(2_048).regex(/^https?:\/\//),
  /** URL of the interface in use. */
  endpoint: z.string().max(2_048).regex(/^https?:\/\//),
  binding: z.enum(["JSONRPC", "HTTP+JSON"]),
  /** Thumbprints (RFC 7638) of the keys whose signatures verified; empty for an unsigned card. */
  keys: z.array(z.string().max(64)).max(8),
}).strict();
export type PeerFacts = z.infer<typeof PeerFacts>;

/** A bridge's listing of a peer: skills as tools, and the facts of the card. */
export const PeerWords = ServerListing.extend({ peer: PeerFacts }).strict();
export type PeerWords = z.infer<typeof PeerWords>;

/** The pinned launch of a peer. */
export type PeerLaunch = Extract<McpLaunch, { readonly kind: "http" }> & {
  readonly a2a: Omit<PeerFacts, "card">;
};

/** Whether the launch is that of an A2A peer and not of an MCP server. */
export function isPeer(launch: McpLaunch): launch is PeerLaunch {
  return launch.kind === "http" && launch.a2a !== undefined;
}

/** First request to the bridge of a peer. */
export interface PeerOpen extends McpOpen {
  /** The pinned facts. */
  readonly a2a: Omit<PeerFacts, "card">;
}

/** One message to a peer, as the kernel asks its bridge: operation `call`. */
export interface PeerCall {
  readonly id: string;
  /** The skill, or empty for none. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Label of the message; sent with it. */
  readonly label?: Label;
  readonly deadlineMs: number;
  /** Milliseconds to wait before the answer says how to follow an unfinished task. */
  readonly waitMs: number;
  /** Stable for a call, also when repeated after a crash; message id and context derive from it. */
  readonly key: string;
}

/** A request about a task at a peer: operations `task` and `artifact`. */
export interface PeerTaskAsk {
  readonly id: string;
  readonly task: string;
  /** For `task`. */
  readonly do?: "get" | "wait" | "cancel";
  /** For `artifact`: its name. */
  readonly artifact?: string;
  readonly deadlineMs: number;
  readonly waitMs: number;
}

/**
 * A message that a peer sends during a call and that is not the call's result, as its bridge
 * reports it: operation `said`. Delivered through the inbox of the calling task. Untrusted.
 */
export const PeerSaid = z.object({
  /** Id of the call on the bridge's port. */
  id: z.string().max(64),
  /** The peer's message id; empty if it gave none. */
  message: z.string().max(1_024),
  /** The peer's task id. */
  task: z.string().max(128).optional(),
  kind: MessageKind.extract(["status", "question", "artifactReady"]),
  body: z.string().max(PEER_SAID_UNITS),
  /** Names of the peer's artifacts; reading one takes a call. */
  artifacts: z.array(z.string().max(256)).max(64),
  /** Label that the peer claims. */
  label: Label.optional(),
}).strict();
export type PeerSaid = z.infer<typeof PeerSaid>;

/** A due delivery of a change: operation `peerDue`. The delivery contains the exchange in its current state. */
export interface PeerDue {
  readonly exchange: Exchange;
  readonly config: PushConfig;
  /** Version that the receiver has after this delivery. */
  readonly version: number;
  /** Number of failed attempts. */
  readonly attempt: number;
  readonly event: null;
}
