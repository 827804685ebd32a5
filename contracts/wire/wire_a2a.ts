/**
 * Requests of a gateway to its starter (`remit serve`) for peers, webhooks and the page, besides
 * those in wire_serve.ts. The gateway is not trusted: each request carries the credential that came
 * with it, and the starter identifies its owner. Faults: `denied` (unknown credential), `notFound`
 * (also for things of others), `conflict` (not possible in this state), `rateLimited`,
 * `invalidInput`, `tooLarge`, `refused`, `unavailable`.
 *
 * | gateway asks | body | answer |
 * |---|---|---|
 * | a2aCard | `{ token }` null: the public card | {@link CardAnswer} |
 * | a2aAdmit | `{ token }` | {@link PeerHolder} |
 * | a2aSend | {@link PeerSay}; with `watch` events follow as for `a2aWatch` | Exchange |
 * | a2aGet | `{ token, exchange }` | Exchange |
 * | a2aList | `{ token, query }` | PeerPage |
 * | a2aCancel | `{ token, exchange }` | Exchange |
 * | a2aWatch | `{ token, exchange, watch, progress }` then sends events until it is final | Exchange at the start |
 * | a2aPush | {@link PushAsk} | PushConfig[] |
 * | hook | {@link HookCall} | {@link HookAnswer} |
 * | pageOpen | `{ code }` of `remit serve login`, once | `{ session, expiresAt }` |
 * | pageView | {@link PageAsk} | {@link PageView} |
 * | pageAnswer | {@link PageAnswer} | `null` |
 * | pageClose | `{ session }` | `null` |
 * | jwks | `null` | `{ keys }`: JSON text of the set of keys that sign cards and deliveries |
 * | ready | `null` | `{ ready, why }` |
 * | metrics | `null` | `{ text }` in OpenMetrics format |
 *
 * The starter tells: `exchange` `{ watch, event: ExchangeEvent }`. The gateway tells: `a2aUnwatch` `{ watch }`.
 * @module
 */
import * as z from "zod";
import {
  ContextId,
  ExchangeId,
  PeerMessage,
  PeerName,
  PeerQuery,
  PushConfig,
} from "../exchange/exchange.ts";
import { Digest, QuestionId, TaskId } from "../authority/ids.ts";
import { InboxId } from "../exchange/inbox.ts";

/** A bearer token, or none. */
export const PeerCredential = z.string().max(16_384).nullable();

/** A served card; its bytes are signed and must not be re-encoded. */
export const CardAnswer = z.object({
  /** JSON text. */
  card: z.string().max(262_144),
  etag: z.string().max(128),
  /** Milliseconds since 1970. */
  modified: z.int().min(0),
}).strict();
export type CardAnswer = z.infer<typeof CardAnswer>;

/** The owner of a credential. */
export const PeerHolder = z.object({
  peer: PeerName,
  /** Requests a minute. */
  perMinute: z.int().min(1),
  progress: z.boolean(),
  /** Whether the peer may request deliveries. */
  push: z.boolean(),
}).strict();
export type PeerHolder = z.infer<typeof PeerHolder>;

/** A watch: the gateway's id for it, and whether to include the agent's text while it works. */
export const PeerWatchAsk = z.object({ id: z.string().min(1).max(128), progress: z.boolean() })
  .strict();
export type PeerWatchAsk = z.infer<typeof PeerWatchAsk>;

/** A message of a peer. */
export const PeerSay = z.object({
  token: PeerCredential,
  message: PeerMessage.omit({ role: true, at: true }).strict(),
  exchange: ExchangeId.optional(),
  context: ContextId.optional(),
  /** JSON object text. */
  metadata: z.string().max(16_384).optional(),
  push: PushConfig.optional(),
  /** The request's `traceparent` as received; recorded as a link, never used as a parent. */
  trace: z.string().max(128).optional(),
  /** Watch the exchange from the answer on, under this id. */
  watch: PeerWatchAsk.optional(),
}).strict();
export type PeerSay = z.infer<typeof PeerSay>;

/** A request about delivery configurations. Answers those that remain; `get` and `set` answer the one. */
export const PushAsk = z.object({
  token: PeerCredential,
  exchange: ExchangeId,
  op: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("set"), config: PushConfig }).strict(),
    z.object({ kind: z.enum(["get", "delete"]), id: z.string().max(128) }).strict(),
    z.object({ kind: z.literal("list") }).strict(),
  ]),
}).strict();
export type PushAsk = z.infer<typeof PushAsk>;

/** A peer's query for its exchanges; its name comes from the credential. */
export const PeerList = z.object({
  token: PeerCredential,
  query: PeerQuery.omit({ peer: true }).strict(),
})
  .strict();
export type PeerList = z.infer<typeof PeerList>;

/** A request at a webhook's path. */
export const HookCall = z.object({
  path: z.string().max(128),
  /** In lower case; only the first 64. */
  headers: z.record(z.string().max(128), z.string().max(8_192)),
  /** Base64 of the received bytes, which the signature covers. */
  body: z.string().max(1_400_000),
}).strict();
export type HookCall = z.infer<typeof HookCall>;

/** `unknown` is the answer for both an unknown path and a wrong signature. */
export const HookAnswer = z.object({
  result: z.enum(["taken", "duplicate", "unknown", "late"]),
}).strict();
export type HookAnswer = z.infer<typeof HookAnswer>;

/** The requested view of the page. */
export const PageAsk = z.object({
  session: z.string().max(128),
  view: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("home") }).strict(),
    z.object({ kind: z.literal("task"), task: TaskId }).strict(),
    z.object({ kind: z.literal("question"), question: QuestionId }).strict(),
    z.object({ kind: z.literal("message"), message: InboxId }).strict(),
  ]),
}).strict();
export type PageAsk = z.infer<typeof PageAsk>;

/** The lines that the terminal would print, already safe to show; the page escapes them for HTML. */
export const PageView = z.object({
  title: z.string().max(256),
  sections: z.array(
    z.object({
      heading: z.string().max(256),
      /** `to`: the task, question or message that the row links to. */
      rows: z.array(
        z.object({
          cells: z.array(z.string().max(8_192)).max(8),
          to: z.union([TaskId, QuestionId, InboxId]).optional(),
        }).strict(),
      ).max(1_000),
      /** Preformatted text, line by line. */
      lines: z.array(z.string().max(8_192)).max(5_000),
    }).strict(),
  ).max(32),
  /** Set if this question may be answered on the page: an open consent question. */
  answer: z.object({
    question: QuestionId,
    /** Digest of the question as shown; an answer applies to exactly this. */
    shown: Digest,
  }).strict().optional(),
  /** How to answer it elsewhere, if not on the page. */
  elsewhere: z.string().max(512).optional(),
}).strict();
export type PageView = z.infer<typeof PageView>;

/** A person's decision on the page. */
export const PageAnswer = z.object({
  session: z.string().max(128),
  question: QuestionId,
  shown: Digest,
  decision: z.enum(["allow", "deny"]),
  say: z.string().max(2_000).optional(),
}).strict();
export type PageAnswer = z.infer<typeof PageAnswer>;
