/**
 * The brake: a process that spends too fast or received SIGBRAKE waits for a person's answer. Used
 * by kernel/task/models.ts; made in kernel/main_work.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { Limits } from "../../../contracts/task/budget.ts";
import type { Questions } from "../../../contracts/authority/gate.ts";
import { Digest, type Pid, QuestionId, ToolName } from "../../../contracts/authority/ids.ts";
import type { Powers, ProcessKeeper, ProcessRow } from "../../../contracts/task/process.ts";
import type { Question } from "../../../contracts/authority/question.ts";
import { digestOf } from "../../../port/digest.ts";
import { type Payment, recent, spendsTooFast } from "./signals.ts";

/** Milliseconds that the question stays open: a day. */
const TTL = 24 * 60 * 60_000;

interface BrakeParts {
  readonly questions: Questions;
  readonly powers: Pick<Powers, "now" | "id">;
  readonly processes: Pick<ProcessKeeper, "charge">;
}

/**
 * Asks a person whether the process may go on.
 *
 * @throws Fault `needsApproval` when the question was queued, `budgetExhausted` when no more
 * questions may be asked
 */
export async function askToGoOn(parts: BrakeParts, row: ProcessRow): Promise<boolean> {
  if (row.onQuestion === "deny") return false;
  parts.processes.charge(row.pid, { questions: 1 });
  const now = parts.powers.now();
  const limit = row.limits.moneyPerMinute;
  const spent = Math.round(row.usage.money * 100) / 100;
  const signalled = row.status === "stopped";
  const question: Question = {
    id: QuestionId.parse(parts.powers.id("q")),
    task: row.task,
    pid: row.pid,
    kind: "brake",
    turn: row.turn,
    scope: {
      tool: ToolName.parse("model_complete"),
      descriptor: Digest.parse("0".repeat(64)),
      arguments: digestOf({ spent: row.usage.money }),
      effect: "read",
      colour: row.colour,
      label: row.label,
      session: row.session,
    },
    argumentsText: "{}",
    summary: signalled
      ? `It was stopped by SIGBRAKE (${spent} USD so far). Let it go on?`
      : `It spends faster than ${limit} USD a minute (${spent} USD so far). Let it go on?`,
    changes: [],
    executes: [],
    sources: row.sources.slice(-100),
    rule: signalled ? "signal SIGBRAKE" : "limits.moneyPerMinute",
    asked: Math.max(1, row.usage.questions),
    createdAt: now,
    expiresAt: now + TTL,
    state: "open",
  };
  const answered = await parts.questions.ask(question, {
    wait: row.onQuestion === "ask",
    signal: new AbortController().signal,
  });
  if (answered.kind === "queued") {
    throw new Fault("needsApproval", `Cannot go on: question ${question.id} waits for a person`, {
      detail: { question: question.id },
    });
  }
  return answered.kind === "answered" && answered.answer.decision === "allow";
}

/**
 * Makes the reservation of a request's probable cost, which asks a person when the task spends too fast. Resolves with
 * the function that ends the reservation, or undefined when the request may not be sent.
 */
export function reserving(
  purse: Purse,
  ask: (row: ProcessRow) => Promise<boolean>,
): (row: ProcessRow, money: number) => Promise<(() => void) | undefined> {
  return async (row, money) => {
    const reserved = purse.begin(money, row.limits);
    if (reserved !== undefined) return reserved;
    if (!await ask(row)) return undefined;
    purse.forgive();
    return purse.pending(money);
  };
}

/** A task's payments, of all its processes together. */
interface Purse {
  /** Books US dollars. */
  paid(money: number): void;
  /**
   * Counts US dollars that a running request will probably cost, until the returned function is called (book the
   * payment then): requests of children that start at the same moment count together.
   */
  pending(money: number): () => void;
  isSpentTooFast(limits: Pick<Limits, "moneyPerMinute">): boolean;
  /** Like {@link Purse.pending}, or undefined where the task spends too fast: check and reservation in one step. */
  begin(money: number, limits: Pick<Limits, "moneyPerMinute">): (() => void) | undefined;
  /** A person's consent: payments so far and running requests no longer count. */
  forgive(): void;
}

/** Makes an empty purse. */
export function makePurse({ now }: Pick<Powers, "now">): Purse {
  let payments: readonly Payment[] = [];
  const underway = new Map<symbol, number>();

  const pending = (money: number): () => void => {
    const request = Symbol();
    underway.set(request, money);
    return () => void underway.delete(request);
  };
  const isSpentTooFast = (limits: Pick<Limits, "moneyPerMinute">): boolean => {
    const money = underway.values().reduce((sum, each) => sum + each, 0);
    return spendsTooFast([...payments, { at: now(), money }], now(), limits);
  };
  return Object.freeze<Purse>({
    pending,
    isSpentTooFast,
    begin: (money, limits) => isSpentTooFast(limits) ? undefined : pending(money),
    paid(money: number): void {
      if (money > 0) payments = [...recent(payments, now()), { at: now(), money }];
    },
    forgive(): void {
      payments = [];
      underway.clear();
    },
  });
}

/**
 * Wraps a keeper so that `exhausted` hears the name of each limit that a call ran into. A refusal
 * for want of budget would repeat, so the process must conclude instead of retrying.
 */
export function tellingExhaustion(
  processes: ProcessKeeper,
  exhausted: (pid: Pid, limit: string) => void,
): ProcessKeeper {
  const { get, list, taint, advertise } = processes;
  return Object.freeze<ProcessKeeper>({
    get,
    list,
    taint,
    advertise,
    charge(pid, charge): void {
      try {
        processes.charge(pid, charge);
      } catch (error) {
        const limit = error instanceof Fault ? error.detail?.["limit"] : undefined;
        if (typeof limit === "string") exhausted(pid, limit);
        throw error;
      }
    },
    wouldExceed(pid, charge): string | undefined {
      const limit = processes.wouldExceed(pid, charge);
      if (limit !== undefined) exhausted(pid, limit);
      return limit;
    },
  });
}
