/** State of senders: whether muted, and the floor of their causal parents. Used by draft.ts and inbox.ts. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { TaskId } from "../../../contracts/authority/ids.ts";
import {
  type AgentMessage,
  type Box,
  type InboxEntry,
  type InboxId,
  type MessageStamp,
  type MutedSender,
  Sender,
} from "../../../contracts/exchange/inbox.ts";
import type { DocumentWrite, Store } from "../../../contracts/task/store.ts";
import type { InboxBook } from "./book.ts";
import { type JudgeFacts, taskOfBox } from "./judge.ts";
import { derivedId, ENTRY_KIND, scopeOf } from "./rows.ts";

const KIND = "inboxSender";
/** Maximum senders loaded, and boxes of one sender whose floor is kept. */
const MAX_SENDERS = 10_000;
const MAX_BOXES = 64;

/** Writes documents, durable when it resolves. */
type WriteDocuments = (documents: readonly DocumentWrite[]) => Promise<void>;

/** The known senders. */
export interface Senders {
  muted(): readonly MutedSender[];
  isMuted(sender: Sender): boolean;
  /** Throws `denied`. */
  checkMuted(sender: Sender): void;
  mute(sender: Sender, why: string, since: number): Promise<void>;
  unmute(sender: Sender): Promise<void>;
  /** Position of the newest causal parent delivered there; -1 if none. */
  floor(sender: Sender, where: string): number;
  /** Raises the floor. */
  raise(sender: Sender, where: string, place: number): Promise<void>;
}

interface Known {
  readonly version: number;
  readonly muted?: { readonly why: string; readonly since: number };
  readonly floors: Readonly<Record<string, number>>;
}

const NOTHING: Known = { version: 0, floors: {} };

function readKnown(version: number, body: Readonly<Record<string, unknown>>): Known {
  const { why, since, floors } = body;
  const kept = Object.entries(typeof floors === "object" && floors !== null ? floors : {})
    .flatMap(([box, place]) => typeof place === "number" ? [[box, place] as const] : []);
  return {
    version,
    floors: Object.fromEntries(kept),
    ...(typeof why === "string" && typeof since === "number" ? { muted: { why, since } } : {}),
  };
}

/** Loads the senders stored by earlier kernels. */
export async function openSenders(
  store: Pick<Store, "documents">,
  write: WriteDocuments,
): Promise<Senders> {
  const known = new Map<Sender, Known>();
  for (const { id, version, body } of await store.documents({ kind: KIND, limit: MAX_SENDERS })) {
    const sender = Sender.safeParse(id);
    if (sender.success) known.set(sender.data, readKnown(version, body));
  }
  let last: Promise<unknown> = Promise.resolve();

  /** Serializes changes: each replaces the version that the previous one wrote. */
  const change = (sender: Sender, to: (now: Known) => Omit<Known, "version">): Promise<void> => {
    const done = last.then(async () => {
      const before = known.get(sender) ?? NOTHING;
      const next = { ...to(before), version: before.version + 1 };
      await write([{
        ...{ kind: KIND, id: sender, task: KIND, expect: before.version },
        body: { floors: next.floors, ...next.muted },
      }]);
      known.set(sender, next);
    });
    last = done.catch(() => undefined);
    return done;
  };

  return Object.freeze<Senders>({
    muted: () =>
      [...known].flatMap(([sender, { muted }]) =>
        muted === undefined ? [] : [{ sender, ...muted }]
      ),
    isMuted: (sender: Sender) => known.get(sender)?.muted !== undefined,
    checkMuted(sender: Sender): void {
      if (known.get(sender)?.muted === undefined) return;
      throw new Fault(
        "denied",
        `Cannot take a message of "${sender}": it is muted until its operator says: remit inbox unmute ${sender}`,
      );
    },
    mute: (sender: Sender, why: string, since: number) =>
      change(sender, ({ floors }) => ({ floors, muted: { why, since } })),
    unmute: async (sender: Sender) => {
      if (known.get(sender)?.muted === undefined) return;
      await change(sender, ({ floors }) => ({ floors }));
    },
    floor: (sender: Sender, where: string) => known.get(sender)?.floors[where] ?? -1,
    async raise(sender: Sender, where: string, place: number): Promise<void> {
      if ((known.get(sender)?.floors[where] ?? -1) >= place) return;
      await change(sender, ({ floors, muted }) => {
        const { [where]: _before, ...rest } = floors;
        const kept = Object.entries(rest).slice(-MAX_BOXES + 1);
        return {
          floors: { ...Object.fromEntries(kept), [where]: place },
          ...(muted === undefined ? {} : { muted }),
        };
      });
    },
  });
}

interface ParentsParts {
  readonly store: Pick<Store, "document">;
  readonly senders: Senders;
  readonly book: Pick<InboxBook, "get" | "of">;
  now(): number;
  /** Minimum milliseconds that an id is remembered. */
  readonly window: number;
}

/** Causal parents of messages. */
export interface Parents {
  /** The inbox ids of a message in the current and the previous time window. */
  idsOf(sender: Sender, scope: string, id: string): readonly [InboxId, InboxId];
  factsOf(message: AgentMessage, stamp: Pick<MessageStamp, "box" | "call">): Promise<JudgeFacts>;
  /** Raises the floor below which the sender's causal parents count as old. */
  delivered(entry: InboxEntry): void;
}

/** `TASK#N`: an event of a task. */
const PLACE = /^(t[0-9a-z]{12})#(\d{1,15})$/;

interface Parent {
  /** Position of a message among all, or of an event in its task. */
  readonly place: number;
  readonly box: string | undefined;
}

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

  /** Boxes in which a sender receives answers. */
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

  /** Floors of messages and of events are separate. */
  const floorAt = (message: AgentMessage, box: Box): string =>
    PLACE.test(message.causalParent ?? "") ? `${box}#` : box;

  return Object.freeze<Parents>({
    idsOf,
    async factsOf(message, { box, call }): Promise<JudgeFacts> {
      // The parent is the call, set by the kernel; simultaneous calls have no order.
      if (call !== undefined) return { waiting: [], answers: false, parent: "known" };
      const parent = await parentOf(message, box);
      // Only these kinds are checked for duplicates.
      const once = message.kind === "interrupt" || message.kind === "approvalRequest";
      const waiting = once ? book.of(message.sender).filter((each) => each.box === box) : [];
      const floor = senders.floor(message.sender, floorAt(message, box));
      return {
        waiting,
        answers: parent?.answers === true,
        // The person may answer anything at any time.
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
