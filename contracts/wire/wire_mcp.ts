/**
 * What the kernel and a bridge process say to each other. A bridge is the client of one MCP server for one task, a
 * process without any permission: the server's bytes come to it over this very port. Everything that it says was
 * influenced by the server: the kernel parses it with limits and believes none of it.
 *
 * | kernel asks | body | answer |
 * |---|---|---|
 * | open | {@link McpOpen}, first of all | {@link McpReady} |
 * | words | `null` everything that the server says of itself, all pages, bounded | ServerListing |
 * | call | {@link McpCall} | {@link McpCallResult} |
 * | read | `{ id, uri, deadlineMs }` a resource | {@link McpCallResult} |
 * | prompt | `{ id, name, args, deadlineMs }` | {@link McpCallResult} |
 * | complete | `{ id, ref: { prompt } \| { template }, argument, value, deadlineMs }` | `{ values: string[] }` |
 * | bytes | `{ text }` of the server's output (stdio) | `null`, when it was taken in |
 * | ended | `{ why }` the server's process ended or its output closed | `null` |
 * | close | `null` a server at a URL forgets the session, best effort | `null` |
 *
 * The kernel tells: `cancel` `{ id }`, `roots` {@link McpRoot}[], `level` `{ level }`.
 *
 * | bridge asks | body | answer |
 * |---|---|---|
 * | send | `{ text }` whole lines to the server's input (stdio) | `null`, when it has taken them |
 * | http | {@link McpHttp} | {@link McpHttpAnswer} |
 * | httpRead | `{ id }` | `{ bytes }` base64; empty at the end |
 * | elicit | {@link McpElicit} | {@link McpElicited} |
 * | sample | {@link McpSample} | {@link McpSampled} |
 *
 * The bridge tells: `send` as it asks it, where no more than a little was told since it last asked, `httpCancel` `{ id }`, `progress` `{ id, progress, total?, message? }`, `log` `{ level, text }`,
 * `changed` `{ what: "tools" | "resources" | "prompts" }`, `updated` `{ uri }`, `odd` `{ what }` (a protocol violation,
 * one sentence, at most 20 a second); the bridge of a peer also `said` PeerSaid (contracts/exchange/exchange.ts).
 * @module
 */
import * as z from "zod";
import { Label } from "../authority/colour.ts";
import { Digest } from "../authority/ids.ts";
import type { JsonObject } from "../base/json.ts";
import { MAX_FIELDS, MAX_RECORDS } from "../exchange/mcp_limits.ts";
import type { StagedChange } from "../tool/workspace.ts";

export { MCP_LINE, MCP_PORT_LIMITS } from "../exchange/mcp_limits.ts";

/** A folder that the server is told of: nothing but what it was granted. */
export interface McpRoot {
  /** `file:///…` */
  readonly uri: string;
  readonly name: string;
}

/** First request. */
export interface McpOpen {
  readonly transport: "stdio" | "http";
  /** For `http`. */
  readonly url?: string;
  /** The server's name, for what a person is told to do. */
  readonly name?: string;
  /** Asks the way of 2025 at once: for a server that ended when it was asked the newer way (fault `gone`, `{ probed: true }`). */
  readonly old?: boolean;
  /** It spoke the newest revision when it was reviewed: the question for its revisions may take the whole deadline. */
  readonly newest?: boolean;
  readonly roots: readonly McpRoot[];
  readonly elicitation: boolean;
  readonly sampling: boolean;
  /** Milliseconds for the handshake. */
  readonly deadlineMs: number;
}

/** The handshake is over. */
export const McpReady = z.object({
  protocol: z.string().max(32),
  server: z.object({ name: z.string().max(256), version: z.string().max(128) }).strict(),
}).strict();
export type McpReady = z.infer<typeof McpReady>;

/** One call of a tool. */
export interface McpCall {
  /** Of this call on this port; `cancel` names it. */
  readonly id: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly deadlineMs: number;
  /** JSON Schema text that structured content is held against, with a bounded validator; absent: none. */
  readonly resultSchema?: string;
}

/** A part of a result. Links are never followed by the bridge. */
export const McpPart = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("text"), text: z.string().max(8_000_000) }).strict(),
  /** Bytes as base64: an image, audio, an embedded blob. */
  z.object({
    kind: z.literal("blob"),
    what: z.enum(["image", "audio", "resource"]),
    mimeType: z.string().max(256),
    data: z.string().max(12_000_000),
    uri: z.string().max(4_096).optional(),
  }).strict(),
  /** Text of a resource that the result embeds. */
  z.object({
    kind: z.literal("resource"),
    uri: z.string().max(4_096),
    mimeType: z.string().max(256).optional(),
    text: z.string().max(8_000_000),
  }).strict(),
  z.object({
    kind: z.literal("link"),
    uri: z.string().max(4_096),
    name: z.string().max(512),
    mimeType: z.string().max(256).optional(),
  }).strict(),
]);
export type McpPart = z.infer<typeof McpPart>;

/** Answer to `call`, `read`, `prompt`. Faults: `upstream` (protocol error, with the server's message), `timedOut`, `cancelled`, `gone`, `tooLarge`, `invalidInput`. */
export const McpCallResult = z.object({
  /** The tool itself says that it failed. */
  isError: z.boolean(),
  parts: z.array(McpPart).max(1_000),
  /** JSON text of the structured content, held against the schema. */
  structured: z.string().max(8_000_000).optional(),
  /** Bytes that were left out because the result was too large. */
  cutBytes: z.int().min(0),
  /** What its walls refused the server during the call, `read "/x"`: set by the kernel, of values that are the server's. */
  refused: z.array(z.string().max(600)).max(8).optional(),
  /** Things that the result lists, each as its fields with their values. */
  records: z.array(
    z.array(z.tuple([z.string().max(64), z.union([z.string().max(256), z.number()])]))
      .max(MAX_FIELDS),
  ).max(MAX_RECORDS).optional(),
  /** How confidential a peer says that it is: it can only raise the result's label. */
  label: Label.optional(),
}).strict();
export type McpCallResult = z.infer<typeof McpCallResult>;

/** What a call changed that is not the server's word. */
export interface McpChanged {
  readonly staged: readonly StagedChange[];
  readonly unstaged: readonly string[];
  /** What is not kept, a line each; untrusted names in them. */
  readonly left: readonly string[];
  /** Files that the server was not shown. */
  readonly withheld: number;
  /** What went into the folder at once, as the workspace's record has it, and its paths. */
  readonly applied?: { readonly record: JsonObject; readonly paths: readonly string[] };
  readonly writtenBytes: number;
}

/** An answer of a server, and what its call changed where it may change something. */
export type McpAnswer = McpCallResult & { readonly changed?: McpChanged };

/** The server asks the person for input. */
export const McpElicit = z.object({
  /** The call during which it asks; absent when none is under way. */
  call: z.string().max(64).optional(),
  message: z.string().max(8_192),
  /** A flat object of primitives, JSON Schema text (form mode). */
  schema: z.string().max(32_768).optional(),
  /** The address that the person is asked to visit (URL mode): shown, never opened. */
  url: z.string().max(4_096).optional(),
}).strict();
export type McpElicit = z.infer<typeof McpElicit>;

/** What the person said; `content` is JSON text that fits the schema. */
export const McpElicited = z.object({
  action: z.enum(["accept", "decline", "cancel"]),
  content: z.string().max(32_768).optional(),
}).strict();
export type McpElicited = z.infer<typeof McpElicited>;

/** The server asks for an inference. */
export const McpSample = z.object({
  call: z.string().max(64).optional(),
  system: z.string().max(65_536),
  messages: z.array(
    z.object({
      role: z.enum(["user", "assistant"]),
      text: z.string().max(1_000_000),
    }).strict(),
  ).min(1).max(100),
  maxTokens: z.int().min(1).max(1_000_000),
}).strict();
export type McpSample = z.infer<typeof McpSample>;

/** The model's answer. */
export const McpSampled = z.object({
  model: z.string().max(256),
  text: z.string().max(1_000_000),
  stop: z.enum(["endTurn", "maxTokens"]),
}).strict();
export type McpSampled = z.infer<typeof McpSampled>;

/** A request of the HTTP transport to the server's own origin; the kernel adds secret headers. */
export const McpHttp = z.object({
  id: z.string().max(64),
  method: z.enum(["GET", "POST", "DELETE"]),
  url: z.string().max(4_096),
  headers: z.record(z.string().max(128), z.string().max(8_192)),
  body: z.string().max(8_000_000).optional(),
}).strict();
export type McpHttp = z.infer<typeof McpHttp>;

/** Its answer's head; the body is read piece by piece. */
export const McpHttpAnswer = z.object({
  status: z.int().min(100).max(599),
  headers: z.record(z.string().max(256), z.string().max(16_384)),
}).strict();
export type McpHttpAnswer = z.infer<typeof McpHttpAnswer>;

/** Kernel → tree process: `check` a tree, `program` a program's bytes. Answer: `null`, or what differs, in words. */
export const McpTreeAsk = z.discriminatedUnion("op", [
  z.object({
    op: z.literal("check"),
    body: z.object({ id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/), sha256: Digest }).strict(),
  }).strict(),
  z.object({
    op: z.literal("program"),
    body: z.object({ path: z.string().max(4_096).regex(/^\//), sha256: Digest }).strict(),
  }).strict(),
]);
export type McpTreeAsk = z.infer<typeof McpTreeAsk>;
