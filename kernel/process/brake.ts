/**
 * The brake: a process that spends too fast, or was sent SIGBRAKE, waits until a person lets it go on.
 * @module
 */
import {
  Digest,
  Fault,
  type Powers,
  type ProcessKeeper,
  type ProcessRow,
  type Question,
  QuestionId,
  type Questions,
  ToolName,
} from "../../contracts/mod.ts";
import { digestOf } from "../../port/digest.ts";
import type { Purse } from "./purse.ts";

/** How long the question stays open, milliseconds: a day. */
const TTL = 24 * 60 * 60_000;

/** What {@link askToGoOn} is handed. */
export interface BrakeParts {
  readonly questions: Questions;
  readonly powers: Pick<Powers, "now" | "id">;
  readonly processes: Pick<ProcessKeeper, "charge">;
}

/**
 * Asks whether the process may go on.
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
 * Reserves what a request will probably cost; asks a person when the task spends too fast. Undefined
 * when it may not go on, else what ends the reservation.
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
