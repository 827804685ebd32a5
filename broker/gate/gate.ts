/**
 * The gate: the one path from a proposed call to an effect. Its ten steps, in this order (docs/design.md):
 *
 * | step | what | where |
 * |---|---|---|
 * | 1, 2 | advertised in this snapshot; still the reviewed tool | gate/step_known.ts |
 * | 3 | arguments parsed with limits, references resolved | gate/step_read.ts |
 * | 4 | effect and destination against colour and label | gate/step_flow.ts |
 * | 5 | capability, never-list, live leases | gate/step_authority.ts |
 * | 6 | budget and rate | gate/step_authority.ts |
 * | 7 | mode: policy, flow, guards; an earlier answer | gate/step_mode.ts |
 * | 8 | after a wait, 1 to 7 again; commit intent, single-use token | here, gate/perform.ts |
 * | 9 | the power acts, within a deadline | gate/perform.ts |
 * | 10 | guard, redact, cut; commit the outcome; release it | gate/result.ts, gate/events.ts |
 *
 * @module
 */
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";
import type { ChatMessage, ToolCall } from "../../contracts/model/chat.ts";
import type { Answered, Decision, Gate } from "../../contracts/authority/gate.ts";
import type { Digest, Pid, TaskId } from "../../contracts/authority/ids.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import type { ToolResult } from "../../contracts/tool/tool.ts";
import { advertiser } from "./step_known.ts";
import { provideQuestion } from "./ask.ts";
import { refusedEvent } from "./events.ts";
import { decisionOf, judge, type Proposal } from "./judge.ts";
import {
  faultOf,
  type GateParts,
  type Judged,
  type JudgeParts,
  refuse,
  type Verdict,
} from "./parts.ts";
import { makePerformer } from "./perform.ts";
import { parseArguments } from "../arguments.ts";
import { callKey } from "./step_read.ts";
import { hideInMessage, holdsMark, makeWithheld, tellsOthers } from "../credentials.ts";
import { BUILT_IN_GUARDS } from "../guards.ts";
import { makeValidators } from "../validators.ts";

/** The gate, and the release of its state for a task. */
export interface TaskGate extends Gate {
  /** Drops the state of an ended task: outcomes, snapshots, answers. */
  forget(task: TaskId): void;
}

/** Maximum number of questions about one call: one, and one more if the state changed meanwhile. */
const MAX_ASKED = 2;

/** Makes the gate of a kernel. */
export function makeGate(given: GateParts): TaskGate {
  const withheld = makeWithheld(given.powers.token);
  const parts: GateParts = {
    ...given,
    guards: given.guards ?? BUILT_IN_GUARDS,
    redact: (text) => {
      const shown = given.redact(text);
      if (shown !== text) withheld.note(text);
      return shown;
    },
  };
  const { processes, questions } = parts;
  const performer = makePerformer(parts);
  const advertise = advertiser(parts);
  const inFlight = new Map<Digest, Promise<ToolResult>>();
  const judging: JudgeParts = {
    processes,
    leases: parts.leases,
    policy: parts.policy,
    tools: parts.tools,
    pins: parts.pins,
    grants: questions.grants,
    validators: makeValidators(),
    guards: parts.guards ?? BUILT_IN_GUARDS,
    open: performer.open,
    ...(parts.plans === undefined ? {} : { plans: parts.plans }),
    ...(parts.unfinished === undefined ? {} : { unfinished: parts.unfinished }),
    ...(parts.provenance === undefined ? {} : { provenance: parts.provenance }),
  };

  async function call(
    pid: Pid,
    proposed: ToolCall,
    snapshot: string,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const process = processes.get(pid);
    if (process === undefined) return await decideAndDo({ pid, call: proposed, snapshot }, signal);
    const read = withoutCredentials(process, proposed);
    const known = knownBefore(process, read);
    if (known === undefined) {
      return await decideAndDo({ pid, ...read, snapshot }, signal);
    }
    const { key } = known;
    // A repeated call, in flight or done, never acts twice.
    const before = performer.done(process.task, key) ?? parts.finished?.(process.task).get(key);
    if (before !== undefined) return before;
    const same = inFlight.get(key);
    if (same !== undefined) return await same;
    const flight = decideAndDo({ pid, ...read, snapshot, before: known }, signal);
    inFlight.set(key, flight);
    try {
      return await flight;
    } finally {
      inFlight.delete(key);
    }
  }

  /** The call as it is made and, where they differ, as it is shown. */
  function withoutCredentials(
    process: ProcessRow,
    proposed: ToolCall,
  ): Pick<Proposal, "call" | "shown"> {
    const binding = parts.tools(process).get(proposed.name);
    if (binding === undefined || !tellsOthers(binding)) return { call: proposed };
    const shown = withheld.hide(process.task, proposed);
    const call = withheld.restore(process.task, shown);
    if (call !== undefined && !holdsMark(shown.arguments)) return { call: proposed };
    const mask = (text: string): string => withheld.mask(process.task, text);
    return { call: call ?? shown, shown: { call: shown, lost: call === undefined, mask } };
  }

  async function decideAndDo(proposed: Proposal, signal: AbortSignal): Promise<ToolResult> {
    let proposal = proposed;
    for (let asked = 0;; asked++) {
      let verdict = judge(judging, proposal);
      if (verdict.kind !== "refuse" && proposal.flags === undefined && parts.flags !== undefined) {
        // No model sees a call that is refused anyway.
        const { process, tool } = verdict.known;
        const text = verdict.decision.argumentsText;
        const looked = parts.flags(process, { stage: "beforeTool", tool, text }, signal);
        proposal = { ...proposal, flags: await looked ?? [] };
        if (looked !== undefined) verdict = judge(judging, proposal);
      }
      if (verdict.kind === "refuse") return await refused(proposal, verdict);
      if (signal.aborted) {
        return await refused(proposal, refusedFor(verdict, "cancelled", "cancelled"));
      }
      if (verdict.kind === "allow") {
        return await performer.perform(verdict, proposal.call, signal);
      }
      if (verdict.known.process.onQuestion === "deny") {
        const why = `${verdict.decision.rule} asks a person, and nobody is asked in ` +
          "this run; run with `--on-question ask` or `queue`";
        return await refused(proposal, refusedFor(verdict, why, "denied"));
      }
      if (asked === MAX_ASKED) {
        const why = "what a person was asked about changed while they " +
          "thought, twice; read again what it depends on and propose it anew";
        return await refused(proposal, refusedFor(verdict, why));
      }
      const ended = await askPerson(verdict, signal);
      if (ended.kind === "expired") {
        const code = verdict.needs === "stepUp" ? "stepUpFailed" : "denied";
        const why = "nobody answered in time; propose it again to ask anew";
        return await refused(proposal, refusedFor(verdict, why, code));
      }
    }
  }

  /** Asks a person. The call is judged again afterwards, so an outdated answer has no effect. */
  async function askPerson(judged: Judged, signal: AbortSignal): Promise<Answered> {
    const question = await provideQuestion({ ...parts, signal }, judged);
    const wait = judged.known.process.onQuestion === "ask";
    const answered = await questions.ask(question, { wait, signal });
    if (answered.kind === "queued") {
      throw new Fault(
        "needsApproval",
        `Cannot go on with "${judged.known.tool}": question ${question.id} waits for a person`,
        { detail: { question: question.id } },
      );
    }
    return answered;
  }

  async function refused(proposal: Proposal, verdict: Refused): Promise<ToolResult> {
    const { pid } = proposal, { refusal } = verdict;
    const call = proposal.shown?.call ?? proposal.call;
    const process = processes.get(pid);
    const why = proposal.shown?.mask(refusal.why) ?? refusal.why;
    const result: ToolResult = {
      callId: call.id,
      outcome: refusal.outcome,
      content: "",
      error: parts.redact(why.toWellFormed()).slice(0, 8_000),
      // The text may quote the process, so its colour and label are the process's.
      colour: process?.colour ?? "RED",
      label: process?.label ?? "public",
    };
    if (process !== undefined) {
      const more = { verdict, result };
      await performer.append(process, [refusedEvent(process, call, { ...more, why })]);
    }
    return result;
  }

  return Object.freeze({
    advertise,
    call,
    decide: (pid: Pid, proposed: ToolCall, snapshot: string): Decision => {
      const process = processes.get(pid);
      const read = process === undefined
        ? { call: proposed }
        : withoutCredentials(process, proposed);
      return decisionOf(judge(judging, { pid, ...read, snapshot }));
    },
    withhold: (pid: Pid, message: ChatMessage): ChatMessage => {
      const process = processes.get(pid);
      if (process === undefined) return message;
      return hideInMessage(withheld, message, {
        task: process.task,
        bindings: parts.tools(process),
      });
    },
    forget: (task: TaskId): void => {
      performer.forget(task);
      withheld.forget(task);
      parts.plans?.forget(task);
      questions.grants.forgetTask(task);
      parts.provenance?.forget(task);
    },
  });
}

/** Parsed arguments and idempotency key; undefined if unparseable (step 3 says why). The key uses the shown text. */
function knownBefore(
  process: ProcessRow,
  { call, shown }: Pick<Proposal, "call" | "shown">,
): Proposal["before"] {
  const parsed = faultOf(() => parseArguments(call.arguments));
  if (parsed instanceof Fault) return undefined;
  return { parsed, key: callKey(process, call, shown?.call.arguments ?? parsed.text) };
}

type Refused = Extract<Verdict, { kind: "refuse" }>;

/** Makes a refusal of step 7 for a call that was judged. */
function refusedFor(judged: Judged, why: string, code?: FaultCode): Refused {
  const { known, read, origins, decision: { rule } } = judged;
  const refusal = refuse(7, `Cannot call "${known.tool}": ${why}`, {
    ...(code === undefined ? {} : { code }),
    rule,
  });
  return { kind: "refuse", refusal, known, read, origins };
}

export type { GateParts };
