/**
 * Petnames and mail between agents of one kernel and the person, their HOST. A name belongs to one
 * agent and gives others no authority; a message carries descriptions, which the receiver adopts
 * through the gate.
 * @module
 */
import * as z from "zod";
import { Colour, Label } from "../authority/colour.ts";
import { ArtifactId, TaskId, ToolName } from "../authority/ids.ts";
import { type AgentMessage, Box, InboxId } from "./inbox.ts";
import { LAL_PROGRAM } from "./lal.ts";
import { PLANNED_PROGRAM } from "./planned.ts";
import { Scope } from "../authority/lease.ts";
import type { TaskRequest } from "../task/task.ts";

/** `schema` of a message whose body is {@link Mail} as JSON text. */
export const MAIL_SCHEMA = "remit.mail/1";

/**
 * What runs in a task's worker: source text, the name of a built-in program, or undefined for the
 * standard loop.
 */
export function programOf(request: Pick<TaskRequest, "program" | "agent">): string | undefined {
  const { program, agent } = request;
  return program ?? (agent?.program === undefined ? undefined : PROGRAMS[agent.program]);
}

const PROGRAMS = { lal: LAL_PROGRAM, planned: PLANNED_PROGRAM } as const;

/** Bounds of one agent's directory. */
export const NAMES_MOST = Object.freeze({
  names: 1_000,
  depth: 8,
  valueChars: 65_536,
  chars: 1_000_000,
});

/** One component of a path: no invisible characters, no separators. */
export const PetName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
export type PetName = z.infer<typeof PetName>;

/** A path of names, from the agent's own directory. */
export const PetPath = z.array(PetName).min(1).max(NAMES_MOST.depth).readonly();
export type PetPath = z.infer<typeof PetPath>;

/** Names that every directory has and nobody can remove or move: the agent, the person, the agent's holdings. */
export const SPECIAL_NAMES: ReadonlySet<string> = new Set(["SELF", "HOST", "AGENT"]);

/** What a name refers to. A capability is described, never a handle: adopting it derives a lease or is refused. */
export const Reference = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("value"),
    /** Extended JSON (port/xjson.ts), as JSON text. */
    json: z.string().max(NAMES_MOST.valueChars),
    colour: Colour,
    label: Label,
  }).strict(),
  z.object({ kind: z.literal("artifact"), artifact: ArtifactId }).strict(),
  z.object({ kind: z.literal("agent"), box: Box }).strict(),
  z.object({ kind: z.literal("tool"), tool: ToolName }).strict(),
  z.object({ kind: z.literal("lease"), scope: Scope }).strict(),
]);
export type Reference = z.infer<typeof Reference>;

/** A directory of references and directories by name. */
export interface Directory {
  readonly kind: "directory";
  readonly entries: Readonly<Record<string, Directory | Reference>>;
}

/** See {@link Directory}. */
export const Directory: z.ZodType<Directory> = z.object({
  kind: z.literal("directory"),
  entries: z.record(PetName, z.union([Reference, z.lazy(() => Directory)])),
}).strict();

/** A reference in a message, under its sender's name for it. */
export const Edge = z.object({ name: PetName, reference: Reference }).strict();
export type Edge = z.infer<typeof Edge>;

const words = z.string().max(65_536);

/** A program that an agent proposes: it never runs by itself. */
export const EvalProposal = z.object({
  source: z.string().min(1).max(100_000),
  /** Identifiers of the program and the names in the agent's directory that they stand for, in the same order. */
  codeNames: z.array(z.string().regex(/^[A-Za-z_$][A-Za-z0-9_$]{0,63}$/)).max(32).readonly(),
  edgeNames: z.array(z.string().max(600)).max(32).readonly(),
  /** Where its result goes. */
  resultName: PetName.optional(),
}).strict();
export type EvalProposal = z.infer<typeof EvalProposal>;

/**
 * The content of a message. `strings` and `edges` alternate, beginning with a text; there are as many
 * texts as edges, or one more.
 */
export const Mail = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("package"),
    strings: z.array(words).min(1).max(33).readonly(),
    edges: z.array(Edge).max(32).readonly(),
  }).strict(),
  z.object({ type: z.literal("request"), description: words, responseName: PetName }).strict(),
  /** The answer to a request, with the number that the sender's box gave the request. */
  z.object({
    type: z.literal("resolution"),
    request: z.string().max(128),
    edges: z.array(Edge).length(1).readonly(),
  })
    .strict(),
  z.object({ type: z.literal("rejection"), request: z.string().max(128), why: words }).strict(),
  /** HOST's alternative to a proposal; from anyone else it is plain text. */
  z.object({
    type: z.literal("counterProposal"),
    proposal: z.int().min(1).max(1_000_000),
    offer: EvalProposal,
    why: words,
  }).strict(),
]);
export type Mail = z.infer<typeof Mail>;

/** A proposal as its task stores it. */
export const Proposed = EvalProposal.extend({
  n: z.int().min(1),
  /** The complete program: the values of `edgeNames` at the time of the proposal, then the source. */
  program: z.string().max(200_000),
});
export type Proposed = z.infer<typeof Proposed>;

/** The settlement of a proposal. `seq` numbers a task's settlements from 1. */
export const Settlement = z.object({
  seq: z.int().min(1),
  proposal: z.int().min(1),
  status: z.enum(["granted", "failed", "rejected", "countered"]),
  source: z.string().max(100_000),
  /** `granted`: the result as text. */
  result: words.optional(),
  resultName: PetName.optional(),
  /** The person's words, or the failure. */
  why: words.optional(),
  offer: EvalProposal.optional(),
  colour: Colour,
  label: Label,
}).strict();
export type Settlement = z.infer<typeof Settlement>;

/** The mail part of a task's committed outcomes; folded again after a crash. */
export const MailRecord = z.object({
  proposed: Proposed.optional(),
  settled: z.array(Settlement.omit({ seq: true })).max(64).optional(),
  /** Messages that the agent dismissed. */
  dismissed: z.array(InboxId).max(64).optional(),
}).strict();
export type MailRecord = z.infer<typeof MailRecord>;

/** Parses the mail in a message; undefined if the message is not in Remit's mail format. */
export function mailIn({ schema, body }: Pick<AgentMessage, "schema" | "body">): Mail | undefined {
  if (schema !== MAIL_SCHEMA) return undefined;
  try {
    return Mail.safeParse(JSON.parse(body)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The box for an answer to a message; undefined for a peer's message, which other tools answer. */
export function answerBox(message: Pick<AgentMessage, "sender" | "senderTask">): Box | undefined {
  const { sender, senderTask } = message;
  if (sender === "host") return "host";
  if (!sender.startsWith("agent:") && !sender.startsWith("task:")) return undefined;
  const task = TaskId.safeParse(senderTask);
  return Box.parse(task.success ? `task:${task.data}` : sender);
}
