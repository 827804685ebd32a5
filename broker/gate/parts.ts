/** The parts of the gate, and the values that its steps pass on. @module */
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";
import type { Decision, Leases } from "../../contracts/authority/gate.ts";
import type { Colour } from "../../contracts/authority/colour.ts";
import type { CallId, Digest, LeaseId, TaskId, ToolName } from "../../contracts/authority/ids.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import type { Guard, Guarded, GuardFlag } from "../../contracts/model/model_aux.ts";
import type { GrantedCall, Resolved, ToolBinding } from "../../contracts/task/power.ts";
import type { Powers, ProcessKeeper, ProcessRow } from "../../contracts/task/process.ts";
import type { AnswerScope, Question } from "../../contracts/authority/question.ts";
import type { EventLog } from "../../contracts/task/store.ts";
import type { Outcome, ToolDescriptor, ToolResult } from "../../contracts/tool/tool.ts";
import type { Grant } from "../grants.ts";
import type { Guards, Pins } from "../guards.ts";
import type { Plans } from "../plans.ts";
import type { Policy } from "../policy.ts";
import type { PastCall } from "../provenance/earlier_call.ts";
import type { CallOrigins } from "../provenance/judge_origins.ts";
import type { Provenance } from "../provenance/origins.ts";
import type { QuestionBook } from "../questions.ts";
import type { Tokens } from "../tokens.ts";
import type { Validators } from "../validators.ts";

/** A set of keys, for lookup. */
export type KeySet = Pick<ReadonlySet<string>, "has" | "size">;

/** The parts of a gate. */
export interface GateParts {
  readonly powers: Powers;
  readonly processes: ProcessKeeper;
  readonly leases: Leases;
  readonly questions: QuestionBook;
  readonly policy: Policy;
  readonly log: EventLog;
  /** The tools bound for a process's task, by name. Called for each decision: keep it cheap. */
  tools(process: ProcessRow): ReadonlyMap<string, ToolBinding>;
  readonly pins: Pins;
  readonly tokens: Tokens;
  /** Redacts secrets in displayed text. */
  redact(text: string): string;
  readonly guards?: Guards;
  /** Plans of tasks whose only calls are those of a program. */
  readonly plans?: Plans;
  /** Resolves once this kernel's hold on its tasks lasts for the call's duration. Absent: no other kernel exists. */
  cover?(call: GrantedCall): Promise<void>;
  /** Advice for people and the trace; no decision uses it. */
  readonly advisor?: Guard;
  /** The model's reason for a call, shown with the question; absent: no reason is requested. */
  reasonFor?(
    process: ProcessRow,
    call: { readonly tool: string; readonly argumentsText: string },
    signal: AbortSignal,
  ): Promise<Question["reason"]>;
  /**
   * The last call of a tool by this task or an earlier task of its principal, except the call
   * `key`. Shown with the question; absent: not looked up.
   */
  earlier?(
    process: ProcessRow,
    call: { readonly tool: ToolName; readonly key: Digest },
  ): Promise<PastCall | undefined>;
  /** The colour that a person signed for exactly this text of a result, by its SHA-256; absent: signing is not possible. */
  signed?(digest: Digest): Colour | undefined;
  /** Idempotency keys of intents of an earlier kernel without an outcome. */
  unfinished?(task: TaskId): KeySet;
  /** Outcomes of effects that an earlier kernel committed, by idempotency key. */
  finished?(task: TaskId): ReadonlyMap<string, ToolResult>;
  /** Asks the model guards about a call or result; undefined if none applies. Never rejects. */
  flags?(
    process: ProcessRow,
    guarded: Guarded,
    signal: AbortSignal,
  ): Promise<readonly GuardFlag[]> | undefined;
  /** Known origins of values. Absent: no call is allowed because of its origins. */
  readonly provenance?: Pick<Provenance, "of" | "heard" | "performed" | "forget">;
}

/** The parts used for decisions; none of them acts. */
export interface JudgeParts extends
  Pick<
    GateParts,
    "processes" | "leases" | "policy" | "tools" | "pins" | "unfinished" | "plans" | "provenance"
  > {
  readonly grants: Pick<QuestionBook["grants"], "find" | "list">;
  /** Keys of this kernel's own intents without an outcome. */
  open(task: TaskId): KeySet;
  readonly validators: Validators;
  readonly guards: Guards;
}

/** A refusal by one of the steps. */
export type Refusal = Extract<Decision, { kind: "refuse" }>;

/** Steps 1 and 2: the tool is advertised and unchanged since its review. */
export interface Known {
  readonly kind: "known";
  readonly process: ProcessRow;
  readonly binding: ToolBinding;
  readonly tool: ToolName;
  readonly callId: CallId;
  readonly descriptor: ToolDescriptor;
  readonly digest: Digest;
}

/** Step 3: valid arguments with references resolved. */
export interface Read {
  readonly kind: "read";
  readonly args: JsonObject;
  readonly argumentsText: string;
  readonly argumentsHash: Digest;
  /** The arguments as they are logged and shown, if credentials are withheld. */
  readonly told:
    | { readonly text: string; readonly hash: Digest; mask(text: string): string }
    | undefined;
  /** Flags of model guards. */
  readonly flags: readonly GuardFlag[];
  /** The idempotency key. Computed on first use: a decision seldom needs it. */
  readonly key: () => Digest;
  readonly resolved: Resolved;
}

/** A call that no step refused. */
export interface Judged {
  readonly kind: "allow" | "ask";
  readonly decision: Exclude<Decision, { kind: "refuse" }>;
  readonly known: Known;
  readonly read: Read;
  /** Live leases that cover each scope, in the order of the scopes. */
  readonly leases: readonly LeaseId[];
  readonly scope: AnswerScope;
  readonly needs: "consent" | "stepUp" | "recovery";
  /** The answer that allows the call. */
  readonly grant: Grant | undefined;
  readonly executes: readonly string[];
  /** Where the values of a call that leaves the task come from; undefined for any other. */
  readonly origins: CallOrigins | undefined;
}

/** The judgement of a call; a refusal keeps the results of earlier steps for the log. */
export type Verdict = Judged | {
  readonly kind: "refuse";
  readonly refusal: Refusal;
  readonly known?: Known;
  readonly read?: Read;
  readonly grant?: Grant;
  readonly origins?: CallOrigins | undefined;
};

/** Outcome of a call that ended with a fault. */
export const OUTCOME_OF = {
  badFrame: "executionError",
  tooLarge: "executionError",
  invalidInput: "invalidArguments",
  invalidArguments: "invalidArguments",
  unknownTool: "unknownTool",
  unknownCapability: "refusedByPolicy",
  notFound: "executionError",
  alreadyExists: "executionError",
  refused: "refusedByPolicy",
  denied: "deniedByUser",
  stepUpFailed: "stepUpFailed",
  needsApproval: "refusedByPolicy",
  contaminated: "refusedByPolicy",
  clearance: "refusedByPolicy",
  leaseExpired: "refusedByPolicy",
  leaseRevoked: "refusedByPolicy",
  budgetExhausted: "refusedByPolicy",
  rateLimited: "refusedByPolicy",
  contextOverflow: "executionError",
  conflict: "executionError",
  cancelled: "cancelled",
  timedOut: "timedOut",
  upstream: "executionError",
  gone: "executionError",
  storeFull: "executionError",
  storeCorrupt: "executionError",
  unavailable: "executionError",
  lowConfidence: "executionError",
} as const satisfies Record<FaultCode, Outcome>;

/** A refusal, by default with code `refused`. */
export function refuse(
  step: Refusal["step"],
  why: string,
  more: { readonly code?: FaultCode; readonly outcome?: Outcome; readonly rule: string },
): Refusal {
  const code = more.code ?? "refused";
  const outcome = more.outcome ?? OUTCOME_OF[code];
  return { kind: "refuse", step, outcome, code, why, rule: more.rule };
}

/** A name that a model wrote, quoted and at most 64 characters. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name);
}

/** Runs `f`; returns its fault as a value. Any other error is a bug and propagates. */
export function faultOf<T>(f: () => T): T | Fault {
  try {
    return f();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}
