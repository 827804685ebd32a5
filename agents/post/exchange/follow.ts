/** Exchanges follow their tasks: whatever happened, one step brings the one to where the other is. @module */
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

/** Milliseconds until a step that could not be written is tried again. */
const AGAIN_MS = 5_000;
const WAITS = "The agent waits for a person here.";
/** Ids of statuses that say so begin with this. */
const WAITING = "waits-";

/** What keeps exchanges in step. */
export interface ExchangeFollow {
  /** Looks at the exchange's task and does what follows; never rejects. */
  step(exchange: ExchangeId): void;
  /** A turn of its task began. */
  began(exchange: ExchangeId): void;
  /** A step, within the exchange's turn. */
  now(exchange: ExchangeId): Promise<void>;
  /** Within the exchange's turn: a turn of its task is over. True where `end` was asked to end the task with it. */
  closing(exchange: ExchangeId, end: (more: Closing) => Promise<void>): Promise<boolean>;
  settled(): Promise<void>;
}

type FollowParts =
  & Pick<ExchangeParts, "inbox" | "service" | "powers" | "turnOver" | "labelOf" | "note">
  & { readonly keeper: ExchangeKeeper };

export function makeExchangeFollow(parts: FollowParts): ExchangeFollow {
  const { keeper, inbox, service, powers } = parts;
  const under = new Set<Promise<void>>();
  /** A turn began since the last step. */
  const begun = new Set<ExchangeId>();

  /** Writes it unless nobody would see a difference. */
  const move = async (before: ExchangeHead, next: ExchangeHead): Promise<void> => {
    const same = JSON.stringify(before.status?.parts) === JSON.stringify(next.status?.parts);
    if (next.state !== before.state || !same) await keeper.write({ before, next });
  };

  const words = (text: string, label?: Label) => ({
    status: saying({ powers, text, label }),
    said: true,
  });

  /** What its task said last, as far as its peer may know it. */
  const answerOf = (head: ExchangeHead, task: AgentTask): Partial<ExchangeHead> => {
    const { answer = "" } = task;
    if (answer === "") return {};
    const label = mixLabel(task.label, parts.labelOf(task.id));
    const told = within(answer, { label, clearance: head.clearance, peer: head.peer });
    return words(told, told === answer ? label : undefined);
  };

  const over = async (head: ExchangeHead, task: TaskId): Promise<void> => {
    // Whoever delivers goes on with it, and may be about to: what it takes is not due any more.
    if (inbox.pending(task)) return await move(head, goingOn(head));
    if (head.asking !== undefined) {
      const asked = words(head.asking, parts.labelOf(task));
      await move(head, { ...head, ...asked, state: "inputRequired" });
      // It may be long until its peer answers: no process waits with it.
      return service.unattended(task);
    }
    await complete(head, task, async (more) => void await service.finish(task, more));
  };

  /** One commit: nobody sees the one over and the other not. */
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
      // More is to come in the task, from its peer or as an answer to it.
      if (inbox.pending(head.task) || standing.asking !== undefined) return false;
      await complete(standing, head.task, end);
      return true;
    } catch (error) {
      // Its turn is over all the same: the end is tried again as a step of its own.
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

  /** Its state goes the way that it may: through "working". */
  const fromWork = async (head: ExchangeHead, to: ExchangeState): Promise<ExchangeHead> => {
    if (head.state !== "inputRequired" || to !== "completed") return head;
    const { asking: _asking, status: _status, ...rest } = head;
    return await keeper.write({ before: head, next: { ...rest, state: "working" } });
  };

  /** The exchange of a task that has ended. */
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

  /** As it is in the turn of its task that began last. */
  const fresh = async (head: ExchangeHead): Promise<ExchangeHead> => {
    if (!begun.delete(head.id)) return head;
    try {
      return await anew(head);
    } catch (error) {
      begun.add(head.id);
      throw error;
    }
  };

  /** What was asked or answered in an earlier turn is not this turn's. */
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
      // A log that was repaired may have lost it.
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
      // It went on meanwhile: its next rest is another step.
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
