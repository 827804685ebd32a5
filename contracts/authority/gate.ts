/** The gate's interface: the one path from a proposed call to an effect. @module */
import type { Digest, LeaseId, Pid, QuestionId, TaskId } from "./ids.ts";
import type { ChatMessage, ToolCall } from "../model/chat.ts";
import type { PermissionMode, ToolResult, ToolSnapshot } from "../tool/tool.ts";
import type { Outcome } from "../tool/tool.ts";
import type { Colour, EffectClass, Label } from "./colour.ts";
import type { Lease, Scope } from "./lease.ts";
import type { Answer, Question } from "./question.ts";
import type { FaultCode } from "../base/fault.ts";

/** The gate's decision before anyone is asked and before any effect. The same state always gives the same decision. */
export type Decision =
  | {
    readonly kind: "refuse";
    readonly step: 1 | 2 | 3 | 4 | 5 | 6 | 7;
    readonly outcome: Outcome;
    readonly code: FaultCode;
    /** For the agent: what was refused, by which rule, and how to request permission. */
    readonly why: string;
    readonly rule: string;
  }
  | {
    readonly kind: "allow" | "ask";
    readonly mode: Exclude<PermissionMode, "forbidden">;
    readonly rule: string;
    readonly effect: EffectClass;
    readonly colour: Colour;
    readonly label: Label;
    readonly lease: LeaseId;
    readonly descriptor: Digest;
    readonly argumentsText: string;
    readonly argumentsHash: Digest;
    /** An earlier answer that covers this call. */
    readonly reused?: QuestionId;
  };

/** The only path from a proposed call to an effect. */
export interface Gate {
  /** The tools advertised to a process now; recorded as the process's snapshot. */
  advertise(pid: Pid): ToolSnapshot;
  /** Steps 1 to 7, without effect: what `remit can` shows. */
  decide(pid: Pid, call: ToolCall, snapshot: string): Decision;
  /**
   * Decides, asks a person if needed, decides again, commits, invokes, commits the outcome.
   * Never rejects for a refusal: that is an outcome. Rejects with `needsApproval` when the
   * question was queued and the caller must wait, and with `storeFull` when nothing may happen.
   */
  call(pid: Pid, call: ToolCall, snapshot: string, signal: AbortSignal): Promise<ToolResult>;
  /**
   * Replaces credentials in the calls of a model's message by placeholders before the message is
   * stored or passed on, for calls that leave the machine. `call` resolves the placeholders.
   */
  withhold(pid: Pid, message: ChatMessage): ChatMessage;
}

/** Why a wait for a person ended. */
export type Answered =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "expired" | "lapsed" | "queued" };

/** Questions to people, durable. */
export interface Questions {
  /** Stores a question and waits for the answer; with `wait: false` resolves `queued` at once. */
  ask(
    question: Question,
    options: { readonly wait: boolean; readonly signal: AbortSignal },
  ): Promise<Answered>;
  /** Accepts a signed answer; rejects `refused` for a wrong key, a wrong digest or a closed question. */
  answer(answer: Answer): Promise<Question>;
  /** A question that is open, expired or recently closed, judged by the current clock. */
  get(id: QuestionId): Question | undefined;
  /** Like `get`, and also questions that an earlier kernel closed; undefined if unknown or erased. */
  find(id: QuestionId): Promise<Question | undefined>;
  open(task?: TaskId): readonly Question[];
}

/** The lease table. Rights only shrink; revoking takes the subtree. */
export interface Leases {
  grant(lease: Omit<Lease, "id" | "grantedAt" | "revokedAt" | "parent">): Promise<Lease>;
  /** Throws `refused` unless `scope` lies within the parent's and `expiresAt` is not later. */
  derive(
    parent: LeaseId,
    to: {
      readonly pid: Pid;
      readonly scope: Scope;
      readonly expiresAt: number;
      readonly reason: string;
    },
  ): Promise<Lease>;
  revoke(id: LeaseId, why: string): Promise<readonly LeaseId[]>;
  /** Whether neither the lease nor an ancestor is revoked or expired. */
  alive(id: LeaseId): boolean;
  get(id: LeaseId): Lease | undefined;
  /** The first live lease of a process that covers the scope. */
  covering(pid: Pid, scope: Scope): Lease | undefined;
  /** Why the lease that would cover the scope no longer does; undefined where there never was one. */
  dead(pid: Pid, scope: Scope): "revoked" | "expired" | undefined;
  list(task?: TaskId): readonly Lease[];
  /** Called with each lease that ended, before `revoke` resolves. Returns the unsubscriber. */
  onEnd(listener: (lease: Lease, why: "revoked" | "expired") => void): () => void;
}
