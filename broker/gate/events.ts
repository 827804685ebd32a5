/**
 * Events that the gate writes into a task's log. Content and its unsalted digests go into the
 * private part. Used by gate.ts and perform.ts.
 * @module
 */
import type { ToolCall } from "../../contracts/model/chat.ts";
import type { HeldPlan } from "../../contracts/authority/plan.ts";
import type { Decided, NewEvent } from "../../contracts/task/event.ts";
import type { Digest } from "../../contracts/authority/ids.ts";
import { type JsonObject, toJsonObject } from "../../contracts/base/json.ts";
import type { PowerResult } from "../../contracts/task/power.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import type { Colour } from "../../contracts/authority/colour.ts";
import type { Source } from "../../contracts/authority/question.ts";
import type { ToolResult } from "../../contracts/tool/tool.ts";
import { asJson } from "../../port/as_json.ts";
import { sha256Hex } from "../../port/digest.ts";
import { mapTexts } from "../credentials.ts";
import type { Grant } from "../grants.ts";
import type { CallOrigins } from "../provenance/judge_origins.ts";
import type { Judged, Verdict } from "./parts.ts";
import { tell } from "./step_mode.ts";

/** Process and call: the part shared by intents and refusals. */
function subjectOf(process: ProcessRow, call: ToolCall): JsonObject {
  const { session, principal, conversation, turn, pid, model } = process;
  return {
    session,
    principal,
    conversation,
    turn,
    call: call.id,
    pid,
    model: model.id,
    backend: model.backend,
    nonce: model.nonce,
    runner: "hosted",
  };
}

/** The tools that a turn advertised, once for each snapshot of a task. */
export function descriptorsEvent(process: ProcessRow): NewEvent {
  const tools = process.snapshot?.tools ?? [];
  return {
    kind: "descriptors",
    body: {
      snapshot: process.snapshot?.id ?? "",
      tools: tools.map(({ name, permission }) => [name, permission]),
    },
    private: { tools: asJson(tools) },
  };
}

/** How an allowed call was decided. */
function decidedOf({ needs, grant, known }: Judged): Decided {
  if (grant === undefined) return "auto";
  if (grant.kind === "stepUp" || needs === "stepUp") return "stepUpSucceeded";
  const { task, turn } = known.process;
  // Call ids are unique only within a task.
  return grant.task === task && grant.callId === known.callId && grant.turn === turn
    ? "consented"
    : "reused";
}

/** The intent of an allowed call. */
export function intentEvent(
  judged: Judged,
  call: ToolCall,
  salt: string,
): NewEvent {
  const { decision, known, read, grant } = judged;
  const { process } = known;
  return {
    kind: "intent",
    body: {
      ...subjectOf(process, call),
      tool: known.tool,
      descriptor: known.digest,
      permission: known.descriptor.permission,
      mode: decision.mode,
      decision: decidedOf(judged),
      rule: decision.rule,
      ...approval(grant),
      ...counted(judged.origins),
      effect: decision.effect,
      colour: decision.colour,
      label: decision.label,
      lease: decision.lease,
      argumentsHash: sha256Hex(salt, decision.argumentsHash),
    },
    private: {
      key: read.key(),
      arguments: decision.argumentsText,
      argumentsHash: decision.argumentsHash,
      salt,
      scope: read.resolved.scopes.map(({ resource, right, path }) =>
        tell(read, `${resource}:${right}:${path}`)
      ),
      digests: { ...read.resolved.digests },
      summary: tell(read, read.resolved.summary),
      ...told(judged.origins),
      ...(read.resolved.destination === undefined
        ? {}
        : { destination: tell(read, read.resolved.destination) }),
    },
  };
}

/** Number of values by origin; public, so receipts show it. */
function counted(origins: CallOrigins | undefined): JsonObject {
  if (origins === undefined) return {};
  const counts: Record<string, number> = {};
  for (const { from } of origins.values) counts[from] = (counts[from] ?? 0) + 1;
  return { origins: counts };
}

function told(origins: CallOrigins | undefined): JsonObject {
  if (origins === undefined) return {};
  return { said: origins.said(), origins: origins.values.map((each) => toJsonObject(each)) };
}

function approval(grant: Grant | undefined): JsonObject {
  return grant === undefined ? {} : {
    question: grant.question,
    actor: `${grant.by} (${grant.channel})`,
  };
}

/** The outcome of a call that started. */
export function outcomeEvent(
  judged: Judged,
  result: ToolResult,
  more: {
    readonly ms: number;
    readonly salt: string;
    readonly bytes: number;
    readonly digest: Digest;
    readonly power: PowerResult | undefined;
    readonly sources: readonly Source[];
    readonly advice: readonly string[];
    /** Set if a person's signature for exactly this text gave the colour. */
    readonly lifted?: Colour;
    /** What the result adds to the known origins of later values. */
    readonly heard: JsonObject | undefined;
  },
): NewEvent {
  const { known, read, decision } = judged;
  const { power, sources } = more;
  return {
    kind: "outcome",
    body: {
      call: result.callId,
      pid: known.process.pid,
      tool: known.tool,
      outcome: result.outcome,
      colour: result.colour,
      label: result.label,
      resultBytes: more.bytes,
      // The amount charged to the budget.
      shown: result.content.length,
      resultHash: sha256Hex(more.salt, more.digest),
      ms: more.ms,
    },
    private: {
      key: read.key(),
      resultHash: more.digest,
      salt: more.salt,
      ...(result.error === undefined ? {} : { error: result.error }),
      ...(more.lifted === undefined ? {} : { lifted: more.lifted }),
      ...(more.heard === undefined ? {} : { heard: more.heard }),
      ...(more.advice.length === 0 ? {} : { advice: [...more.advice] }),
      ...(power?.observed === undefined ? {} : { observedVersion: power.observed }),
      ...(power?.written === undefined ? {} : { writtenVersion: power.written }),
      ...(sources.length === 0
        ? {}
        : { sources: sources.map((each) => ({ ...each, source: tell(read, each.source) })) }),
      ...(power?.record === undefined ? {} : {
        record: read.told === undefined ? power.record : mapTexts(power.record, read.told.mask),
      }),
      // After a crash a read is repeated; an effect's stored result is returned again.
      ...(decision.effect === "read" ? {} : { result: resultJson(result) }),
    },
  };
}

/** A planned program was accepted; the task may make its calls from now on. */
export function planEvent(judged: Judged, plan: HeldPlan): NewEvent {
  const { known, grant } = judged;
  return {
    kind: "planTaken",
    body: {
      ...{ call: known.callId, pid: known.process.pid, program: plan.program },
      ...{ sites: plan.sites.length, ...approval(grant) },
    },
    private: { sites: plan.sites.map(toJsonObject) },
  };
}

/** The refusal of a call. */
export function refusedEvent(
  process: ProcessRow,
  call: ToolCall,
  more: {
    readonly verdict: Extract<Verdict, { kind: "refuse" }>;
    readonly result: ToolResult;
    readonly why: string;
  },
): NewEvent {
  const { known, read, refusal, grant, origins } = more.verdict;
  // A recovery that a person denied is settled; after any other refusal it stays unfinished.
  const settled = grant?.kind === "recovery" && read !== undefined;
  return {
    kind: "refused",
    body: {
      ...subjectOf(process, call),
      ...(known === undefined ? {} : { tool: known.tool, descriptor: known.digest }),
      step: refusal.step,
      outcome: refusal.outcome,
      code: refusal.code,
      decision: refusedAs(refusal.outcome),
      rule: refusal.rule,
      ...approval(grant),
      ...counted(origins),
      colour: more.result.colour,
      label: more.result.label,
    },
    private: {
      name: call.name.toWellFormed(),
      arguments: call.arguments.slice(0, 65_536).toWellFormed(),
      why: more.why.toWellFormed(),
      ...told(origins),
      ...(settled ? { key: read.key(), result: resultJson(more.result) } : {}),
    },
  };
}

function refusedAs(outcome: ToolResult["outcome"]): Decided {
  if (outcome === "deniedByUser") return "denied";
  return outcome === "stepUpFailed" ? "stepUpFailed" : "forbidden";
}

function resultJson(result: ToolResult): JsonObject {
  const { callId, outcome, content, error, colour, label } = result;
  return { callId, outcome, content, ...(error === undefined ? {} : { error }), colour, label };
}
