/** Exchanges follow their tasks: one step brings an exchange to the state of its task, whatever happened between. @module */
import { Fault, unreachable } from "../../../contracts/base/fault.ts";
import { type Label, mixLabel } from "../../../contracts/authority/colour.ts";
import type { ExchangeId, ExchangeState } from "../../../contracts/exchange/exchange.ts";
import type { TaskId } from "../../../contracts/authority/ids.ts";
import type { AgentTask } from "../../../contracts/task/task.ts";
import { type ExchangeHead, isOver, plainFailure, whatTaskSays } from "./head.ts";
import type { ExchangeKeeper, Prepared } from "./keeper.ts";
import type { ExchangeParts } from "./parts.ts";
import { goingOn } from "./send.ts";
import { saying, within } from "./words.ts";
import type { Closing } from "../../task/runs.ts";

/** Milliseconds before a failed step is tried again. */
const AGAIN_MS = 5_000;
const WAITS = "The agent waits for a person here.";
/** Prefix of the ids of such statuses. */
const WAITING = "waits-";

/** Keeps exchanges in step with their tasks. */
export interface ExchangeFollow {
  /** Updates the exchange to its task's state; never rejects. */
  step(exchange: ExchangeId): void;
  /** Records that a turn of its task began. */
  began(exchange: ExchangeId): void;
  /** Makes the step at once; call within the exchange's turn. */
  now(exchange: ExchangeId): Promise<void>;
  /** Call within the exchange's turn after a turn of its task. True if `end` was called to end the task together with the exchange. */
  closing(exchange: ExchangeId, end: (more: Closing) => Promise<void>): Promise<boolean>;
  settled(): Promise<void>;
}

type FollowParts =
  & Pick<ExchangeParts, "inbox" | "service" | "powers" | "turnOver" | "labelOf" | "note">
  & { readonly keeper: ExchangeKeeper };

export function makeExchangeFollow(parts: FollowParts): ExchangeFollow {
  const { keeper, inbox, service, powers } = parts;
  const under = new Set<Promise<void>>();
  /** Exchanges whose task began a turn since the last step. */
  const begun = new Set<ExchangeId>();

  /** Writes the change unless state and status are unchanged. */
  const move = async (before: ExchangeHead, next: ExchangeHead): Promise<void> => {
    const same = JSON.stringify(before.status?.parts) === JSON.stringify(next.status?.parts);
    if (next.state !== before.state || !same) await keeper.write({ before, next });
  };

  const words = (text: string, label?: Label) => ({
    status: saying({ powers, text, label }),
    said: true,
  });

  /** The task's last answer, withheld if the peer's clearance is too low. */
  const answerOf = (head: ExchangeHead, task: AgentTask): Partial<ExchangeHead> => {
    const { answer = "" } = task;
    if (answer === "") return {};
    const label = mixLabel(task.label, parts.labelOf(task.id));
    const told = within(answer, { label, clearance: head.clearance, peer: head.peer });
    return words(told, told === answer ? label : undefined);
  };

  const over = async (head: ExchangeHead, task: TaskId): Promise<void> => {
    // A waiting message continues the task; its delivery may already have begun.
    if (inbox.pending(task)) return await move(head, goingOn(head));
    if (head.asking !== undefined) {
      const asked = words(head.asking, parts.labelOf(task));
      await move(head, { ...head, ...asked, state: "inputRequired" });
      // The peer may take long to answer: do not keep a process waiting.
      return service.unattended(task);
    }
    await complete(head, task, async (more) => void await service.finish(task, more));
  };

  /** Ends exchange and task in one commit, so that nobody sees one ended without the other. */
  const complete = async (
    head: ExchangeHead,
    task: TaskId,
    end: (more: Closing) => Promise<void>,
  ): Promise<void> => {
    const label = parts.labelOf(task);
    const before = await fromWork(head, "completed");
    let change: Prepared | undefined;
    await end((done) => {
      const next = endOf(before, { ...done, label: mixLabel(done.label, label) });
      return change = keeper.prepare({ before, next });
    });
    await change?.kept();
  };

  const closing: ExchangeFollow["closing"] = async (exchange, end) => {
    const head = keeper.get(exchange);
    if (head?.task === undefined || isOver(head.state)) return false;
    try {
      const standing = await fresh(head);
      // The task continues: a message waits, or the peer was asked.
      if (inbox.pending(head.task) || standing.asking !== undefined) return false;
      await complete(standing, head.task, end);
      return true;
    } catch (error) {
      // The turn ends regardless; a later step ends the exchange.
      parts.note(`Exchange ${exchange} does not end with its turn: ${String(error)}`);
      return false;
    }
  };

  const ended = async (head: ExchangeHead, task: AgentTask): Promise<void> => {
    const says = whatTaskSays(task, true);
    if (says.kind !== "ended") return;
    const before = await fromWork(head, says.state);
    await keeper.write({ before, next: endOf(before, task) });
  };

  /** Moves an exchange through "working" where the protocol requires it. */
  const fromWork = async (head: ExchangeHead, to: ExchangeState): Promise<ExchangeHead> => {
    if (head.state !== "inputRequired" || to !== "completed") return head;
    const { asking: _asking, status: _status, ...rest } = head;
    return await keeper.write({ before: head, next: { ...rest, state: "working" } });
  };

  /** The final state of an exchange whose task has ended. */
  const endOf = (head: ExchangeHead, task: AgentTask): ExchangeHead => {
    const says = whatTaskSays(task, true);
    if (says.kind !== "ended") return head;
    const { asking: _asking, status: _status, answering, ...rest } = head;
    const spoken = says.state === "completed"
      ? answering === undefined ? answerOf(head, task) : {
        ...words(answering, mixLabel(task.label, parts.labelOf(task.id))),
        direct: true as const,
      }
      : says.state === "failed"
      ? words(plainFailure(task))
      : {};
    return { ...rest, said: false, ...spoken, state: says.state };
  };

  /** The exchange for its task's latest turn. */
  const fresh = async (head: ExchangeHead): Promise<ExchangeHead> => {
    if (!begun.delete(head.id)) return head;
    try {
      return await anew(head);
    } catch (error) {
      begun.add(head.id);
      throw error;
    }
  };

  /** Drops questions and answers of earlier turns. */
  const anew = async (before: ExchangeHead): Promise<ExchangeHead> => {
    const { asking, answering, ...next } = goingOn(before);
    const stale = asking ?? answering;
    if (stale === undefined && next.state === before.state) return before;
    return await keeper.write({ before, next, quiet: next.state === before.state });
  };

  const now = async (exchange: ExchangeId): Promise<void> => {
    let head = keeper.get(exchange);
    if (head?.task === undefined || isOver(head.state)) return;
    const task = taskOf(head.task);
    if (task === undefined) {
      // A repaired log may have lost the task.
      return await move(head, { ...head, ...words("The task is lost."), state: "failed" });
    }
    head = await fresh(head);
    const says = whatTaskSays(task, parts.turnOver(task.id));
    switch (says.kind) {
      case "works": {
        const going = goingOn(head);
        if (says.waits) {
          const status = saying({ powers, text: WAITS, id: `${WAITING}${powers.token()}` });
          return await move(head, { ...going, status, said: false });
        }
        const { status, ...silent } = going;
        return await move(head, status?.id.startsWith(WAITING) === true ? silent : going);
      }
      case "turnOver":
        return await over(head, task.id);
      case "ended":
        return await ended(head, task);
      default:
        return unreachable(says);
    }
  };

  const taskOf = (task: TaskId): AgentTask | undefined => {
    try {
      return service.get(task);
    } catch (error) {
      if (error instanceof Fault && error.code === "notFound") return undefined;
      throw error;
    }
  };

  const begin = (exchange: ExchangeId, work: () => Promise<void>): void => {
    const done = keeper.turn(exchange, work).catch((error: unknown) => {
      // The task continued meanwhile: its next pause makes another step.
      if (error instanceof Fault && error.code === "conflict") return;
      parts.note(`Exchange ${exchange} is not in step: ${String(error)}`);
      powers.after(AGAIN_MS, () => step(exchange));
    }).finally(() => under.delete(done));
    under.add(done);
  };

  const step = (exchange: ExchangeId): void => begin(exchange, () => now(exchange));

  return Object.freeze<ExchangeFollow>({
    ...{ step, now, closing },
    began: (exchange) => void begun.add(exchange),
    async settled(): Promise<void> {
      while (under.size > 0) await Promise.all(under);
    },
  });
}
