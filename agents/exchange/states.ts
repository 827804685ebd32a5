/** From which state an exchange may go to which, and what a task's status makes of it. A2A protocol 1.0, TaskState. @module */
import {
  type AgentTask,
  type ExchangeId,
  type ExchangeState,
  EXIT,
  Fault,
  unreachable,
} from "../../contracts/mod.ts";

/** THE table. States without a successor are final. */
export const EXCHANGE_MOVES: Readonly<Record<ExchangeState, readonly ExchangeState[]>> = Object
  .freeze({
    submitted: ["working", "failed", "canceled", "rejected"],
    working: ["inputRequired", "authRequired", "completed", "failed", "canceled"],
    inputRequired: ["working", "failed", "canceled"],
    authRequired: ["working", "failed", "canceled"],
    completed: [],
    failed: [],
    canceled: [],
    rejected: [],
  });

/** Tells whether nothing follows a state. */
export function isOver(state: ExchangeState): boolean {
  return EXCHANGE_MOVES[state].length === 0;
}

/** Throws `conflict` unless an exchange may go from `from` to `to`; it may always stay, until it is over. */
export function checkMove(exchange: ExchangeId, from: ExchangeState, to: ExchangeState): void {
  if (EXCHANGE_MOVES[from].includes(to) || (from === to && !isOver(from))) return;
  throw new Fault("conflict", `Cannot make exchange ${exchange} "${to}": it is "${from}"`);
}

/** What a task that stands so makes of its exchange. */
export type TaskSays =
  | { readonly kind: "works"; readonly waits: boolean }
  /** Its turn is over: what follows depends on what the agent asked and what waits for it. */
  | { readonly kind: "turnOver" }
  | { readonly kind: "ended"; readonly state: "completed" | "failed" | "canceled" };

/** Reads a task. */
export function whatTaskSays(task: AgentTask, turnOver: boolean): TaskSays {
  switch (task.status) {
    case "open":
      return turnOver ? { kind: "turnOver" } : { kind: "works", waits: false };
    case "blocked":
    case "reviewing":
      return { kind: "works", waits: false };
    case "needsApproval":
      return { kind: "works", waits: true };
    case "done":
      return { kind: "ended", state: "completed" };
    case "failed":
    case "expired":
      return { kind: "ended", state: "failed" };
    case "cancelled":
      return { kind: "ended", state: "canceled" };
    default:
      return unreachable(task.status);
  }
}

/** Why it failed, as a peer may know it: nothing of the task's own words. */
export function plainFailure({ status, exit }: Pick<AgentTask, "status" | "exit">): string {
  if (status === "expired") return "The task took longer than it may.";
  switch (exit) {
    case EXIT.budgetExhausted:
      return "The task used up what it was given.";
    case EXIT.contextOverflow:
      return "The task is too long for the agent.";
    case EXIT.upstreamFailure:
      return "The agent could not be reached.";
    default:
      return "The task failed.";
  }
}
