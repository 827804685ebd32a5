/** Questions to people and their signed answers. @module */
import * as z from "zod";
import {
  CallId,
  Digest,
  LeaseId,
  Millis,
  Pid,
  QuestionId,
  SessionId,
  TaskId,
  ToolName,
} from "./ids.ts";
import { Colour, EffectClass, Label } from "./colour.ts";
import { Declaration, EarlierCall, MAX_ORIGINS, ValueOrigin } from "./origin.ts";
import { StagedChange } from "../tool/workspace.ts";
import { Plan } from "./plan.ts";

/** Something untrusted that the asking process has read. */
export const Source = z.object({
  source: z.string().max(512),
  colour: Colour,
  label: Label,
}).strict();
export type Source = z.infer<typeof Source>;

/** Exactly what an answer allows. An answer lapses when any field differs. */
export const AnswerScope = z.object({
  tool: ToolName,
  descriptor: Digest,
  /** SHA-256 of the canonical arguments and resolved digests. */
  arguments: Digest,
  destination: z.string().max(2_048).optional(),
  effect: EffectClass,
  colour: Colour,
  label: Label,
  session: SessionId,
}).strict();
export type AnswerScope = z.infer<typeof AnswerScope>;

/** A question to a person, whole: what is shown is what is signed. */
export const Question = z.object({
  id: QuestionId,
  task: TaskId,
  pid: Pid,
  /** `elicit`: an imported server asks for input; an allowing answer's `say` is the JSON of the form. */
  kind: z.enum(["consent", "stepUp", "recovery", "budget", "brake", "elicit"]),
  callId: CallId.optional(),
  turn: z.int().min(0),
  scope: AnswerScope,
  /** Canonical arguments, exact. */
  argumentsText: z.string().max(1_000_000),
  /** One line of plain words, made by the kernel from trusted parts. */
  summary: z.string().max(1_024),
  changes: z.array(StagedChange).max(10_000),
  /** Changed files that are executed later (CI, package.json, hooks): shown separately. */
  executes: z.array(z.string().max(4_096)).max(10_000),
  sources: z.array(Source).max(100),
  /** The calls of a planned program, if the question is about one. */
  plan: Plan.optional(),
  /** Where the values of the arguments come from; absent where origins do not matter for the decision. */
  origins: z.array(ValueOrigin).max(MAX_ORIGINS).optional(),
  /** Whether the tool was declared for the request. */
  declared: Declaration.optional(),
  /** For a call that leaves the task: the difference from the last such call; null if none is known. */
  earlier: EarlierCall.nullable().optional(),
  /** For an imported tool: the beginning of the description that the operator reviewed. Untrusted. */
  described: z.string().max(300).optional(),
  /** Sentences of the advisor about the arguments. Advisory only: no decision depends on them. */
  advice: z.array(z.string().max(200)).max(8).optional(),
  /** The model's own reason for the call, where the task requires one. No decision depends on it. */
  reason: z.object({
    why: z.string().max(500),
    authority: z.string().max(500),
    without: z.string().max(500),
  }).strict().optional(),
  lease: LeaseId.optional(),
  /** The rule that decided, `file:line` or `built-in: NAME`. */
  rule: z.string().max(512),
  /** The rule that an answer for the session would store, in words; absent if no such answer is offered. */
  remember: z.string().max(1_024).optional(),
  /** For a question of a subagent: names of the agents from the task's own down to the asking one. */
  agents: z.array(z.string().max(64)).max(65).optional(),
  /** How many questions this task has asked, this one included. */
  asked: z.int().min(1),
  createdAt: Millis,
  expiresAt: Millis,
  state: z.enum(["open", "allowed", "denied", "expired", "lapsed"]),
}).strict();
export type Question = z.infer<typeof Question>;

/** A person's answer. `signature` is Ed25519 over the canonical rest, base64url. */
export const Answer = z.object({
  question: QuestionId,
  /** SHA-256 of the canonical question with state `open`, as the person saw it. */
  shown: Digest,
  decision: z.enum(["allow", "deny"]),
  for: z.enum(["once", "turn", "session"]),
  /** Digests of new contents that were shown in full before the person agreed; the answer sanitizes them. */
  sanitizes: z.array(Digest).max(10_000).optional(),
  /** Words to the agent, usually with a denial. */
  say: z.string().max(2_000).optional(),
  /** Who answered and how: `terminal`, `answers-file`, `command`, `page`. */
  by: z.string().min(1).max(128),
  channel: z.enum(["terminal", "command", "answersFile", "page"]),
  at: Millis,
  /** Raw Ed25519 public key, base64url. */
  key: z.string().max(64),
  signature: z.string().max(128),
}).strict();
export type Answer = z.infer<typeof Answer>;
