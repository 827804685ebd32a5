/** What remit.yaml says of the service: `serve`, `peers`, `webhooks`, `schedules`. The operator's alone. @module */
import * as z from "zod";
import { Limits } from "../task/budget.ts";
import { Label } from "../authority/colour.ts";
import { PeerName } from "../exchange/exchange.ts";
import { MountName } from "../authority/ids.ts";
import { McpServerName } from "../exchange/mcp.ts";
import { Profile } from "../task/task.ts";

/** An entry of `agents`, or absent for the plain one. */
const agent = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/);
const name = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/);
const secret = z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/);

/** What tasks that others start are given. */
const given = {
  agent: agent.optional(),
  /** Absent: `guest`. */
  profile: Profile.optional(),
  /** A model's alias or reference; absent: `model`. */
  model: z.string().max(1_024).optional(),
  /** Folders of `mounts` that its tasks are handed; absent: none. */
  mounts: z.array(MountName).max(32).optional(),
  /** Imported MCP servers and A2A peers that its tasks are handed; absent: none. */
  mcp: z.array(McpServerName).max(64).optional(),
  /** Limits of each task. */
  limits: Limits.partial().optional(),
  /** The task's words; `{{body}}` and `{{json.PATH}}` stand for what came, as data. */
  request: z.string().min(1).max(32_768).optional(),
};

/** How a peer proves who it is. Absent: a token of `remit a2a token`. */
export const PeerAuth = z.object({
  /** OAuth 2.1 access tokens as JWTs (RFC 9068). */
  issuer: z.string().max(2_048).regex(/^https?:\/\//),
  audience: z.string().min(1).max(2_048),
  /** The token's `sub`, or `client_id` where there is none. */
  subject: z.string().min(1).max(512),
  /** Where the issuer's keys are; absent: found by its metadata (RFC 8414). */
  jwks: z.string().max(2_048).regex(/^https?:\/\//).optional(),
  /** Scope that the token must hold. */
  scope: z.string().max(256).optional(),
}).strict();
export type PeerAuth = z.infer<typeof PeerAuth>;

/** One peer that may send us messages. */
export const PeerConfig = z.object({
  ...given,
  /** Absent: `ask`. */
  accept: z.enum(["ask", "auto"]).optional(),
  /** Ids of `serve.skills` that its card shows; absent: all of its agent's. */
  skills: z.array(name).max(64).optional(),
  auth: PeerAuth.optional(),
  /** The most confidential text that it is told; absent: public. */
  clearance: Label.optional(),
  /** Origins that deliveries may go to, `https://host[:port]`; absent: none. */
  push: z.array(z.string().max(512).regex(/^https?:\/\//)).max(16).optional(),
  /** Exchanges under way, and tasks a day; absent: 16 and 200. */
  open: z.int().min(1).max(10_000).optional(),
  perDay: z.int().min(1).max(1_000_000).optional(),
  /** Requests a minute; absent: 600. */
  perMinute: z.int().min(1).max(1_000_000).optional(),
  /** It sees the agent's words while it works; absent: no. */
  progress: z.boolean().optional(),
}).strict();
export type PeerConfig = z.infer<typeof PeerConfig>;

/** Something that an agent of ours does for peers, as the card says it. */
export const SkillConfig = z.object({
  id: name,
  name: z.string().min(1).max(128),
  description: z.string().min(1).max(1_024),
  tags: z.array(z.string().max(64)).max(16).optional(),
  examples: z.array(z.string().max(512)).max(16).optional(),
  agent: agent.optional(),
}).strict();
export type SkillConfig = z.infer<typeof SkillConfig>;

/** The service. */
export const ServeConfig = z.object({
  /** `HOST:PORT`; absent: 127.0.0.1:7433. */
  listen: z.string().max(300).optional(),
  /** Where others reach it, in the card; absent: `http://` and the listen address. */
  url: z.string().max(2_048).regex(/^https?:\/\//).optional(),
  name: z.string().min(1).max(128).optional(),
  description: z.string().min(1).max(1_024).optional(),
  provider: z.object({ organization: z.string().max(128), url: z.string().max(2_048) }).strict()
    .optional(),
  skills: z.array(SkillConfig).max(64).optional(),
  /** Values of `Host` and `Origin` beside its own. */
  hosts: z.array(z.string().max(260)).max(64).optional(),
  origins: z.array(z.string().max(2_048)).max(64).optional(),
  /** What is served; absent: everything. */
  mcp: z.boolean().optional(),
  a2a: z.boolean().optional(),
  page: z.boolean().optional(),
  metrics: z.boolean().optional(),
  /** What `remit --fleet URL` asks, with a token of `remit fleet token`. */
  fleet: z.boolean().optional(),
  /** Finished tasks, and what was delivered, are erased after this many days; absent: never. */
  retentionDays: z.int().min(1).max(36_500).optional(),
  /** Milliseconds that what is under way may take at the end; absent: 10,000. */
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
  /** Name of a kept secret: HMAC-SHA256 over the body, or over `TIMESTAMP.BODY` where a timestamp's header is named. */
  secret,
  /** Header of the signature, hex or `sha256=` and hex; absent: `x-hub-signature-256`. */
  header: z.string().regex(/^[a-z0-9-]{1,64}$/).optional(),
  /** Header of the seconds since 1970; with it, older deliveries than five minutes are refused. */
  timestamp: z.string().regex(/^[a-z0-9-]{1,64}$/).optional(),
  /** Header of the delivery's id; absent: `x-github-delivery`, else a digest of the body. */
  delivery: z.string().regex(/^[a-z0-9-]{1,64}$/).optional(),
}).strict();
export type WebhookConfig = z.infer<typeof WebhookConfig>;

/** A request at times. */
export const ScheduleConfig = z.object({
  ...given,
  request: z.string().min(1).max(32_768),
  /** Five fields, or six with seconds. */
  cron: z.string().min(1).max(128),
  /** As `Europe/Paris`; absent: UTC. */
  timezone: z.string().max(64).optional(),
  /** What becomes of firings that were missed while nothing ran; absent: `skip`. */
  missed: z.enum(["skip", "once", "all"]).optional(),
}).strict();
export type ScheduleConfig = z.infer<typeof ScheduleConfig>;

/** How the kernel of a state is kept. */
export const KernelSetting = z.object({
  /** Minutes after its last work until it ends; 10 where absent, and 0 is soon. */
  idleMinutes: z.number().min(0).max(10_000).optional(),
}).strict();
export type KernelSetting = z.infer<typeof KernelSetting>;

/** The fleet that `--fleet default` asks. */
export const FleetConfig = z.object({
  /** The gateway of one of its kernels: https, or http to this machine. */
  url: z.string().max(2_048).regex(/^https?:\/\//).optional(),
}).strict();
/** See {@link FleetConfig}. */
export type FleetConfig = z.infer<typeof FleetConfig>;

/** The keys that a whole remit.yaml has of these. */
export const SERVICE_KEYS = {
  kernel: KernelSetting.optional(),
  serve: ServeConfig.optional(),
  fleet: FleetConfig.optional(),
  peers: z.partialRecord(PeerName, PeerConfig).optional(),
  webhooks: z.record(name, WebhookConfig).optional(),
  schedules: z.record(name, ScheduleConfig).optional(),
};
