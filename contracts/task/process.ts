/** A process of Remit: a principal with capabilities, limits, colour and label. @module */
import type { CallId, LeaseId, Pid, SessionId, TaskId } from "../authority/ids.ts";
import type { Colour, Label } from "../authority/colour.ts";
import type { Limits, Usage } from "./budget.ts";
import type { Mount } from "../tool/workspace.ts";
import type { OnQuestion, Phase, Profile } from "./task.ts";
import type { Source } from "../authority/question.ts";
import type { CapabilityGrant } from "../policy/agent_spec.ts";
import type { ToolSnapshot } from "../tool/tool.ts";

/** State of a process. */
export type ProcessStatus = "running" | "stopped" | "waiting" | "ended";

/**
 * One row of the process table. Only the process table writes it; gate and broker read it and
 * change it through {@link ProcessKeeper}.
 */
export interface ProcessRow {
  readonly pid: Pid;
  readonly ppid: Pid | undefined;
  readonly task: TaskId;
  readonly session: SessionId;
  readonly conversation: string;
  readonly principal: string;
  readonly profile: Profile;
  readonly spec: string;
  readonly mounts: readonly Mount[];
  /** Absent: every tool that the policy advertises. A child's is a subset of its parent's. */
  readonly capabilities: readonly CapabilityGrant[] | undefined;
  readonly limits: Limits;
  readonly depth: number;
  readonly onQuestion: OnQuestion;
  readonly startedAt: number;
  status: ProcessStatus;
  phase: Phase;
  turn: number;
  colour: Colour;
  label: Label;
  /** Untrusted sources read so far, newest last, at most 100. */
  sources: Source[];
  usage: Usage;
  leases: LeaseId[];
  snapshot: ToolSnapshot | undefined;
  /** The model and nonce of the inference that proposed the calls now being made. */
  model: { id: string; backend: string; nonce: string };
  /** Running calls, for `ps` and for cancelling. */
  calls: Map<CallId, { tool: string; since: number; abort: AbortController }>;
  exit: number | undefined;
}

/** The effect of a read on a process, folded into its colour, label and sources. */
export interface Taint {
  readonly colour: Colour;
  readonly label: Label;
  readonly sources: readonly Source[];
}

/** The only writer of process rows. */
export interface ProcessKeeper {
  get(pid: Pid): ProcessRow | undefined;
  list(): readonly ProcessRow[];
  taint(pid: Pid, taint: Taint): void;
  advertise(pid: Pid, snapshot: ToolSnapshot): void;
  /** Reserves budget; throws `budgetExhausted` naming the limit. Counts against every ancestor. */
  charge(pid: Pid, charge: Partial<ChargeableUsage>): void;
  /** The limit that the charge would exceed, without charging; undefined if none. */
  wouldExceed(pid: Pid, charge: Partial<ChargeableUsage>): string | undefined;
}

/** One charge against a budget. */
export interface ChargeableUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly money: number;
  /** An effect class: counts one call of it and one call in all. */
  readonly call: string;
  readonly resultBytes: number;
  readonly writtenBytes: number;
  readonly children: number;
  readonly questions: number;
  readonly iterations: number;
}

/** Clock, randomness and ids: handed to everything in the kernel process that needs them. */
export interface Powers {
  /** Milliseconds since 1970. */
  now(): number;
  /** `prefix` and 12 characters of `[0-9a-z]`. */
  id(prefix: string): string;
  /** 32 lower-case hex characters from a secure source. */
  token(): string;
  /** Runs `f` after `ms`; the returned function cancels. */
  after(ms: number, f: () => void): () => void;
  /** A named point in the path of a call; fault tests kill the kernel there. */
  reach(point: FailPoint): void;
}

/** Points at which fault tests end the kernel. */
export type FailPoint =
  | "beforeIntent"
  | "afterIntent"
  | "beforeOutcome"
  | "afterOutcome"
  | "beforeAnswer"
  | "afterAnswer"
  | "beforeDelivery"
  | "afterDelivery"
  | "beforeCookies"
  | "afterCookies";
