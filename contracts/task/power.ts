/** Powers: they perform a call that the gate has allowed. @module */
import type { CallId, Digest, Pid, QuestionId, TaskId, ToolName } from "../authority/ids.ts";
import type { NewEvent } from "./event.ts";
import type { DocumentWrite } from "./store.ts";
import type { Colour, EffectClass, Label } from "../authority/colour.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { HeldPlan } from "../authority/plan.ts";
import type { ProcessRow } from "./process.ts";
import type { Scope } from "../authority/lease.ts";
import type { ListedRecord } from "../authority/origin.ts";
import type { Source } from "../authority/question.ts";
import type { ToolDescriptor } from "../tool/tool.ts";
import type { StagedChange } from "../tool/workspace.ts";

/** Arguments with resolved references: exactly what a call would affect. */
export interface Resolved {
  /** Every scope the call needs a lease for. */
  readonly scopes: readonly Scope[];
  /** The effect of this call; never below the tool's own. */
  readonly effect: EffectClass;
  /** Sink for outbound effects: an origin, a peer, `outbox`, a server. */
  readonly destination?: string;
  /** The destination's clearance, if the operator set one for this destination itself. */
  readonly clearance?: Label;
  /** The command by which the operator raises that clearance. */
  readonly raise?: string;
  /** The arguments contain only text that the destination itself sent, so returning it needs no clearance. */
  readonly returns?: true;
  /** Digests of patches, artifacts and pages named by the arguments: part of answers' and tokens' scope. */
  readonly digests: Readonly<Record<string, Digest>>;
  /** Colour and label of what the call would send or apply, combined with the process's own. */
  readonly colour?: Colour;
  readonly label?: Label;
  /** One line of plain words from trusted parts. */
  readonly summary: string;
  /** For a call that changes files: the changes, for the question. */
  readonly changes?: readonly StagedChange[];
  /** Files that the call stages changes of; refused at once if on the never-list. */
  readonly stages?: readonly string[];
  readonly executes?: readonly string[];
  /** The plan of the program that the call submits. */
  readonly plan?: HeldPlan;
  /** Whether the call may run again after a crash: its idempotency key prevents a second effect. */
  readonly idempotent: boolean;
}

/** A call that passed the gate, with its single-use token. */
export interface GrantedCall {
  readonly task: TaskId;
  readonly pid: Pid;
  readonly callId: CallId;
  readonly tool: ToolName;
  readonly args: JsonObject;
  readonly resolved: Resolved;
  /** Redeemed exactly once, by the power, before the effect. */
  readonly token: string;
  /** Deterministic: task, conversation, call id, canonical arguments. Repeats after a crash. */
  readonly idempotencyKey: Digest;
  readonly deadlineMs: number;
  /** Maximum bytes of `content` shown; the gate cuts the rest. */
  readonly resultBytes: number;
  /**
   * Judges the call again as if it named the path `MOUNT/relative` to which one of its links leads.
   * Throws Fault `refused` unless that call would be allowed unasked. Absent: no link is followed.
   */
  alsoReads?(path: string): void;
  /** Contents that a person saw in full before allowing the call. */
  readonly sanitized?: Sanitized;
}

/** Contents that a person sanitized. docs/decision/0038. */
export interface Sanitized {
  readonly contents: readonly Digest[];
  /** Who agreed, and through which channel. */
  readonly by: string;
  readonly question: QuestionId;
}

/** The result of a power: untrusted data with a colour. */
export interface PowerResult {
  readonly content: string;
  readonly colour: Colour;
  readonly label: Label;
  readonly sources: readonly Source[];
  /** Structured result for programs, JSON. */
  readonly value?: Json;
  /** Records that the bridge found in the result. */
  readonly records?: readonly ListedRecord[];
  /** Why the call failed although it ran, in trusted text; the outcome is then `executionError`. */
  readonly failed?: string;
  /** Version of the resource that was read, and version written. */
  readonly observed?: string;
  readonly written?: string;
  /** Changes of durable state, committed in the private part of the outcome. */
  readonly record?: JsonObject;
  /** Bytes staged or written, for the budget. */
  readonly writtenBytes?: number;
}

/** Messages that came while a call ran: shown after the call's result, even if the call failed. */
export interface Meanwhile extends Pick<PowerResult, "content" | "colour" | "label" | "sources"> {
  /** Committed with the outcome, or not at all. */
  readonly events: readonly NewEvent[];
  readonly documents: readonly DocumentWrite[];
  /** The messages are durable and shown. Exactly one of `kept` and `dropped` is called. */
  kept(): void;
  dropped(): void;
}

/** A tool as the gate knows it. */
export interface ToolBinding {
  /** Its `permission` is set by the policy when advertised. */
  readonly descriptor: ToolDescriptor;
  /** The lowest effect any call of it can have. */
  readonly effect: EffectClass;
  readonly deadlineMs: number;
  /** Digest of the descriptor that the operator reviewed for this task; absent: the gate's pins decide. */
  readonly reviewed?: Digest;
  /** The operator granted network access when adding the tool; without a rule, its outbound calls ask. */
  readonly granted?: true;
  /** Set if the power enforces the deadline itself, because it knows when it waits for a person. */
  readonly keepsDeadline?: true;
  readonly resultBytes: number;
  /** Resolves references against the current state. Synchronous. Throws a fault. */
  resolve(args: JsonObject, caller: ProcessRow): Resolved;
  /**
   * Rejects with a fault. `needsApproval` means that a nested call waits for a person: the gate
   * commits no outcome, and this call is repeated once the answer is there.
   */
  invoke(call: GrantedCall, signal: AbortSignal): Promise<PowerResult>;
  /**
   * Messages that came while the call ran; asked once the call has ended. Bounded, and framed as
   * data: redacted, not cut. Their label does not exceed that of the call's possible results.
   */
  meanwhile?(call: GrantedCall): Promise<Meanwhile | undefined>;
  /** Called after the outcome is committed: folds `record` into the state that `resolve` reads. */
  committed?(call: GrantedCall, result: PowerResult): void;
}
