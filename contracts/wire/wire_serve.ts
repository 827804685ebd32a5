/**
 * Messages between a gateway process (`service/gateway/main.ts`) and its starter. The gateway talks
 * to hosts and peers and has one listen address or none; its starter (`remit mcp serve`, which
 * holds the control socket) serves its requests, within the profile that remit.yaml sets for the
 * token, and trusts nothing else in them.
 *
 * | starter asks | body | answer |
 * |---|---|---|
 * | open | {@link ServeOpen}, first | `{ address }`: `host:port`, or empty for stdio |
 * | bytes | `{ text }` from the host (stdio) | `null` |
 * | stop | `null`: finishes running work, then ends | `null` |
 * | a2aRender | `{ exchange, event }`: the body of its delivery; without an event the whole exchange | `{ body }` |
 *
 * The starter tells: `progress` `{ session, call, text }`, `toolsChanged` `{ session }`, `gone` `{ session }`.
 *
 * | gateway asks | body | answer |
 * |---|---|---|
 * | admit | `{ token }`: its owner, requested for every request; a wrong token is `denied` | {@link ServeHolder} |
 * | session | {@link ServeHost} opens one; a wrong token is `denied` | {@link ServeSession} |
 * | sessionEnd | `{ session }` | `null` |
 * | tools | `{ session }` | {@link ToolDescriptor}[] as the policy advertises them to the profile |
 * | call | {@link ServeCall}; a repeated `call` waits for the first one | {@link ServeResult} |
 * | task | {@link ServeTask} `run_task` to its end | {@link ServeResult} |
 * | answer | {@link ServeAnswer} only with `selfConsent`, else `refused` | `null` |
 * | send | `{ text }` to the host (stdio) | `null` |
 * | fleet | {@link FleetCall}: a token holder's request to all kernels; a wrong token is `denied` | {@link FleetAnswer} |
 *
 * The gateway tells: `cancel` `{ session, call }`, `note` `{ text }` for the operator's log.
 * @module
 */
import * as z from "zod";
import { Colour, Label } from "../authority/colour.ts";
import { CallId, QuestionId, ToolName } from "../authority/ids.ts";
import type { PortLimits } from "../base/port.ts";
import { Outcome } from "../tool/tool.ts";
import { Profile } from "../task/task.ts";

/** Port limits at both ends of a gateway's pipe. */
export const SERVE_PORT_LIMITS: Partial<PortLimits> = Object.freeze({
  frameBytes: 12 * 1_048_576,
  nodes: 500_000,
  framesPerSecond: 10_000,
  pending: 512,
});

/** Maximum piece of a host's bytes sent through the pipe at once, UTF-16 units. */
export const SERVE_PIECE = 1_048_576;

/** First request. */
export const ServeOpen = z.object({
  transport: z.enum(["stdio", "http"]),
  /** For `http`: where it listens; port 0 takes a free one. */
  listen: z.object({ hostname: z.string().max(253), port: z.int().min(0).max(65_535) }).strict()
    .optional(),
  /** Accepted values of `Host` and `Origin` besides its own address. */
  hosts: z.array(z.string().max(260)).max(64),
  origins: z.array(z.string().max(2_048)).max(64),
  version: z.string().max(64),
  /** Limits for `http`; absent: the gateway's defaults. */
  bounds: z.object({
    sessions: z.int().min(1).max(10_000),
    /** Requests a minute for one token and for one address. */
    perToken: z.int().min(1).max(1_000_000),
    perAddress: z.int().min(1).max(1_000_000),
    /** Milliseconds that a request's body may take. */
    bodyMs: z.int().min(10).max(600_000),
    /** Milliseconds until the head of a connection's first request must be complete. */
    headMs: z.int().min(10).max(600_000).optional(),
  }).strict().optional(),
  /** Services at the address; absent: MCP only. */
  serves: z.object({
    mcp: z.boolean(),
    a2a: z.boolean(),
    hooks: z.boolean(),
    page: z.boolean(),
    metrics: z.boolean(),
    fleet: z.boolean(),
  }).strict().optional(),
  /** Whether clients use https through a proxy. */
  https: z.boolean().optional(),
  /** Milliseconds that running work may take at `stop`; absent: 5,000. */
  drainMs: z.int().min(0).max(3_600_000).optional(),
}).strict();
export type ServeOpen = z.infer<typeof ServeOpen>;

/** The owner of a token. */
export const ServeHolder = z.object({
  /** Names the token without being a token. */
  holder: z.string().min(1).max(64),
  profile: Profile,
}).strict();
export type ServeHolder = z.infer<typeof ServeHolder>;

/** A host that begins a session. Its description of itself is unverified. */
export const ServeHost = z.object({
  /** Null over stdio. */
  token: z.string().max(512).nullable(),
  client: z.object({ name: z.string().max(128), version: z.string().max(64) }).strict(),
}).strict();
export type ServeHost = z.infer<typeof ServeHost>;

/** A prompt that hosts may show to their people. */
export const ServePrompt = z.object({
  name: z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/),
  title: z.string().max(128),
  description: z.string().max(1_024),
  arguments: z.array(
    z.object({
      name: z.string().regex(/^[a-z][a-z0-9_]{0,31}$/),
      description: z.string().max(512),
      required: z.boolean(),
    }).strict(),
  ).max(8),
  /** `{{NAME}}` stands for an argument. */
  text: z.string().max(32_768),
}).strict();
export type ServePrompt = z.infer<typeof ServePrompt>;

/** A host's session: an id of the starter that names one task for this host. */
export const ServeSession = z.object({
  session: z.string().min(16).max(64),
  profile: Profile,
  /** Whether the host's own person may consent, through elicitation. */
  selfConsent: z.boolean(),
  /** Whether there is a wiki, read with the tools `wiki_index` and `wiki_read`. */
  wiki: z.boolean(),
  /** Agents that `run_task` accepts. */
  agents: z.array(z.string().max(64)).max(256),
  prompts: z.array(ServePrompt).max(256),
}).strict();
export type ServeSession = z.infer<typeof ServeSession>;

/** One call of a gated tool. */
export const ServeCall = z.object({
  session: z.string().max(64),
  call: CallId,
  tool: ToolName,
  args: z.record(z.string(), z.json()),
  /** Milliseconds that the call may wait for a person before it is answered `waiting`. */
  waitMs: z.int().min(0).max(600_000),
}).strict();
export type ServeCall = z.infer<typeof ServeCall>;

/** A separate task: `run_task`. */
export const ServeTask = z.object({
  session: z.string().max(64),
  call: CallId,
  request: z.string().min(1).max(200_000),
  agent: z.string().max(64).optional(),
  waitMs: z.int().min(0).max(600_000),
}).strict();
export type ServeTask = z.infer<typeof ServeTask>;

/** The host's person's answer to a question of a call in this session. */
export const ServeAnswer = z.object({
  session: z.string().max(64),
  call: CallId,
  question: QuestionId,
  allow: z.boolean(),
}).strict();
export type ServeAnswer = z.infer<typeof ServeAnswer>;

/** The result of a call or task. */
export const ServeResult = z.object({
  outcome: z.union([Outcome, z.literal("waiting")]),
  content: z.string().max(1_000_000),
  error: z.string().max(8_192).optional(),
  colour: Colour,
  label: Label,
  task: z.string().max(16),
  /** The question that waits for a person: about the call itself (`waiting`), or its staged changes. */
  waiting: z.object({
    question: QuestionId,
    kind: z.enum(["consent", "stepUp", "other"]),
    summary: z.string().max(4_096),
    /** Where a person can answer it: commands to type. */
    where: z.string().max(512),
    /** Whether the host's own person may answer, through elicitation. */
    elicit: z.boolean(),
  }).strict().optional(),
}).strict();
export type ServeResult = z.infer<typeof ServeResult>;

/** Maximum bytes of a {@link FleetCall}: a request with its model's configuration. */
export const FLEET_BYTES = 6 * 1_048_576;

/** A token holder's request over `POST /fleet`. */
export const FleetAsked = z.object({
  /** An operation of the kernel's `view`. */
  op: z.string().regex(/^[A-Za-z]{1,32}$/),
  body: z.json(),
}).strict();
/** The request with its token, for the starter. */
export const FleetCall = FleetAsked.extend({ token: z.string().max(512) }).strict();

/** The kernel's answer or fault. */
export const FleetAnswer = z.union([
  z.object({ value: z.json() }).strict(),
  z.object({ fault: z.object({ code: z.string().max(64), message: z.string().max(65_536) }) })
    .strict(),
]);
export type FleetAnswer = z.infer<typeof FleetAnswer>;
