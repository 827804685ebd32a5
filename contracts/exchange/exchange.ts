/**
 * What Remit and one of its peers have under way: an A2A task, as the kernel keeps it. A peer sees its own and no other.
 * A message of a peer lands in an inbox; that it becomes an AgentTask is a decision (`accept`), under a request that the
 * operator's remit.yaml made. A2A protocol 1.0, Task.
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

/** Names an exchange, and is its A2A task id: nobody guesses it. */
export const ExchangeId = z.string().regex(/^x[0-9a-z]{24}$/).brand<"ExchangeId">();
export type ExchangeId = z.infer<typeof ExchangeId>;

/** A2A context: the peer's choice, or ours (`c` and 24 characters). */
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

/** A part of a message or artifact. A link is never followed. */
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

/** Longest message of a peer: its canonical JSON, bytes. */
export const PEER_MESSAGE_BYTES = 2_000_000;

/** One message of an exchange. */
export const PeerMessage = z.object({
  id: MessageId,
  role: z.enum(["peer", "agent"]),
  parts: z.array(PeerPart).min(1).max(64),
  /** JSON object text, kept and given back; of it only PEER_LABEL (contracts/exchange/peer_words.ts) is read. */
  metadata: z.string().max(16_384).optional(),
  extensions: z.array(z.string().max(512)).max(16),
  /** Other exchanges that it speaks of. */
  references: z.array(z.string().max(128)).max(16),
  at: Millis,
}).strict();
export type PeerMessage = z.infer<typeof PeerMessage>;

/** An artifact that was exported to the peer: by an explicit capability, never by itself. */
export const PeerArtifact = z.object({
  id: z.string().min(1).max(64),
  name: z.string().max(256),
  description: z.string().max(1_024),
  parts: z.array(PeerPart).min(1).max(64),
  /** The outbox's, where it came from there. */
  artifact: ArtifactId.optional(),
  /** How confidential it is; absent: public. */
  label: Label.optional(),
}).strict();
export type PeerArtifact = z.infer<typeof PeerArtifact>;

/** Where deliveries of an exchange's changes go. The credentials are the peer's own, for its own server. */
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

/** An exchange, whole. */
export const Exchange = z.object({
  id: ExchangeId,
  context: ContextId,
  peer: PeerName,
  /** Our agent. */
  agent: z.string().max(64),
  state: ExchangeState,
  /** What is said with the state, in the agent's or Remit's words. */
  status: PeerMessage.optional(),
  /** The agent answered at once with a message alone: a peer that waits is told that message in place of a task. */
  direct: z.literal(true).optional(),
  /** The AgentTask that it became. */
  task: TaskId.optional(),
  /** The first message's entry. */
  entry: InboxId,
  history: z.array(PeerMessage).max(1_000),
  artifacts: z.array(PeerArtifact).max(256),
  pushes: z.array(PushConfig).max(16),
  /** JSON object text of the first message's request. */
  metadata: z.string().max(16_384).optional(),
  /** Raised by one with each change; what is pushed and streamed is told by it. */
  version: z.int().min(1),
  createdAt: Millis,
  updatedAt: Millis,
}).strict();
export type Exchange = z.infer<typeof Exchange>;

/** What changed, in its order: what streams and deliveries are made of. */
export type ExchangeEvent =
  | { readonly kind: "state"; readonly version: number; readonly exchange: Exchange }
  | {
    readonly kind: "artifact";
    readonly version: number;
    readonly artifact: PeerArtifact;
    /** This piece follows earlier ones of the same artifact. */
    readonly append: boolean;
    readonly last: boolean;
  }
  /** Text of the agent while it works, where the operator lets peers see it. Not kept. */
  | { readonly kind: "progress"; readonly text: string; readonly label?: Label };

/** A message of a peer, with what the operator decided about that peer: made by `remit serve` from remit.yaml. */
export const PeerSend = z.object({
  peer: PeerName,
  agent: z.string().max(64),
  message: PeerMessage,
  /** Goes on with it; `notFound` where it is not this peer's. */
  exchange: ExchangeId.optional(),
  context: ContextId.optional(),
  metadata: z.string().max(16_384).optional(),
  /** `ask`: a person decides (`remit inbox release`) before a task is made. */
  accept: z.enum(["ask", "auto"]),
  /** The task's request but for its words, which are the message, framed. */
  request: TaskRequest,
  /** The most confidential text that this peer is told. */
  clearance: Label,
  push: PushConfig.optional(),
  /** Exchanges of this peer that may be under way, and tasks a day. */
  most: z.object({ open: z.int().min(1), perDay: z.int().min(1) }).strict(),
  /** What follows is told, from the answer on, as `peerWatch` tells it. */
  watch: z.object({ progress: z.boolean() }).strict().optional(),
}).strict();
export type PeerSend = z.infer<typeof PeerSend>;

/** Which exchanges of a peer; newest first. `page` is the last one's place, as the answer said. */
export const PeerQuery = z.object({
  peer: PeerName,
  context: ContextId.optional(),
  state: ExchangeState.optional(),
  /** Changed at or after this. */
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

/** What a peer's card says beside its skills: what is pinned as `a2a` of its launch. Untrusted when it comes from a bridge. */
export const PeerFacts = z.object({
  /** Where the card was found. */
  card: z.string().max(2_048).regex(/^https?:\/\//),
  /** Of the interface that is spoken to. */
  endpoint: z.string().max(2_048).regex(/^https?:\/\//),
  binding: z.enum(["JSONRPC", "HTTP+JSON"]),
  /** Thumbprints (RFC 7638) of the keys whose signatures verified; empty: nobody signed it. */
  keys: z.array(z.string().max(64)).max(8),
}).strict();
export type PeerFacts = z.infer<typeof PeerFacts>;

/** What a bridge says of a peer: its skills as tools, and the facts of its card. */
export const PeerWords = ServerListing.extend({ peer: PeerFacts }).strict();
export type PeerWords = z.infer<typeof PeerWords>;

/** How a peer is reached, as it was pinned. */
export type PeerLaunch = Extract<McpLaunch, { readonly kind: "http" }> & {
  readonly a2a: Omit<PeerFacts, "card">;
};

/** Whether it is a peer that is reached so, and no MCP server. */
export function isPeer(launch: McpLaunch): launch is PeerLaunch {
  return launch.kind === "http" && launch.a2a !== undefined;
}

/** First request to the bridge of a peer. */
export interface PeerOpen extends McpOpen {
  /** As it was pinned. */
  readonly a2a: Omit<PeerFacts, "card">;
}

/** One message to a peer, as the kernel asks its bridge: op `call`. */
export interface PeerCall {
  readonly id: string;
  /** The skill, or empty for none. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** How confidential what is sent is: told with the message. */
  readonly label?: Label;
  readonly deadlineMs: number;
  /** Milliseconds after which the answer says how to follow what goes on. */
  readonly waitMs: number;
  /** Stable for a call, also when it is made again after a crash: the message's id and its context are made of it. */
  readonly key: string;
}

/** What is asked about a task at a peer: ops `task` and `artifact`. */
export interface PeerTaskAsk {
  readonly id: string;
  readonly task: string;
  /** `task`: what is done. */
  readonly do?: "get" | "wait" | "cancel";
  /** `artifact`: which. */
  readonly artifact?: string;
  readonly deadlineMs: number;
  readonly waitMs: number;
}

/**
 * What a peer says while a call is under way and that is not the call's result, as its bridge tells it: op `said`. It goes
 * through the inbox of the calling task. Untrusted.
 */
export const PeerSaid = z.object({
  /** Of the call on the bridge's port. */
  id: z.string().max(64),
  /** The peer's own name of the message; empty when it gave none. */
  message: z.string().max(1_024),
  /** The peer's own name of its task. */
  task: z.string().max(128).optional(),
  kind: MessageKind.extract(["status", "question", "artifactReady"]),
  body: z.string().max(PEER_SAID_UNITS),
  /** Names of artifacts of the peer's: reading one is a call. */
  artifacts: z.array(z.string().max(256)).max(64),
  /** What the peer says of its label. */
  label: Label.optional(),
}).strict();
export type PeerSaid = z.infer<typeof PeerSaid>;

/** A delivery that a peer asked for and that is due: op `peerDue`. What is told is the exchange as it stands. */
export interface PeerDue {
  readonly exchange: Exchange;
  readonly config: PushConfig;
  /** What its receiver will have seen with this. */
  readonly version: number;
  /** Deliveries of it that failed. */
  readonly attempt: number;
  readonly event: null;
}
