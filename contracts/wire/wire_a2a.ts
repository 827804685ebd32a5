/**
 * What a gateway asks its starter (`remit serve`) for peers, webhooks and the page, beside what wire_serve.ts lists. The
 * gateway is believed nothing: each request carries the credential that came with it, and the starter says whose it is.
 * Faults: `denied` (a credential that is not known), `notFound` (also for what is another's), `conflict` (the state does
 * not allow it), `rateLimited`, `invalidInput`, `tooLarge`, `refused`, `unavailable`.
 *
 * | gateway asks | body | answer |
 * |---|---|---|
 * | a2aCard | `{ token }` null: the public one | {@link CardAnswer} |
 * | a2aAdmit | `{ token }` | {@link PeerHolder} |
 * | a2aSend | {@link PeerSay}; with `watch` it then tells as `a2aWatch` | Exchange |
 * | a2aGet | `{ token, exchange }` | Exchange |
 * | a2aList | `{ token, query }` | PeerPage |
 * | a2aCancel | `{ token, exchange }` | Exchange |
 * | a2aWatch | `{ token, exchange, watch, progress }` then tells until it is final | Exchange, as it stood |
 * | a2aPush | {@link PushAsk} | PushConfig[] |
 * | hook | {@link HookCall} | {@link HookAnswer} |
 * | pageOpen | `{ code }` of `remit serve login`, once | `{ session, expiresAt }` |
 * | pageView | {@link PageAsk} | {@link PageView} |
 * | pageAnswer | {@link PageAnswer} | `null` |
 * | pageClose | `{ session }` | `null` |
 * | jwks | `null` | `{ keys }`: JSON text of the set of keys that sign cards and deliveries |
 * | ready | `null` | `{ ready, why }` |
 * | metrics | `null` | `{ text }` in OpenMetrics' words |
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

/** A card as it is served: its bytes are signed, so nobody writes them anew. */
export const CardAnswer = z.object({
  /** JSON text. */
  card: z.string().max(262_144),
  etag: z.string().max(128),
  /** Milliseconds since 1970. */
  modified: z.int().min(0),
}).strict();
export type CardAnswer = z.infer<typeof CardAnswer>;

/** Whose a credential is. */
export const PeerHolder = z.object({
  peer: PeerName,
  /** Requests a minute. */
  perMinute: z.int().min(1),
  progress: z.boolean(),
  /** It may ask for deliveries. */
  push: z.boolean(),
}).strict();
export type PeerHolder = z.infer<typeof PeerHolder>;

/** How an exchange is watched: the gateway's name of the watch, and whether the agent's words are told while it works. */
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
  /** The request's `traceparent`, as it came: a link for who collects traces, and no parent of anything. */
  trace: z.string().max(128).optional(),
  /** What follows is told under this name, from the answer on. */
  watch: PeerWatchAsk.optional(),
}).strict();
export type PeerSay = z.infer<typeof PeerSay>;

/** One request about deliveries. Answers what there is after it; `get` and `set` the one. */
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

/** What a peer lists: its query without its name, which its credential says. */
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
  /** Base64 of the bytes that came: the signature is over them. */
  body: z.string().max(1_400_000),
}).strict();
export type HookCall = z.infer<typeof HookCall>;

/** One answer for an unknown path and a wrong signature: `unknown`. */
export const HookAnswer = z.object({
  result: z.enum(["taken", "duplicate", "unknown", "late"]),
}).strict();
export type HookAnswer = z.infer<typeof HookAnswer>;

/** What of the page is looked at. */
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

/** Lines as the terminal says them, each already made safe to show; the page escapes them for HTML. */
export const PageView = z.object({
  title: z.string().max(256),
  sections: z.array(
    z.object({
      heading: z.string().max(256),
      /** A link to a task, question or message of ours, where a row has one. */
      rows: z.array(
        z.object({
          cells: z.array(z.string().max(8_192)).max(8),
          to: z.union([TaskId, QuestionId, InboxId]).optional(),
        }).strict(),
      ).max(1_000),
      /** Text as it stands, line by line. */
      lines: z.array(z.string().max(8_192)).max(5_000),
    }).strict(),
  ).max(32),
  /** Set where this question may be answered here: consent, open. */
  answer: z.object({
    question: QuestionId,
    /** Digest of the question as it is shown: an answer is to exactly this. */
    shown: Digest,
  }).strict().optional(),
  /** How it is answered elsewhere, where it cannot be answered here. */
  elsewhere: z.string().max(512).optional(),
}).strict();
export type PageView = z.infer<typeof PageView>;

/** What a person decided at the page. */
export const PageAnswer = z.object({
  session: z.string().max(128),
  question: QuestionId,
  shown: Digest,
  decision: z.enum(["allow", "deny"]),
  say: z.string().max(2_000).optional(),
}).strict();
export type PageAnswer = z.infer<typeof PageAnswer>;
