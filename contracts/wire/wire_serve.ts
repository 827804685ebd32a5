/**
 * What a gateway process (`service/gateway/main.ts`) and its starter say to each other. The gateway talks with hosts and peers
 * and has one listen address or none at all; its starter (`remit mcp serve`, which holds the control socket) does what
 * it asks, within the profile that remit.yaml chose for the token, and believes nothing else of it.
 *
 * | starter asks | body | answer |
 * |---|---|---|
 * | open | {@link ServeOpen}, first of all | `{ address }`: `host:port`, or empty for stdio |
 * | bytes | `{ text }` from the host (stdio) | `null` |
 * | stop | `null` finishes what is under way, then ends | `null` |
 * | a2aRender | `{ exchange, event }`: what a delivery of that says; no event: the exchange whole | `{ body }` |
 *
 * The starter tells: `progress` `{ session, call, text }`, `toolsChanged` `{ session }`, `gone` `{ session }`.
 *
 * | gateway asks | body | answer |
 * |---|---|---|
 * | admit | `{ token }`: whose it is, asked for every request; a wrong token is `denied` | {@link ServeHolder} |
 * | session | {@link ServeHost} opens one; a wrong token is `denied` | {@link ServeSession} |
 * | sessionEnd | `{ session }` | `null` |
 * | tools | `{ session }` | {@link ToolDescriptor}[] as the policy advertises them to the profile |
 * | call | {@link ServeCall}; the same `call` again waits for the same call | {@link ServeResult} |
 * | task | {@link ServeTask} `run_task` to its end | {@link ServeResult} |
 * | answer | {@link ServeAnswer} only with `selfConsent`; else `refused` | `null` |
 * | send | `{ text }` to the host (stdio) | `null` |
 * | fleet | {@link FleetCall}: what a person with a token asks of all kernels; a wrong token is `denied` | {@link FleetAnswer} |
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

/** Both ends of a gateway's pipe have these. */
export const SERVE_PORT_LIMITS: Partial<PortLimits> = Object.freeze({
  frameBytes: 12 * 1_048_576,
  nodes: 500_000,
  framesPerSecond: 10_000,
  pending: 512,
});

/** Longest piece of a host's bytes that goes through the pipe at once, UTF-16 units. */
export const SERVE_PIECE = 1_048_576;

/** First request. */
export const ServeOpen = z.object({
  transport: z.enum(["stdio", "http"]),
  /** For `http`: where it listens; port 0 takes a free one. */
  listen: z.object({ hostname: z.string().max(253), port: z.int().min(0).max(65_535) }).strict()
    .optional(),
  /** Values of `Host` and `Origin` beside its own address that are let in. */
  hosts: z.array(z.string().max(260)).max(64),
  origins: z.array(z.string().max(2_048)).max(64),
  version: z.string().max(64),
  /** Bounds of `http`; absent: the gateway's own. */
  bounds: z.object({
    sessions: z.int().min(1).max(10_000),
    /** Requests a minute, of one token and of one address. */
    perToken: z.int().min(1).max(1_000_000),
    perAddress: z.int().min(1).max(1_000_000),
    /** Milliseconds that a request's body may take. */
    bodyMs: z.int().min(10).max(600_000),
    /** Milliseconds until the head of a connection's first request is whole. */
    headMs: z.int().min(10).max(600_000).optional(),
  }).strict().optional(),
  /** What is served at the address; absent: MCP alone. */
  serves: z.object({
    mcp: z.boolean(),
    a2a: z.boolean(),
    hooks: z.boolean(),
    page: z.boolean(),
    metrics: z.boolean(),
    fleet: z.boolean(),
  }).strict().optional(),
  /** Others reach it over https: a proxy stands before it. */
  https: z.boolean().optional(),
  /** Milliseconds that what is under way may take at `stop`; absent: 5,000. */
  drainMs: z.int().min(0).max(3_600_000).optional(),
}).strict();
export type ServeOpen = z.infer<typeof ServeOpen>;

/** Whose a token is. */
export const ServeHolder = z.object({
  /** Names the token, and is none. */
  holder: z.string().min(1).max(64),
  profile: Profile,
}).strict();
export type ServeHolder = z.infer<typeof ServeHolder>;

/** A host that begins a session. Its words about itself are its own. */
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

/** A host's session: an id of the starter's, which names one task of its own. */
export const ServeSession = z.object({
  session: z.string().min(16).max(64),
  profile: Profile,
  /** Consent may be asked of the host's own person, through elicitation. */
  selfConsent: z.boolean(),
  /** There is a wiki to read, through the tools `wiki_index` and `wiki_read`. */
  wiki: z.boolean(),
  /** `run_task` is there: names of agents that it takes. */
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

/** A task of its own: `run_task`. */
export const ServeTask = z.object({
  session: z.string().max(64),
  call: CallId,
  request: z.string().min(1).max(200_000),
  agent: z.string().max(64).optional(),
  waitMs: z.int().min(0).max(600_000),
}).strict();
export type ServeTask = z.infer<typeof ServeTask>;

/** What the host's person said to one question of a call of this session. */
export const ServeAnswer = z.object({
  session: z.string().max(64),
  call: CallId,
  question: QuestionId,
  allow: z.boolean(),
}).strict();
export type ServeAnswer = z.infer<typeof ServeAnswer>;

/** What came of a call or task. */
export const ServeResult = z.object({
  outcome: z.union([Outcome, z.literal("waiting")]),
  content: z.string().max(1_000_000),
  error: z.string().max(8_192).optional(),
  colour: Colour,
  label: Label,
  task: z.string().max(16),
  /** What waits for a person: the call itself (`waiting`), or what it staged. */
  waiting: z.object({
    question: QuestionId,
    kind: z.enum(["consent", "stepUp", "other"]),
    summary: z.string().max(4_096),
    /** Where a person can answer it: commands to type. */
    where: z.string().max(512),
    /** The host's own person may answer it, through elicitation. */
    elicit: z.boolean(),
  }).strict().optional(),
}).strict();
export type ServeResult = z.infer<typeof ServeResult>;

/** Bytes of the longest question of {@link FleetCall}: a request with its model's configuration. */
export const FLEET_BYTES = 6 * 1_048_576;

/** What a person with a token asks, over `POST /fleet`. */
export const FleetAsked = z.object({
  /** An operation of the kernel's `view`. */
  op: z.string().regex(/^[A-Za-z]{1,32}$/),
  body: z.json(),
}).strict();
/** The same with its token, for the starter. */
export const FleetCall = FleetAsked.extend({ token: z.string().max(512) }).strict();

/** What the kernel answered, or why it refused. */
export const FleetAnswer = z.union([
  z.object({ value: z.json() }).strict(),
  z.object({ fault: z.object({ code: z.string().max(64), message: z.string().max(65_536) }) })
    .strict(),
]);
/** See {@link FleetAnswer}. */
export type FleetAnswer = z.infer<typeof FleetAnswer>;
