/** Durable task records. @module */
import * as z from "zod";
import { EXIT } from "../base/fault_exit.ts";
import { Digest, Millis, SessionId, TaskId, ToolName } from "../authority/ids.ts";
import type { ChatMessage } from "../model/chat.ts";
import { Colour, Label } from "../authority/colour.ts";
import { Mount } from "../tool/workspace.ts";
import { Limits } from "./budget.ts";
import { AgentSpec } from "../policy/agent_spec.ts";
import { GuardRule } from "../policy/guard_config.ts";
import { ImportedServer } from "../exchange/mcp.ts";
import { NoteKind } from "../memory/wiki.ts";

/**
 * State of a task. The last four are final. `blocked` (its first process is stopped) is reported
 * for a running task and never recorded: a stop does not outlive the process. `reviewing`: its
 * staged changes are being reviewed at the end of a turn.
 */
export const TaskStatus = z.enum([
  "open",
  "blocked",
  "needsApproval",
  "reviewing",
  "done",
  "failed",
  "cancelled",
  "expired",
]);
export type TaskStatus = z.infer<typeof TaskStatus>;

/** Prefix of a task's reason if it does not continue by itself because the kernel's rules have changed. */
export const OTHER_RULES = "it began under other rules";

/** The allowed transitions between statuses. */
export const TASK_TRANSITIONS: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  open: ["blocked", "needsApproval", "reviewing", "done", "failed", "cancelled", "expired"],
  blocked: ["open", "failed", "cancelled", "expired"],
  needsApproval: ["open", "reviewing", "failed", "cancelled", "expired"],
  reviewing: ["open", "needsApproval", "done", "failed", "cancelled", "expired"],
  done: [],
  failed: [],
  cancelled: [],
  expired: [],
};

/** A phase narrows tools and modes: `plan` and `review` only read; `work` may stage; `apply` may act. */
export const Phase = z.enum(["plan", "work", "apply", "review"]);
export type Phase = z.infer<typeof Phase>;

/** Kind of requester; selects the policy's rules and ceilings. */
export const Profile = z.enum(["operator", "guest", "anonymous"]);
export type Profile = z.infer<typeof Profile>;

/** How a request came in. */
export const Ingress = z.object({
  channel: z.enum(["terminal", "pipe", "http", "webhook", "schedule", "a2a", "mcp", "mail"]),
  principal: z.string().min(1).max(128),
  colour: Colour,
  label: Label,
}).strict();
export type Ingress = z.infer<typeof Ingress>;

/** A model and its service's configuration. */
export const ModelChoice = z.object({
  ref: z.string().max(1_024),
  config: z.string().max(4_000_000),
}).strict();
export type ModelChoice = z.infer<typeof ModelChoice>;

/** What to do when a question comes up: ask at the terminal, queue it, or deny it. */
export const OnQuestion = z.enum(["ask", "queue", "deny"]);
export type OnQuestion = z.infer<typeof OnQuestion>;

/** Days that notes are kept; absent: forever, task logs for 90. */
export const MemoryRetention = z.object({
  taskLog: z.int().min(1).max(36_500).optional(),
}).strict();
export type MemoryRetention = z.infer<typeof MemoryRetention>;

/** The wiki that a task holds, as the command line resolved it. */
export const TaskMemory = z.object({
  /** Absolute and real. */
  folder: z.string().min(1).max(4_096),
  /** STATE/wiki/ID. */
  stateFolder: z.string().min(1).max(4_096),
  access: z.enum(["read", "propose"]),
  /** What the agent may do with its own notes about the person. */
  user: z.enum(["none", "read", "write"]),
  /** Kinds of notes that wait for a person even after consent to the write. */
  review: z.array(NoteKind).max(3),
  retention: MemoryRetention,
  /** Highest label of pages and sources that the task sees; at most that of its profile. */
  clearance: Label,
}).strict();
export type TaskMemory = z.infer<typeof TaskMemory>;

/** A request for a task, from any ingress. */
export const TaskRequest = z.object({
  request: z.string().min(1).max(200_000),
  session: SessionId,
  ingress: Ingress,
  profile: Profile,
  mounts: z.array(Mount).max(32),
  /** Folder of the request, absolute; its remit.yaml applies. */
  folder: z.string().min(1).max(4_096).optional(),
  /** `KIND:REFERENCE`, resolved and, for `scripted`, read by the command line. */
  model: z.object({
    ref: z.string().max(1_024),
    /** The backend's configuration, JSON text (for `scripted`: the parsed scenario). */
    config: z.string().max(4_000_000),
    /** Another model to continue with after this many invalid calls in a row. */
    escalate: z.object({ after: z.int().min(1).max(100), to: ModelChoice }).strict().optional(),
    /** The model that shortens the conversation; absent: the task's own. */
    summarizer: ModelChoice.optional(),
    /** Models that replace it if its clearance is too low; the first with sufficient clearance. */
    others: z.array(ModelChoice).max(7).optional(),
  }).strict(),
  limits: Limits.partial(),
  onQuestion: OnQuestion,
  phase: Phase,
  /** Keep the task open for more turns when a turn has ended. */
  interactive: z.boolean(),
  /** Have the model give a reason for each call in question, by the template `call_review`. */
  reasons: z.literal(true).optional(),
  /** JSON Schema (text) for the answer; enforced during generation if the backend can. */
  answerSchema: z.string().min(2).max(65_536).optional(),
  /** Have the model describe the task by the template `intake` before it sees a tool. */
  intake: z.literal(true).optional(),
  /** `asked`: staged changes are proposed only by a call of patch_apply, not at the end of each turn. */
  review: z.literal("asked").optional(),
  /** The agent's specification; absent: a default agent that holds everything the policy offers. */
  agent: AgentSpec.optional(),
  /** Agents of remit.yaml that its agents may start by name. */
  agents: z.array(AgentSpec).max(32).optional(),
  /** Instruction files of the mounts (`MOUNT/AGENTS.md`): read through the gate, as data. */
  instructions: z.array(z.string().min(1).max(512)).max(32).optional(),
  /** Source of an agent program in place of the standard runner, or a built-in program's name (`remit:planned`). */
  program: z.string().max(4_000_000).optional(),
  memory: TaskMemory.optional(),
  /** Folders of this machine's wikis, absolute and real; file tools write nothing in them. */
  wikis: z.array(z.string().min(1).max(4_096)).max(1_000).optional(),
  /** Imported MCP servers, each as it was reviewed. */
  mcp: z.array(ImportedServer).max(64).optional(),
  /** Number of imported tools above which models use `tool_search`; absent: 30. */
  mcpSearchAbove: z.int().min(0).max(1_000).optional(),
  /** Tools offered to models from the start besides the usual ones; absent: none. */
  offer: z.union([z.literal("all"), z.array(ToolName).max(512)]).optional(),
  /** Models that check its calls and results. */
  guards: z.array(GuardRule.extend({ model: ModelChoice }).strict()).max(8).optional(),
}).strict();
export type TaskRequest = z.infer<typeof TaskRequest>;

/** A task as a person sees it: the fold of its events. */
export const AgentTask = z.object({
  id: TaskId,
  request: z.string().max(200_000),
  /** The request in one line, without invisible characters. */
  objective: z.string().max(512),
  session: SessionId,
  ingress: Ingress,
  profile: Profile,
  model: z.string().max(1_024),
  harness: z.string().max(64),
  /** The agent of remit.yaml and its labels; absent for the default agent. */
  agent: AgentSpec.shape.name.optional(),
  labels: AgentSpec.shape.labels.optional(),
  status: TaskStatus,
  phase: Phase,
  exit: z.int().min(0).max(255).optional(),
  /** The last answer of the agent. */
  answer: z.string().max(1_000_000).optional(),
  reason: z.string().max(2_048).optional(),
  mounts: z.array(Mount).max(32),
  folder: TaskRequest.shape.folder,
  /** Digest of the rules that it last ran under; a kernel with other rules does not continue it by itself. */
  rules: Digest.optional(),
  limits: Limits,
  colour: Colour,
  label: Label,
  questions: z.array(z.string().max(16)).max(10_000),
  artifacts: z.array(z.string().max(16)).max(10_000),
  /** Patch sets applied, newest last. */
  applied: z.array(Digest).max(10_000),
  createdAt: Millis,
  updatedAt: Millis,
  archived: z.boolean(),
  purged: z.boolean(),
}).strict();
export type AgentTask = z.infer<typeof AgentTask>;

/** Tools and effects that a phase forbids. */
export const PHASE_FORBIDS: Readonly<Record<Phase, readonly string[]>> = {
  plan: ["stage", "mutateLocal", "outboundWrite", "destructive", "admin"],
  work: [],
  apply: [],
  review: ["stage", "mutateLocal", "outboundWrite", "destructive", "admin"],
};

/** Whether a person uses the task interactively: a failed turn leaves it open, and each turn has its own time limit. */
export function outlivesTurns(
  { interactive, ingress: { channel } }: Pick<TaskRequest, "interactive" | "ingress">,
): boolean {
  return interactive && (channel === "terminal" || channel === "pipe");
}

/** A person's text as the conversation's next message. */
export function requestMessage(
  { ingress }: Pick<TaskRequest, "ingress">,
  text: string,
  attached?: string,
): ChatMessage {
  const { channel, colour, label } = ingress;
  return {
    role: "user",
    content: text,
    provenance: {
      origin: channel === "terminal" ? "operator" : "person",
      ...(attached === undefined ? {} : { source: attached }),
      colour: attached === undefined || colour === "RED" ? colour : "YELLOW",
      label,
    },
  };
}

/**
 * Exit codes after which a person may resume a failed task: failures of the model, its provider,
 * the folder or the input. A task refused for its colour, or without budget, is final.
 */
const RESUMABLE: ReadonlySet<number | undefined> = new Set([
  EXIT.upstreamFailure,
  EXIT.rateLimited,
  EXIT.contextOverflow,
  EXIT.refused,
  EXIT.invalidInput,
  EXIT.notApplied,
]);

/** Whether a person may resume a failed task. */
export function isResumable(task: Pick<AgentTask, "status" | "exit" | "purged">): boolean {
  return task.status === "failed" && !task.purged && RESUMABLE.has(task.exit);
}
