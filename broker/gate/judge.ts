/** Steps 1 to 7 of the gate, in order. Synchronous, without effect. Used by gate.ts and step_read.ts. @module */
import type { Decision, Digest, EffectClass, Pid } from "../../contracts/authority/mod.ts";
import type { GuardFlag, ToolCall } from "../../contracts/model/mod.ts";
import type { Arguments } from "../arguments.ts";
import type { Grant } from "../grants.ts";
import type { PlanVerdict } from "../plans.ts";
import {
  type Judged,
  type JudgeParts,
  type Known,
  type Read,
  type Refusal,
  refuse,
  type Verdict,
} from "./parts.ts";
import { knownTool } from "./step_known.ts";
import { readArguments } from "./step_read.ts";
import { type Carried, type Flow, flowOf, judgeFlow } from "./step_flow.ts";
import { heldAuthority, overBudget } from "./step_authority.ts";
import { type CallOrigins, hasOrigins, originsOf } from "../provenance/judge_origins.ts";
import { forbidden, modeOf, rulingOf, scopeOf } from "./step_mode.ts";

/** A proposed call: which process made it, and against which snapshot of its tools. */
export interface Proposal {
  readonly pid: Pid;
  readonly call: ToolCall;
  readonly snapshot: string;
  /** The call as it is shown, if credentials are withheld. `lost`: a placeholder's value no longer exists. */
  readonly shown?: {
    readonly call: ToolCall;
    readonly lost: boolean;
    mask(text: string): string;
  };
  /** Flags of model guards; absent: none was asked yet. */
  readonly flags?: readonly GuardFlag[];
  /** The parsed arguments and the idempotency key, if already computed. */
  readonly before?: { readonly parsed: Arguments; readonly key: Digest };
}

/**
 * Judges a proposed call against the current state. The same state always gives the same verdict;
 * nothing is charged, used up or written.
 */
export function judge(parts: JudgeParts, proposal: Proposal): Verdict {
  const process = parts.processes.get(proposal.pid);
  if (process === undefined || process.status === "ended") {
    return {
      kind: "refuse",
      refusal: refuse(1, "Cannot call a tool: the process has ended", {
        code: "gone",
        outcome: "cancelled",
        rule: "built-in: only live processes act",
      }),
    };
  }
  const known = knownTool(parts, process, proposal); // 1, 2
  if (known.kind === "refuse") return { kind: "refuse", refusal: known };
  const read = readArguments(parts, known, proposal); // 3
  if (read.kind === "refuse") return { kind: "refuse", refusal: read, known };
  return judgeRead(parts, known, read);
}

function judgeRead(parts: JudgeParts, known: Known, read: Read): Verdict {
  const { process } = known;
  const carried = flowOf(known, read);
  const origins = originsIn(parts, known, { read, carried });
  const refused = (refusal: Refusal, grant?: Grant): Verdict => ({
    kind: "refuse",
    refusal,
    known,
    read,
    origins,
    ...(grant === undefined ? {} : { grant }),
  });
  const ruling = rulingOf(known, read, { policy: parts.policy, effect: carried.effect, origins });
  // An absolute forbid comes first: "no lease" would suggest asking for one.
  const ban = forbidden(known, ruling);
  if (ban !== undefined) return refused(ban);

  const flow = judgeFlow(known, read, { policy: parts.policy, carried }); // 4
  if (flow.kind === "refuse") return refused(flow);
  const authority = heldAuthority(parts, known, read); // 5
  if (authority.kind === "refuse") return refused(authority);
  const { effect, colour, label } = flow;
  const broke = overBudget(parts.processes, known, { read, effect, question: false }); // 6
  if (broke !== undefined) return refused(broke);

  const recovering = !read.resolved.idempotent && isUnfinished(parts, known, read);
  const moded = modeOf(known, read, { ruling, flow, guards: parts.guards, recovering, origins }); // 7
  if ("kind" in moded) return refused(moded);
  const { mode, rule } = moded;
  const planned = parts.plans?.judge({ ...read, ...known, descriptor: known.digest });
  if (planned !== undefined && "why" in planned) return refused(unplanned(known, planned.why));
  const scope = scopeOf(known, read, flow);
  const needs = mode === "stepUp" ? "stepUp" : recovering ? "recovery" : "consent";
  const grant = mode === "auto" ? undefined : parts.grants.find({
    task: process.task,
    turn: process.turn,
    callId: known.callId,
    scope,
    needs,
  }) ?? coveredByPlan(parts, { planned, known, read, flow, needs, raised: moded.raised });
  if (grant?.decision === "deny") return refused(deniedBy(known, grant), grant);
  const kind = mode === "auto" || grant !== undefined ? "allow" : "ask";
  if (kind === "ask") {
    const asked = overBudget(parts.processes, known, { read, effect, question: true });
    if (asked !== undefined) return refused(asked);
  }
  const argumentsText = read.told?.text ?? read.argumentsText;
  const argumentsHash = read.told?.hash ?? read.argumentsHash;
  const decision: Judged["decision"] = {
    kind,
    mode,
    rule,
    effect,
    colour,
    label,
    lease: authority.leases[0],
    descriptor: known.digest,
    argumentsText,
    argumentsHash,
    ...(grant === undefined ? {} : { reused: grant.question }),
  };
  const { leases } = authority, { executes } = flow;
  return { kind, decision, known, read, leases, scope, needs, grant, executes, origins };
}

function originsIn(
  { provenance, policy: { strict } }: JudgeParts,
  { binding, process }: Known,
  { read, carried }: { readonly read: Read; readonly carried: Carried },
): CallOrigins | undefined {
  const { descriptor } = binding, { effect, colour } = carried;
  if (provenance === undefined || !hasOrigins(descriptor, effect)) return undefined;
  const { args } = read;
  const asked = { descriptor, args, key: read.key(), effect, colour, strict };
  return originsOf(provenance.of(process.task), asked);
}

/** Effects that need an answer of their own, even under an accepted plan. */
const ONE_BY_ONE: ReadonlySet<EffectClass> = new Set(["destructive", "admin"]);

/**
 * The answer to the program that makes this call. It covers only what the person could see in the
 * plan: not a raised mode, a label above the destination's clearance, or contents to review.
 */
function coveredByPlan(
  { grants }: Pick<JudgeParts, "grants">,
  { planned, known, read, flow, needs, raised }: {
    readonly planned: PlanVerdict | undefined;
    readonly known: Known;
    readonly read: Read;
    readonly flow: Flow;
    readonly needs: Judged["needs"];
    readonly raised: boolean;
  },
): Grant | undefined {
  if (planned === undefined || !("site" in planned) || planned.site.becomes !== "covered") {
    return undefined;
  }
  if (needs !== "consent" || raised || flow.above || ONE_BY_ONE.has(flow.effect)) return undefined;
  if (flow.executes.length > 0 || (read.resolved.changes ?? []).length > 0) return undefined;
  const { task, turn } = known.process;
  return grants.list(task).find((grant) =>
    grant.question === planned.question && grant.decision === "allow" && grant.turn === turn
  );
}

function unplanned(known: Known, why: string): Refusal {
  return refuse(5, `Cannot call "${known.tool}": ${why}; what a program may call is in its text`, {
    rule: "built-in: a planned task calls what its plan says",
  });
}

function isUnfinished(parts: JudgeParts, { process }: Known, read: Read): boolean {
  const { task } = process;
  return [parts.open(task), parts.unfinished?.(task)].some((keys) =>
    keys !== undefined && keys.size > 0 && keys.has(read.key())
  );
}

function deniedBy(known: Known, grant: Grant): Refusal {
  const said = grant.say === undefined ? "" : `; they said: ${JSON.stringify(grant.say)}`;
  return refuse(
    7,
    `Cannot call "${known.tool}": a person denied it${said}. ` +
      "Do not try the same again; go on without it or say why it is needed",
    { code: "denied", rule: `answer to ${grant.question}` },
  );
}

/** What `remit can` shows of a verdict. */
export function decisionOf(verdict: Verdict): Decision {
  return verdict.kind === "refuse" ? verdict.refusal : verdict.decision;
}
