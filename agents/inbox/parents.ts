/** What a message follows from: whether that is known here, and not older than what was delivered. @module */
import {
  type AgentMessage,
  type Box,
  type InboxEntry,
  type InboxId,
  type MessageStamp,
  type Sender,
  type Store,
  TaskId,
} from "../../contracts/mod.ts";
import type { InboxBook } from "./book.ts";
import { type JudgeFacts, taskOfBox } from "./judge.ts";
import { derivedId, ENTRY_KIND, scopeOf } from "./rows.ts";
import type { Senders } from "./senders.ts";

/** What {@link makeParents} is handed. */
export interface ParentsParts {
  readonly store: Pick<Store, "document">;
  readonly senders: Senders;
  readonly book: Pick<InboxBook, "get" | "of">;
  now(): number;
  /** Milliseconds for which an id is remembered, at least. */
  readonly window: number;
}

/** Causal parents. */
export interface Parents {
  /** The ids that a message has in this window and in the one before. */
  idsOf(sender: Sender, scope: string, id: string): readonly [InboxId, InboxId];
  factsOf(message: AgentMessage, stamp: Pick<MessageStamp, "box" | "call">): Promise<JudgeFacts>;
  /** What was delivered raises the floor beneath which its sender's parents are old. */
  delivered(entry: InboxEntry): void;
}

/** `TASK#N`: an event of a task. */
const PLACE = /^(t[0-9a-z]{12})#(\d{1,15})$/;

interface Parent {
  /** The place of a message among all, or of an event in its task. */
  readonly place: number;
  readonly box: string | undefined;
}

/** Makes them. */
export function makeParents(parts: ParentsParts): Parents {
  const { store, senders, book } = parts;

  const idsOf = (sender: Sender, scope: string, id: string): readonly [InboxId, InboxId] => {
    const window = Math.floor(parts.now() / parts.window);
    return [derivedId({ sender, scope, id }, window), derivedId({ sender, scope, id }, window - 1)];
  };

  const find = async (
    sender: Sender,
    scope: string,
    id: string,
  ): Promise<Parent | undefined> => {
    for (const each of idsOf(sender, scope, id)) {
      const slot = book.get(each);
      if (slot !== undefined) return { place: slot.entry.n, box: slot.entry.box };
      const row = await store.document(ENTRY_KIND, each);
      const place = row?.body["n"];
      if (typeof place === "number") return { place, box: String(row?.body["box"]) };
    }
    return undefined;
  };

  /** Boxes in which a sender reads answers. */
  const boxesOf = ({ sender, senderTask }: AgentMessage): readonly string[] => {
    const task = TaskId.safeParse(senderTask);
    return [sender, ...(task.success ? [`task:${task.data}`] : [])];
  };

  const parentOf = async (
    message: AgentMessage,
    box: Box,
  ): Promise<(Parent & { readonly answers: boolean }) | undefined> => {
    const { sender, causalParent, senderTask } = message;
    if (causalParent === undefined) return undefined;
    const to = taskOfBox(box);
    const [, task, n] = PLACE.exec(causalParent) ?? [];
    if (task !== undefined) {
      const ours = task === to || task === senderTask || sender === `task:${task}`;
      return ours ? { place: Number(n), box: undefined, answers: false } : undefined;
    }
    const own = await find(sender, scopeOf(message, box), causalParent);
    if (own !== undefined) return { ...own, answers: false };
    const asked: Sender[] = to === undefined ? ["host"] : [`task:${to}`, "host"];
    for (const asker of asked) {
      const scopes = to === undefined ? boxesOf(message) : [to, ...boxesOf(message)];
      for (const scope of scopes) {
        const found = await find(asker, scope, causalParent);
        const read = found !== undefined && boxesOf(message).includes(found.box ?? "");
        if (read) return { ...found, answers: asker !== "host" };
      }
    }
    return undefined;
  };

  /** Places of messages and of events are counted apart. */
  const floorAt = (message: AgentMessage, box: Box): string =>
    PLACE.test(message.causalParent ?? "") ? `${box}#` : box;

  return Object.freeze<Parents>({
    idsOf,
    async factsOf(message, { box, call }): Promise<JudgeFacts> {
      // Its parent is the call: the kernel says so, and calls under way at once have no order.
      if (call !== undefined) return { waiting: [], answers: false, parent: "known" };
      const parent = await parentOf(message, box);
      // Only of these is it asked whether the same waits already.
      const once = message.kind === "interrupt" || message.kind === "approvalRequest";
      const waiting = once ? book.of(message.sender).filter((each) => each.box === box) : [];
      const floor = senders.floor(message.sender, floorAt(message, box));
      return {
        waiting,
        answers: parent?.answers === true,
        // The person answers what they like, when they like.
        parent: message.causalParent === undefined || message.sender === "host"
          ? "none"
          : parent === undefined
          ? "unknown"
          : parent.place < floor
          ? "old"
          : "known",
      };
    },
    delivered(entry: InboxEntry): void {
      const { message, box, call } = entry;
      if (message.causalParent === undefined || call !== undefined) return;
      parentOf(message, box).then(async (parent) => {
        if (parent !== undefined) {
          await senders.raise(message.sender, floorAt(message, box), parent.place);
        }
      }).catch(() => undefined);
    },
  });
}
