/**
 * Messages between the kernel and a bridge process. A bridge is the client of one MCP server for
 * one task, a process without permissions: the server's bytes reach it over this port. Everything
 * it says may be influenced by the server: the kernel parses it with limits and trusts none of it.
 *
 * | kernel asks | body | answer |
 * |---|---|---|
 * | open | {@link McpOpen}, first | {@link McpReady} |
 * | words | `null`: the server's complete listing, all pages, bounded | ServerListing |
 * | call | {@link McpCall} | {@link McpCallResult} |
 * | read | `{ id, uri, deadlineMs }` a resource | {@link McpCallResult} |
 * | prompt | `{ id, name, args, deadlineMs }` | {@link McpCallResult} |
 * | complete | `{ id, ref: { prompt } \| { template }, argument, value, deadlineMs }` | `{ values: string[] }` |
 * | bytes | `{ text }` of the server's output (stdio) | `null` once accepted |
 * | ended | `{ why }` the server's process ended or its output closed | `null` |
 * | close | `null`: ends the session of a server at a URL, best effort | `null` |
 *
 * The kernel tells: `cancel` `{ id }`, `roots` {@link McpRoot}[], `level` `{ level }`.
 *
 * | bridge asks | body | answer |
 * |---|---|---|
 * | send | `{ text }` whole lines to the server's input (stdio) | `null` once written |
 * | http | {@link McpHttp} | {@link McpHttpAnswer} |
 * | httpRead | `{ id }` | `{ bytes }` base64; empty at the end |
 * | elicit | {@link McpElicit} | {@link McpElicited} |
 * | sample | {@link McpSample} | {@link McpSampled} |
 *
 * The bridge tells: `send` as in its request, while only little is unacknowledged since the last
 * request, `httpCancel` `{ id }`, `progress` `{ id, progress, total?, message? }`, `log` `{ level,
 * text }`, `changed` `{ what: "tools" | "resources" | "prompts" }`, `updated` `{ uri }`, `odd` `{
 * what }` (a protocol violation, one sentence, at most 20 a second); the bridge of a peer also
 * `said` PeerSaid (contracts/exchange/exchange.ts).
 * @module
 */
import * as z from "zod";
import { Label } from "../authority/colour.ts";
import { Digest } from "../authority/ids.ts";
import type { JsonObject } from "../base/json.ts";
import { MAX_FIELDS, MAX_RECORDS } from "../exchange/mcp_limits.ts";
import type { StagedChange } from "../tool/workspace.ts";

export { MCP_LINE, MCP_PORT_LIMITS } from "../exchange/mcp_limits.ts";

/** A folder announced to the server; always one of its grants. */
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
  /** The server's name, for instructions to a person. */
  readonly name?: string;
  /** Use the handshake of 2025 at once: for a server that ended after the newer one (fault `gone`, `{ probed: true }`). */
  readonly old?: boolean;
  /** The server spoke the newest revision at its review: the revision request may take the whole deadline. */
  readonly newest?: boolean;
  readonly roots: readonly McpRoot[];
  readonly elicitation: boolean;
  readonly sampling: boolean;
  /** Milliseconds for the handshake. */
  readonly deadlineMs: number;
}

/** Result of the handshake. */
export const McpReady = z.object({
  protocol: z.string().max(32),
  server: z.object({ name: z.string().max(256), version: z.string().max(128) }).strict(),
}).strict();
export type McpReady = z.infer<typeof McpReady>;

/** One call of a tool. */
export interface McpCall {
  /** Id of this call on this port, also for `cancel`. */
  readonly id: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly deadlineMs: number;
  /** JSON Schema (text) that a bounded validator checks structured content against; absent: no check. */
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
  /** Whether the tool reported a failure. */
  isError: z.boolean(),
  parts: z.array(McpPart).max(1_000),
  /** JSON text of the structured content, checked against the schema. */
  structured: z.string().max(8_000_000).optional(),
  /** Number of bytes omitted because the result was too large. */
  cutBytes: z.int().min(0),
  /** Accesses that the walls refused during the call, such as `read "/x"`: set by the kernel, with the server's values. */
  refused: z.array(z.string().max(600)).max(8).optional(),
  /** Records in the result, each as pairs of field and value. */
  records: z.array(
    z.array(z.tuple([z.string().max(64), z.union([z.string().max(256), z.number()])]))
      .max(MAX_FIELDS),
  ).max(MAX_RECORDS).optional(),
  /** A peer's claimed label, which can only raise the result's label. */
  label: Label.optional(),
}).strict();
export type McpCallResult = z.infer<typeof McpCallResult>;

/** A call's changes, as the kernel observed them. */
export interface McpChanged {
  readonly staged: readonly StagedChange[];
  readonly unstaged: readonly string[];
  /** Lines about changes that are not kept; they contain untrusted names. */
  readonly left: readonly string[];
  /** Number of files withheld from the server. */
  readonly withheld: number;
  /** Changes applied at once: the workspace's record, and the paths. */
  readonly applied?: { readonly record: JsonObject; readonly paths: readonly string[] };
  readonly writtenBytes: number;
}

/** A server's answer, with its changes if the call may change files. */
export type McpAnswer = McpCallResult & { readonly changed?: McpChanged };

/** The server asks the person for input. */
export const McpElicit = z.object({
  /** The running call, if any. */
  call: z.string().max(64).optional(),
  message: z.string().max(8_192),
  /** A flat object of primitives, JSON Schema text (form mode). */
  schema: z.string().max(32_768).optional(),
  /** The URL that the person is asked to visit (URL mode): shown, never opened. */
  url: z.string().max(4_096).optional(),
}).strict();
export type McpElicit = z.infer<typeof McpElicit>;

/** The person's answer; `content` is JSON text valid under the schema. */
export const McpElicited = z.object({
  action: z.enum(["accept", "decline", "cancel"]),
  content: z.string().max(32_768).optional(),
}).strict();
export type McpElicited = z.infer<typeof McpElicited>;

/** The server requests an inference. */
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

/** Kernel → tree process: `check` a tree, `program` a program's bytes. Answer: `null`, or the difference in words. */
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
