/**
 * Eval proposals: an agent proposes a program, a person decides on exactly that text, and only then
 * it runs, through the ordinary tool `exec`. The question is the gate's own, about the call
 * `proposal_run`. Used by mail.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { CallId, type Pid } from "../../../contracts/authority/ids.ts";
import type { InboxEntry } from "../../../contracts/exchange/inbox.ts";
import type { Json, JsonObject } from "../../../contracts/base/json.ts";
import {
  EvalProposal,
  type Mail,
  mailIn,
  type Proposed,
  type Settlement,
} from "../../../contracts/exchange/mail.ts";
import type { GrantedCall } from "../../../contracts/task/power.ts";
import type { ToolResult } from "../../../contracts/tool/tool.ts";
import { canonicalJson } from "../../../port/mod.ts";
import type { XJson } from "../../../port/xjson.ts";
import type { MailTool } from "./descriptors.ts";
import { namedValue } from "./post.ts";
import type { MailAct, MailParts, Said } from "./tool.ts";
import { parsePath, withNamed } from "./names.ts";
import { programFor, type Proposals, type Settled } from "./proposals.ts";

/** Maximum number of waiting proposals of a task. */
const MAX_PENDING = 16;

/** Maximum bytes of one settlement: two programs, a result, reasons. */
const SETTLEMENT_BYTES = 700_000;

/** Result of a decision: settled, or waiting for a person who cannot be reached now. */
type Landed =
  | { readonly kind: "settled" }
  | { readonly kind: "waits"; readonly fault: Fault };

export function proposalTools(
  parts: MailParts,
  proposals: Proposals,
): Readonly<Partial<Record<MailTool, MailAct>>> & {
  /** Asks the questions of pending proposals. */
  proposed(call: Pick<GrantedCall, "pid">): void;
} {
  /** Running decisions by proposal. */
  const flights = new Map<number, Promise<Landed>>();
  /** Refusals not yet recorded in an outcome of the task. */
  const refused = new Map<number, Settled>();

  /** Calls the gate to run a proposal; the gate asks the person. */
  const ask = async (proposal: Proposed, pid: Pid): Promise<ToolResult> => {
    const call = {
      // Derived from the proposal, so that it is the same call after a crash or a wait.
      id: CallId.parse(`proposal-${proposal.n}`),
      name: "proposal_run",
      arguments: canonicalJson(runArguments(proposal)),
    };
    // Interrupting a turn does not withdraw a proposal.
    const never = new AbortController().signal;
    for (;;) {
      const gate = parts.gate();
      const snapshot = parts.processOf(pid)?.snapshot?.id;
      if (gate === undefined || snapshot === undefined) {
        throw new Fault("gone", "Cannot decide a proposal: its task has ended");
      }
      const result = await gate.call(pid, call, snapshot, never);
      // The tools changed while the person decided: ask again with the current tools.
      const stale = parts.processOf(pid)?.snapshot?.id !== snapshot;
      if (result.outcome !== "unknownTool" || !stale) return result;
    }
  };

  const decide = async (proposal: Proposed, pid: Pid): Promise<Landed> => {
    try {
      const result = await ask(proposal, pid);
      if (proposals.pending().some(({ n }) => n === proposal.n)) {
        refused.set(proposal.n, await refusalOf(proposal, result));
      }
      return { kind: "settled" };
    } catch (error) {
      if (error instanceof Fault) return { kind: "waits", fault: error };
      throw error;
    }
  };

  /** The settlement of a refused proposal, with the person's counter-proposal if there is one. */
  const refusalOf = async (
    { n, source }: Proposed,
    { outcome, error = "", colour, label }: ToolResult,
  ): Promise<Settled> => {
    const said = { proposal: n, source, why: error.slice(0, 8_000), colour, label };
    const counter = outcome === "deniedByUser" ? await counterOf(n) : undefined;
    if (counter === undefined) return { ...said, status: "rejected" };
    const { mail, entry } = counter;
    if (entry.state === "queued") {
      await parts.inbox().dismiss(entry.id, "told with its proposal's settlement");
    }
    return { ...said, status: "countered", why: mail.why, offer: mail.offer };
  };

  const counterOf = async (n: number): Promise<
    | { readonly mail: Extract<Mail, { type: "counterProposal" }>; readonly entry: InboxEntry }
    | undefined
  > => {
    const found = await parts.inbox().past({ box: `task:${parts.task}`, limit: 200 });
    for (const entry of found.toReversed()) {
      const mail = mailIn(entry.message);
      // INVARIANT: only the person's own mail is a counter-proposal (test: "… fakes a settlement").
      if (entry.message.sender !== "host" || mail?.type !== "counterProposal") continue;
      if (mail.proposal === n) return { mail, entry };
    }
    return undefined;
  };

  const provide = (proposal: Proposed, pid: Pid): Promise<Landed> => {
    const before = flights.get(proposal.n);
    if (before !== undefined) return before;
    const flight = decide(proposal, pid).finally(() => flights.delete(proposal.n));
    flights.set(proposal.n, flight);
    // `settlements` reports the error.
    flight.catch(() => undefined);
    return flight;
  };

  return {
    proposed({ pid }): void {
      for (const each of proposals.pending()) void provide(each, pid);
    },
    evaluate: {
      effect: "stage",
      async run({ args, process }): Promise<Said> {
        const given = EvalProposal.safeParse({ codeNames: [], edgeNames: [], ...args });
        if (!given.success) {
          const [issue] = given.error.issues;
          throw new Fault(
            "invalidArguments",
            `Cannot propose the program: ${issue?.path.join(".")}: ${issue?.message}`,
          );
        }
        if (proposals.pending().length >= MAX_PENDING) {
          throw new Fault(
            "rateLimited",
            `Cannot propose more: ${MAX_PENDING} proposals wait for HOST`,
          );
        }
        const { program, colour, label } = await programFor(parts, given.data, process);
        const proposed = { ...given.data, n: proposals.next(), program };
        const value = { status: "pending", proposalId: proposed.n };
        return { content: JSON.stringify(value), value, colour, label, record: { proposed } };
      },
    },
    proposal_run: {
      effect: "mutateLocal",
      keepsDeadline: true,
      resolve(args) {
        const proposal = known(proposals, args);
        return {
          idempotent: false,
          summary: `run program ${proposal.n}, which the agent proposes`,
        };
      },
      async run(call, signal): Promise<Said> {
        const { n, source, program, resultName } = known(proposals, call.args);
        const gate = parts.gate();
        if (gate === undefined) {
          throw new Fault("gone", "Cannot run the program: the task has ended");
        }
        const inner = {
          id: CallId.parse(`proposal-${n}-exec`),
          name: "exec",
          arguments: canonicalJson({ code: program }),
        };
        const snapshot = call.process.snapshot?.id ?? "";
        const result = await gate.call(call.pid, inner, snapshot, signal);
        const { outcome, content, error = outcome, colour, label } = result;
        const by = { colour, label };
        const settled = { proposal: n, source, ...by };
        if (outcome !== "ok") {
          const why = error.slice(0, 8_000);
          return {
            ...{ content: why, ...by, failed: why },
            record: { settled: [{ ...settled, status: "failed", why }] },
          };
        }
        if (resultName !== undefined) {
          const path = parsePath([resultName]);
          const reference = namedValue(resultIn(content), by);
          await parts.names.change(by, (now) => withNamed(now, path, reference));
        }
        const more = resultName === undefined ? {} : { resultName };
        const result_ = content.slice(0, 16_384);
        return {
          ...{ content, ...by },
          record: { settled: [{ ...settled, status: "granted", result: result_, ...more }] },
        };
      },
    },
    settlements: {
      effect: "read",
      keepsDeadline: true,
      resultBytes: SETTLEMENT_BYTES,
      async run({ args, process }, signal): Promise<Said> {
        const after = typeof args["after"] === "number" ? args["after"] : 0;
        for (;;) {
          // Return settlements one at a time, in order, so that each fits.
          const [ready] = proposals.settled(after);
          if (ready !== undefined) return told(ready);
          const [more] = [...refused.values()].filter(({ proposal }) =>
            proposals.pending().some(({ n }) => n === proposal)
          );
          if (more !== undefined) {
            const settled = { ...more, seq: proposals.settled(0).length + 1 };
            return { ...told(settled, -1), record: { settled: [more] } };
          }
          const pending = proposals.pending();
          const under = pending.map((each) => provide(each, process.pid));
          if (args["wait"] !== true || under.length === 0) {
            return { content: JSON.stringify({ pending: pending.length, settlements: [] }) };
          }
          const landed = await first(under, signal);
          if (landed.kind === "waits") throw landed.fault;
        }
      },
    },
  };

  function told(settlement: Settlement, less = 0): Said {
    const { colour, label } = settlement;
    const value = { pending: proposals.pending().length + less, settlements: [settlement] };
    return { content: JSON.stringify(value), colour, label };
  }
}

/** The complete arguments that a person is shown. */
function runArguments({ n, program, resultName }: Proposed): JsonObject {
  return { proposal: n, program, ...(resultName === undefined ? {} : { resultName }) };
}

/** The proposal that a call runs. @throws Fault `conflict` unless the arguments match a pending proposal exactly */
function known(proposals: Proposals, args: JsonObject): Proposed {
  const proposal = proposals.pending().find(({ n }) => n === args["proposal"]);
  // INVARIANT: exactly the proposed and shown program runs (test: "… changed after it was shown").
  if (proposal !== undefined && canonicalJson(runArguments(proposal)) === canonicalJson(args)) {
    return proposal;
  }
  throw new Fault(
    "conflict",
    `Cannot run proposal ${
      JSON.stringify(args["proposal"])
    }: it is not what was proposed, or it is settled`,
  );
}

/** A program's result without its console output: JSON if it parses and prints identically, else text. */
function resultIn(content: string): XJson {
  const [value = ""] = content.split("\n[console]\n");
  try {
    const json: Json = JSON.parse(value);
    return JSON.stringify(json) === value ? json : value;
  } catch (error) {
    if (error instanceof SyntaxError) return value;
    throw error;
  }
}

/** Resolves with the first settled decision, or with a waiting one once all of them wait. */
function first(under: readonly Promise<Landed>[], signal: AbortSignal): Promise<Landed> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Fault("cancelled", "Cannot wait on: it was interrupted"));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    let left = under.length;
    const land = (landed: Landed): void => {
      left -= 1;
      if (landed.kind === "settled" || left === 0) resolve(landed);
    };
    Promise.all(under.map((each) => each.then(land))).catch(reject)
      .finally(() => signal.removeEventListener("abort", stop));
  });
}
