/**
 * The events of a task's log. A task's state is the fold of its events; the audit log and the
 * crash log are the same log. Bodies hold names, ids, enums, counts and salted digests only;
 * content (arguments, messages, paths, results) goes into the erasable `private` part.
 * @module
 */
import type { JsonObject } from "../base/json.ts";
import type { TaskId } from "../authority/ids.ts";

/** Every kind of event. */
export const EVENT_KINDS = [
  "kernelStarted",
  "seal",
  "taskCreated",
  "taskStatus",
  "phase",
  "processStarted",
  "processEnded",
  "signalled",
  "message",
  "taskIntake",
  "modelQueued",
  "modelAsked",
  "modelFailed",
  "inferred",
  "modelChanged",
  "contextCompacted",
  "contextRestored",
  "descriptors",
  "intent",
  "outcome",
  "refused",
  "fetched",
  "questionAsked",
  "questionAnswered",
  "leaseGranted",
  "leaseRevoked",
  "artifact",
  "sanitized",
  "planTaken",
  "undone",
  "budget",
  "budgetNear",
  "budgetUsed",
  "recovered",
  "mcp",
  "inbox",
  "exchange",
  "resource",
  "workspace",
  "profile",
  "purged",
  "repaired",
] as const;

/** One of {@link EVENT_KINDS}. */
export type EventKind = (typeof EVENT_KINDS)[number];

/** An event before it is chained, stored and sealed. */
export interface NewEvent {
  readonly kind: EventKind;
  readonly body: JsonObject;
  /** Content, stored as an erasable blob; the chain holds its salted digest (`private` in body). */
  readonly private?: JsonObject;
}

/** How a call was decided. */
export type Decided =
  | "auto"
  | "consented"
  | "reused"
  | "denied"
  | "stepUpSucceeded"
  | "stepUpFailed"
  | "forbidden"
  | "queued";

/**
 * The audit record of one executed call, joined from its `intent` and `outcome` events and their
 * private parts: what `audit query` prints, one JSON line each.
 */
export interface AuditRecord {
  readonly session: string;
  readonly principal: string;
  readonly task: TaskId;
  readonly conversation: string;
  readonly turn: number;
  readonly call: string;
  readonly pid: number;
  readonly model: string;
  readonly backend: string;
  readonly nonce: string;
  /** `hosted`, or `browser-agent-ui` with a gateway session. */
  readonly runner: string;
  readonly gatewaySession?: string;
  readonly tool: string;
  readonly descriptor: string;
  readonly mode: string;
  /** Canonical arguments; absent after a purge. */
  readonly arguments?: string;
  readonly argumentsHash: string;
  readonly decision: Decided;
  readonly rule: string;
  readonly question?: string;
  /** Who approved, and through which channel. */
  readonly actor?: string;
  readonly outcome: string;
  readonly resultHash?: string;
  readonly resultBytes?: number;
  readonly error?: string;
  readonly scope: readonly string[];
  readonly observedVersion?: string;
  readonly writtenVersion?: string;
  readonly colour: string;
  readonly label: string;
  readonly effect: string;
  readonly lease?: string;
  readonly at: number;
  readonly ms: number;
}
