/** Powers: what does a call once the gate has let it through. @module */
import type { CallId, Digest, Pid, QuestionId, TaskId, ToolName } from "../authority/ids.ts";
import type { NewEvent } from "./event.ts";
import type { DocumentWrite } from "./store.ts";
import type { Colour, EffectClass, Label } from "../authority/colour.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { ProcessRow } from "./process.ts";
import type { Scope } from "../authority/lease.ts";
import type { ListedRecord } from "../authority/origin.ts";
import type { Source } from "../authority/question.ts";
import type { ToolDescriptor } from "../tool/tool.ts";
import type { StagedChange } from "../tool/workspace.ts";

/** Arguments after their references were resolved: what exactly a call would touch. */
export interface Resolved {
  /** Every scope the call needs a lease for. */
  readonly scopes: readonly Scope[];
  /** The effect of this very call; never below the tool's own. */
  readonly effect: EffectClass;
  /** Sink for outbound effects: an origin, a peer, `outbox`, a server. */
  readonly destination?: string;
  /** What the destination is cleared for, where the operator said so of this very thing. */
  readonly clearance?: Label;
  /** How the operator raises that clearance, a command. */
  readonly raise?: string;
  /** The arguments hold nothing but what the destination itself sent: it may have its own words back. */
  readonly returns?: true;
  /** Digests of patches, artifacts and pages named by the arguments: bound into answers and tokens. */
  readonly digests: Readonly<Record<string, Digest>>;
  /** Colour and label of what the call would send or apply, mixed with the process's own. */
  readonly colour?: Colour;
  readonly label?: Label;
  /** One line of plain words from trusted parts. */
  readonly summary: string;
  /** For a call that changes files: the changes, for the question. */
  readonly changes?: readonly StagedChange[];
  /** Files that a call stages a change of: refused at once where no tool writes them. */
  readonly stages?: readonly string[];
  readonly executes?: readonly string[];
  /** True when this call's effect is already on the books if it is run again (its key repeats). */
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
  /** Most bytes of `content` that will be shown; more is cut by the gate. */
  readonly resultBytes: number;
  /**
   * Judges the call again with a path `MOUNT/relative` that a link of it leads to, as if that were named.
   * Throws Fault `refused` unless it would be let through unasked. Absent: no link is followed.
   */
  alsoReads?(path: string): void;
  /** Contents that a person saw whole before the yes that let the call pass. */
  readonly sanitized?: Sanitized;
}

/** A person's word for exactly these contents. docs/decision/0038. */
export interface Sanitized {
  readonly contents: readonly Digest[];
  /** Who said yes, and through which channel. */
  readonly by: string;
  readonly question: QuestionId;
}

/** What a power brought back. Everything in it is untrusted data with a colour. */
export interface PowerResult {
  readonly content: string;
  readonly colour: Colour;
  readonly label: Label;
  readonly sources: readonly Source[];
  /** Structured result for programs, JSON. */
  readonly value?: Json;
  /** Things that a server listed, as its bridge saw them. */
  readonly records?: readonly ListedRecord[];
  /** Why it came to nothing all the same, in trusted words: the outcome is `executionError`. */
  readonly failed?: string;
  /** Version of the resource that was read, and that was written. */
  readonly observed?: string;
  readonly written?: string;
  /** Changes of durable state to be committed with the outcome, as the private part of it. */
  readonly record?: JsonObject;
  /** Bytes staged or written, for the budget. */
  readonly writtenBytes?: number;
}

/** What came in for a task while a call of it ran: it is shown after the call's result, however the call ended. */
export interface Meanwhile extends Pick<PowerResult, "content" | "colour" | "label" | "sources"> {
  /** Committed with the outcome, or not at all. */
  readonly events: readonly NewEvent[];
  readonly documents: readonly DocumentWrite[];
  /** They are durable, and shown. Exactly one of the two is called. */
  kept(): void;
  dropped(): void;
}

/** A tool as the gate knows it. */
export interface ToolBinding {
  /** Its `permission` is what the policy says for the subject when advertised. */
  readonly descriptor: ToolDescriptor;
  /** The lowest effect any call of it can have. */
  readonly effect: EffectClass;
  readonly deadlineMs: number;
  /** Digest of the descriptor that the operator reviewed and handed to this task alone; else the gate's pins say. */
  readonly reviewed?: Digest;
  /** The operator let it reach out when they took it in: where no rule speaks, such a call asks. */
  readonly granted?: true;
  /** Set when the power keeps the deadline itself, because it knows when it waits for a person. */
  readonly keepsDeadline?: true;
  readonly resultBytes: number;
  /** Resolves references against state as it is now. Synchronous. Throws a fault. */
  resolve(args: JsonObject, caller: ProcessRow): Resolved;
  /**
   * Rejects with a fault. `needsApproval` says that a call made on behalf of this one waits for a
   * person: the gate commits no outcome, and this call is made anew when the answer is there.
   */
  invoke(call: GrantedCall, signal: AbortSignal): Promise<PowerResult>;
  /**
   * What came in while the call ran, once it has ended, however. Bounded, and framed as data: it is redacted, not cut. Its
   * label is not above that of what the call could bring.
   */
  meanwhile?(call: GrantedCall): Promise<Meanwhile | undefined>;
  /** Called when an outcome was committed: fold `record` into the state that `resolve` reads. */
  committed?(call: GrantedCall, result: PowerResult): void;
}
