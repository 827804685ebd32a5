/**
 * The service part of remit.yaml: `serve`, `peers`, `webhooks`, `schedules`; allowed in the
 * operator's own file only. Used by policy.ts.
 * @module
 */
import * as z from "zod";
import { Limits } from "../task/budget.ts";
import { Label } from "../authority/colour.ts";
import { PeerName } from "../exchange/exchange.ts";
import { MountName } from "../authority/ids.ts";
import { McpServerName } from "../exchange/mcp.ts";
import { Profile } from "../task/task.ts";

/** An entry of `agents`; absent for the default agent. */
const agent = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/);
const name = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/);
const secret = z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/);

/** Settings of tasks that others start. */
const given = {
  agent: agent.optional(),
  /** Absent: `guest`. */
  profile: Profile.optional(),
  /** A model's alias or reference; absent: `model`. */
  model: z.string().max(1_024).optional(),
  /** Names in `mounts` of the folders that its tasks hold; absent: none. */
  mounts: z.array(MountName).max(32).optional(),
  /** Imported MCP servers and A2A peers that its tasks hold; absent: none. */
  mcp: z.array(McpServerName).max(64).optional(),
  /** Limits of each task. */
  limits: Limits.partial().optional(),
  /** The task's request; `{{body}}` and `{{json.PATH}}` are replaced by the received data. */
  request: z.string().min(1).max(32_768).optional(),
};

/** How a peer authenticates; absent: with a token of `remit a2a token`. */
export const PeerAuth = z.object({
  /** OAuth 2.1 access tokens as JWTs (RFC 9068). */
  issuer: z.string().max(2_048).regex(/^https?:\/\//),
  audience: z.string().min(1).max(2_048),
  /** The token's `sub`, or `client_id` where there is none. */
  subject: z.string().min(1).max(512),
  /** URL of the issuer's keys; absent: from its metadata (RFC 8414). */
  jwks: z.string().max(2_048).regex(/^https?:\/\//).optional(),
  /** Scope that the token must hold. */
  scope: z.string().max(256).optional(),
}).strict();
export type PeerAuth = z.infer<typeof PeerAuth>;

/** A peer that may send messages to Remit. */
export const PeerConfig = z.object({
  ...given,
  /** Absent: `ask`. */
  accept: z.enum(["ask", "auto"]).optional(),
  /** Ids of `serve.skills` that its card shows; absent: all of its agent's. */
  skills: z.array(name).max(64).optional(),
  auth: PeerAuth.optional(),
  /** Highest label of text sent to the peer; absent: public. */
  clearance: Label.optional(),
  /** Origins that deliveries may be sent to, `https://host[:port]`; absent: none. */
  push: z.array(z.string().max(512).regex(/^https?:\/\//)).max(16).optional(),
  /** Maximum open exchanges, and tasks a day; absent: 16 and 200. */
  open: z.int().min(1).max(10_000).optional(),
  perDay: z.int().min(1).max(1_000_000).optional(),
  /** Requests a minute; absent: 600. */
  perMinute: z.int().min(1).max(1_000_000).optional(),
  /** Whether the peer sees the agent's text while it works; absent: no. */
  progress: z.boolean().optional(),
}).strict();
export type PeerConfig = z.infer<typeof PeerConfig>;

/** A skill that one of Remit's agents offers to peers, as the card shows it. */
export const SkillConfig = z.object({
  id: name,
  name: z.string().min(1).max(128),
  description: z.string().min(1).max(1_024),
  tags: z.array(z.string().max(64)).max(16).optional(),
  examples: z.array(z.string().max(512)).max(16).optional(),
  agent: agent.optional(),
}).strict();
export type SkillConfig = z.infer<typeof SkillConfig>;

/** Settings of the service. */
export const ServeConfig = z.object({
  /** `HOST:PORT`; absent: 127.0.0.1:7433. */
  listen: z.string().max(300).optional(),
  /** Public URL of the service, for the card; absent: `http://` and the listen address. */
  url: z.string().max(2_048).regex(/^https?:\/\//).optional(),
  name: z.string().min(1).max(128).optional(),
  description: z.string().min(1).max(1_024).optional(),
  provider: z.object({ organization: z.string().max(128), url: z.string().max(2_048) }).strict()
    .optional(),
  skills: z.array(SkillConfig).max(64).optional(),
  /** Accepted values of `Host` and `Origin` besides its own. */
  hosts: z.array(z.string().max(260)).max(64).optional(),
  origins: z.array(z.string().max(2_048)).max(64).optional(),
  /** What is served; absent: everything. */
  mcp: z.boolean().optional(),
  a2a: z.boolean().optional(),
  page: z.boolean().optional(),
  metrics: z.boolean().optional(),
  /** Requests of `remit --fleet URL`, with a token of `remit fleet token`. */
  fleet: z.boolean().optional(),
  /** Days after which finished tasks and delivered messages are erased; absent: never. */
  retentionDays: z.int().min(1).max(36_500).optional(),
  /** Milliseconds that running work may take at shutdown; absent: 10,000. */
  drainMs: z.int().min(0).max(3_600_000).optional(),
  /** Traces and metrics go here (OTLP over HTTP); absent: nowhere. */
  otlp: z.string().max(2_048).regex(/^https?:\/\//).optional(),
}).strict();
export type ServeConfig = z.infer<typeof ServeConfig>;

/** A path that others may call, with a shared secret. */
export const WebhookConfig = z.object({
  ...given,
  request: z.string().min(1).max(32_768),
  /** `/hooks/NAME` where absent. */
  path: z.string().regex(/^\/hooks\/[A-Za-z0-9_-]{1,64}$/).optional(),
  /** Name of a stored secret for HMAC-SHA256 over the body, or over `TIMESTAMP.BODY` if `timestamp` is set. */
  secret,
  /** Header with the signature, hex or `sha256=` and hex; absent: `x-hub-signature-256`. */
  header: z.string().regex(/^[a-z0-9-]{1,64}$/).optional(),
  /** Header with the time in seconds since 1970; if set, deliveries older than five minutes are refused. */
  timestamp: z.string().regex(/^[a-z0-9-]{1,64}$/).optional(),
  /** Header with the delivery's id; absent: `x-github-delivery`, else a digest of the body. */
  delivery: z.string().regex(/^[a-z0-9-]{1,64}$/).optional(),
}).strict();
export type WebhookConfig = z.infer<typeof WebhookConfig>;

/** A scheduled request. */
export const ScheduleConfig = z.object({
  ...given,
  request: z.string().min(1).max(32_768),
  /** Five fields, or six with seconds. */
  cron: z.string().min(1).max(128),
  /** Such as `Europe/Paris`; absent: UTC. */
  timezone: z.string().max(64).optional(),
  /** Handling of runs missed while no service ran; absent: `skip`. */
  missed: z.enum(["skip", "once", "all"]).optional(),
}).strict();
export type ScheduleConfig = z.infer<typeof ScheduleConfig>;

/** Settings of a state folder's kernel. */
export const KernelSetting = z.object({
  /** Idle minutes after which the kernel ends; absent: 10; 0: soon. */
  idleMinutes: z.number().min(0).max(10_000).optional(),
}).strict();
export type KernelSetting = z.infer<typeof KernelSetting>;

/** The fleet of `--fleet default`. */
export const FleetConfig = z.object({
  /** URL of the gateway of one of its kernels: https, or http to this machine. */
  url: z.string().max(2_048).regex(/^https?:\/\//).optional(),
}).strict();
export type FleetConfig = z.infer<typeof FleetConfig>;

/** These settings as keys of remit.yaml. */
export const SERVICE_KEYS = {
  kernel: KernelSetting.optional(),
  serve: ServeConfig.optional(),
  fleet: FleetConfig.optional(),
  peers: z.partialRecord(PeerName, PeerConfig).optional(),
  webhooks: z.record(name, WebhookConfig).optional(),
  schedules: z.record(name, ScheduleConfig).optional(),
};
