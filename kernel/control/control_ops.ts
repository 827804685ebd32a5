/** What a command line may ask of the kernel, parsed once at the crossing. @module */
import * as z from "zod";
import { Limits } from "../../contracts/task/budget.ts";
import { Colour, Label } from "../../contracts/authority/colour.ts";
import { ExchangeId, PeerName, PeerQuery, PeerSend } from "../../contracts/exchange/exchange.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { ConversationName } from "../../contracts/task/hosting.ts";
import {
  ArtifactId,
  Digest,
  LeaseId,
  Millis,
  Pid,
  QuestionId,
  SessionId,
  TaskId,
} from "../../contracts/authority/ids.ts";
import { AgentMessage, Box, EntryState, InboxId, Sender } from "../../contracts/exchange/inbox.ts";
import { ImportedServer, McpEnvName, McpServerName } from "../../contracts/exchange/mcp.ts";
import { Answer } from "../../contracts/authority/question.ts";
import { Signal } from "../../contracts/task/signal.ts";
import {
  Ingress,
  ModelChoice,
  Phase,
  Profile,
  TaskRequest,
  TaskStatus,
} from "../../contracts/task/task.ts";
import { FleetBody, ViewBody } from "./fleet_ops.ts";
import { ProfileBody } from "../power/net/profile_store.ts";
import { ResourceBody } from "./resource_ops.ts";
import { WorkspaceBody } from "./workspaces.ts";
import { PushAsk } from "../../contracts/wire/wire_a2a.ts";
import type { Json } from "../../contracts/base/mod.ts";
import { SanitizeMark, SignedAsk } from "../../contracts/memory/content_trust.ts";

const task = z.object({ task: TaskId }).strict();
/** A name, or a task's id. */
const conversation = z.string().min(1).max(64);
const amount = z.int().min(0).max(1e15);
const number = z.int().min(1).max(1_000_000);
/** Longest time until a conversation expires. */
const MILLENNIUM_MS = 31_557_600_000_000;
const maybeTask = z.object({ task: TaskId.optional() }).strict();

const entry = z.object({ id: InboxId }).strict();
const server = z.object({ server: McpServerName }).strict();
/** A value that can stand in a header or an environment. */
const secret = z.string().min(1).max(65_536).regex(/^[^\0]*$/);
const inHeader = z.string().min(1).max(8_192).regex(/^[\x20-\x7e]*$/);
const https = z.string().max(2_048).regex(/^https?:\/\//);

/** See `Secret` in contracts. */
const Secret = z.object({
  name: z.string().min(1).max(64),
  value: z.string().min(1).max(65_536),
  origin: z.string().max(1_024),
  header: z.string().regex(/^[a-z0-9-]{1,64}$/),
  prefix: z.string().max(64),
}).strict();

/** See `McpLoan` in contracts. */
const McpLoan = z.object({
  server: McpServerName,
  env: z.record(McpEnvName, secret),
  headers: z.record(z.string().regex(/^[a-z][a-z0-9-]{0,63}$/), inHeader),
  oauth: z.object({
    tokenEndpoint: https,
    clientId: z.string().min(1).max(4_096),
    clientSecret: z.string().max(4_096).optional(),
    resource: https,
    scope: z.string().max(4_096).optional(),
    accessToken: inHeader,
    expiresAt: z.int().min(0).optional(),
    refreshToken: z.string().min(1).max(8_192).optional(),
  }).strict().optional(),
}).strict();

/** Filters of `audit query`; all must hold. Times are milliseconds since 1970. */
export const AuditFilter = z.object({
  task: TaskId.optional(),
  since: z.int().min(0).optional(),
  until: z.int().min(0).optional(),
  tool: z.string().max(64).optional(),
  model: z.string().max(256).optional(),
  decision: z.string().max(32).optional(),
  outcome: z.string().max(32).optional(),
}).strict();
/** See {@link AuditFilter}. */
export type AuditFilter = z.infer<typeof AuditFilter>;

/** An exchange: a peer's, or any where the operator asks. */
const exchange = z.object({ peer: PeerName.optional(), exchange: ExchangeId }).strict();

/** Exchanges with peers, and what is told to them. */
const PEER_OPS = {
  peerSend: PeerSend,
  peerGet: exchange,
  peerCancel: exchange,
  peerWatch: exchange.extend({ progress: z.boolean().optional() }).strict(),
  peerUnwatch: z.object({ exchange: ExchangeId }).strict(),
  peerList: PeerQuery.extend({ peer: PeerName.optional() }).strict(),
  peerPush: PushAsk.omit({ token: true }).extend({ peer: PeerName.optional() }).strict(),
  peerExport: z.object({ exchange: ExchangeId, artifact: ArtifactId }).strict(),
  peerReply: z.object({ exchange: ExchangeId, text: z.string().min(1).max(65_536) }).strict(),
  peerErase: z.union([
    z.object({ exchange: ExchangeId }).strict(),
    z.object({ before: Millis, peer: PeerName.optional() }).strict(),
  ]),
  peerDue: z.object({ limit: z.int().min(1).max(1_000).optional() }).strict(),
  peerDelivered: z.object({
    exchange: ExchangeId,
    config: z.string().max(128),
    version: z.int().min(0),
    ok: z.boolean(),
    again: Millis.optional(),
  }).strict(),
  deliver: z.object({
    url: z.string().max(2_048),
    headers: z.record(z.string().max(128), z.string().max(16_384)),
    body: z.string().max(4_000_000),
    origins: z.array(z.string().max(512)).max(16),
  }).strict(),
} as const;

/** The control protocol's requests after `hello`. */
export const CONTROL_OPS = {
  run: TaskRequest,
  /** `attached`: what of the text the person did not write; with it the text is YELLOW. */
  say: z.object({
    task: TaskId,
    text: z.string().min(1).max(200_000),
    attached: z.string().min(1).max(512).optional(),
  }).strict(),
  watch: z.object({ task: TaskId, from: z.int().min(0) }).strict(),
  context: task,
  contextShow: z.object({ task: TaskId, number, from: z.int().min(0) }).strict(),
  contextRestore: z.object({ task: TaskId, number }).strict(),
  conversations: z.null(),
  conversation: z.object({ conversation, turn: number.optional(), from: z.int().min(0) }).strict(),
  conversationName: z.object({ task: TaskId, name: ConversationName }).strict(),
  conversationFork: z.object({
    conversation,
    turn: number.optional(),
    name: ConversationName.optional(),
    message: z.string().min(1).max(200_000).optional(),
    model: TaskRequest.shape.model.optional(),
    session: SessionId,
    ingress: Ingress,
  }).strict(),
  conversationExpire: z.object({
    name: ConversationName,
    afterMs: z.int().min(0).max(MILLENNIUM_MS).optional(),
  }).strict(),
  conversationRemove: z.object({ name: ConversationName }).strict(),
  tasks: z.object({
    archived: z.boolean().optional(),
    statuses: z.array(TaskStatus).max(16).optional(),
    prefix: z.string().max(32).optional(),
    before: TaskId.optional(),
    limit: z.int().min(1).max(1_000).optional(),
  }).strict(),
  head: z.null(),
  task,
  cancel: task,
  finish: task,
  resume: task,
  archive: task,
  purge: task,
  interrupt: z.object({
    task: TaskId,
    second: z.boolean(),
    signal: z.literal("SIGTERM").optional(),
  }).strict(),
  ps: z.null(),
  kill: z.object({ pid: Pid, signal: Signal }).strict(),
  questions: maybeTask,
  question: z.object({ question: QuestionId }).strict(),
  answer: Answer,
  staged: task,
  undo: z.object({
    task: TaskId,
    files: z.array(z.string().min(1).max(4_096)).min(1).max(1_000).optional(),
  }).strict(),
  tools: task,
  caps: task,
  grants: maybeTask,
  can: z.object({
    agent: z.string().max(64),
    tool: z.string().max(64),
    arguments: z.string().max(1_000_000),
    profile: Profile,
    mounts: TaskRequest.shape.mounts.optional(),
    memory: TaskRequest.shape.memory,
    mcp: TaskRequest.shape.mcp,
  }).strict(),
  model: z.object({ task: TaskId, model: ModelChoice }).strict(),
  embed: z.object({
    model: ModelChoice,
    texts: z.array(z.string().min(1).max(200_000)).min(1).max(256),
    label: Label,
  }).strict(),
  ask: z.object({
    model: ModelChoice,
    system: z.string().max(200_000),
    user: z.string().min(1).max(1_000_000),
    responseSchema: z.string().max(65_536).optional(),
    maxTokens: z.int().min(1).max(10_000_000),
    temperature: z.number().min(0).max(2).optional(),
    label: Label,
    colour: Colour,
  }).strict(),
  modelUnload: z.object({ ref: z.string().min(1).max(1_024).optional() }).strict(),
  lend: Secret,
  secrets: z.object({ digest: z.string().max(64), secrets: z.array(Secret).max(512) }).strict(),
  leases: maybeTask,
  revoke: z.object({ lease: LeaseId }).strict(),
  outbox: maybeTask,
  release: z.object({ artifact: ArtifactId }).strict(),
  sanitize: SanitizeMark,
  signed: SignedAsk,
  extend: z.object({ task: TaskId, limits: Limits.partial() }).strict(),
  phase: z.object({ task: TaskId, phase: Phase }).strict(),
  log: z.object({ task: TaskId, from: z.int().min(0) }).strict(),
  costs: z.object({ since: z.int().min(0), until: z.int().min(0).optional() }).strict(),
  budgets: z.null(),
  use: z.object({
    amounts: z.object({ sources: amount, sourceBytes: amount, indexBytes: amount }).partial()
      .strict(),
    doing: z.string().min(1).max(100),
    past: z.boolean(),
  }).strict(),
  auditQuery: AuditFilter,
  auditVerify: z.object({ head: Digest.optional() }).strict(),
  fleet: FleetBody,
  resources: ResourceBody,
  profiles: ProfileBody,
  workspaces: WorkspaceBody,
  view: ViewBody,
  auditExport: z.null(),
  auditRepair: z.null(),
  more: z.null(),
  receipts: z.object({ task: TaskId, call: z.string().max(128).optional() }).strict(),
  mcpLook: z.object({
    server: ImportedServer,
    observe: z.boolean(),
    deadlineMs: z.int().min(1_000).max(600_000),
  }).strict(),
  mcpLend: McpLoan,
  mcpTokens: server,
  mcpRevoke: server,
  mcpLog: z.object({ server: McpServerName, limit: z.int().min(1).max(10_000) }).strict(),
  delegate: z.object({
    key: z.string().max(64),
    expiresAt: z.int().min(0).max(8.64e15),
    signature: z.string().max(128),
  }).strict(),
  undelegate: z.object({ key: z.string().max(64) }).strict(),
  inbox: z.object({ box: Box.optional(), state: EntryState.optional() }).strict(),
  inboxShow: entry,
  inboxPut: z.object({
    message: AgentMessage,
    stamp: z.object({
      box: Box,
      colour: Colour,
      label: Label,
      exchange: z.string().max(64).optional(),
      held: z.boolean().optional(),
    }).strict(),
  }).strict(),
  inboxRelease: entry,
  inboxDismiss: z.object({ id: InboxId, why: z.string().max(512) }).strict(),
  inboxMute: z.object({ sender: Sender, why: z.string().max(512) }).strict(),
  inboxUnmute: z.object({ sender: Sender }).strict(),
  inboxMuted: z.null(),
  ...PEER_OPS,
  counts: z.null(),
  ended: z.object({ after: z.int().min(0).nullable() }).strict(),
  spans: task,
  retain: z.object({ before: Millis, dryRun: z.boolean() }).strict(),
  stop: z.union([z.null(), z.object({ force: z.boolean() }).strict()]),
} as const;

/** A parsed control request: a closed union on `op`. */
export type ControlRequest = {
  [Op in keyof typeof CONTROL_OPS]: {
    readonly op: Op;
    readonly body: z.infer<typeof CONTROL_OPS[Op]>;
  };
}[keyof typeof CONTROL_OPS];

/** The answer to each op is JSON; see contracts/wire/wire_control.ts. */
export function parseControlRequest(op: string, body: Json): ControlRequest {
  if (!Object.hasOwn(CONTROL_OPS, op)) {
    throw new Fault("invalidInput", `Cannot serve "${op.slice(0, 64)}": no such operation`);
  }
  const parsed = CONTROL_OPS[op as keyof typeof CONTROL_OPS].safeParse(body);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new Fault(
      "invalidInput",
      `Cannot serve "${op}": ${issue?.path.join(".") || "body"}: ${issue?.message}`,
    );
  }
  return { op, body: parsed.data } as ControlRequest;
}
