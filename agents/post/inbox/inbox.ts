/**
 * The inboxes of one kernel: messages are judged, stored, and shown to models as data. Every change
 * commits an event and its documents together.
 *
 * @example
 * ```ts
 * import type { Inbox } from "./inbox.ts";
 * async function tell(inbox: Inbox): Promise<string> {
 *   const { entry } = await inbox.put(
 *     {
 *       ...{ id: "1", sender: "host", kind: "status", body: "Lunch is ready." },
 *       ...{ artifactRefs: [], requestedActions: [], requestedAuthority: [] },
 *     },
 *     { box: "agent:lal", colour: "BLUE", label: "internal" },
 *   );
 *   return entry.state; // queued
 * }
 * ```
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { Box, INBOX_QUOTAS, InboxId } from "../../../contracts/exchange/inbox.ts";
import type { TaskId } from "../../../contracts/authority/mod.ts";
import type {
  AgentInbox,
  AgentMessage,
  CallDelivery,
  CallInbox,
  CallPlace,
  EntryState,
  InboxEntry,
  InboxQuotas,
  MessageStamp,
  PutOutcome,
  Sender,
} from "../../../contracts/exchange/mod.ts";
import type { DocumentWrite, EventLog, Powers, Store } from "../../../contracts/task/mod.ts";
import { isFinal } from "../../task/fold.ts";
import { type InboxBook, makeInboxBook, openPlaces } from "./book.ts";
import { type InboxMarking, makeInboxChanges, settledAs } from "./changes.ts";
import { type DraftStamp, type InboxDraft, makeDrafts } from "./draft.ts";
import { type JudgeParts, taskOfBox } from "./judge.ts";
import { makeParents, openSenders } from "./senders.ts";
import { makeInboxPast } from "./past.ts";
import { ENTRY_KIND, isWaiting, readKept, WAITING } from "./rows.ts";

/** The parts of {@link openInbox}. */
export interface InboxParts extends JudgeParts {
  readonly store: Pick<Store, "document" | "documents">;
  readonly log: Pick<EventLog, "append">;
  readonly powers: Pick<Powers, "now" | "id" | "token">;
  readonly quotas?: Partial<InboxQuotas>;
  /** Called when a message for a task is due and stored. */
  onQueued?(entry: InboxEntry): void;
}

/** {@link AgentInbox} for the kernel: its changes can be part of another commit. */
export interface Inbox extends AgentInbox {
  /** Messages during calls. */
  readonly calls: CallInbox;
  /** Like `put`, without writing. `taken`: the message is this task's request and counts as delivered. */
  draft(message: AgentMessage, stamp: DraftStamp): Promise<InboxDraft>;
  /** Makes a waiting message a task's request. Throws `notFound`, `conflict`. */
  taking(id: InboxId, task: TaskId): InboxDraft;
  /** Marks waiting messages as shown to a task. Throws like `taking`. */
  delivering(ids: readonly InboxId[], task: TaskId): InboxMarking;
  /** Reads a message, also a settled one, with its text unless erased. */
  read(id: InboxId): Promise<InboxEntry | undefined>;
  /** Lists messages, also settled ones: the newest `limit` (1,000), ascending by `n`. */
  past(query: {
    readonly box?: Box;
    readonly state?: EntryState;
    readonly limit?: number;
  }): Promise<readonly InboxEntry[]>;
  /** Whether a message for a task is due, or is being delivered. */
  pending(task: TaskId): boolean;
  /** Handles the end of a task: quarantines its waiting messages, and dismisses those of its calls. */
  over(task: TaskId): Promise<void>;
  /** Handles the purge of a task: erases the text of its messages. */
  forget(task: TaskId): Promise<void>;
  /** Erases the text of messages settled before a time that belong to no task; names and chain stay. */
  eraseBefore(before: number): Promise<{ readonly erased: number }>;
}

/** Chain for events of boxes without a task. */
const CHAIN = "inbox";

/** Opens the inboxes stored by earlier kernels. */
export async function openInbox(parts: InboxParts): Promise<Inbox> {
  const { store, log, powers } = parts;
  const quotas: InboxQuotas = { ...INBOX_QUOTAS, ...parts.quotas };
  const book: InboxBook = makeInboxBook(quotas);
  for (const row of await store.documents({ kind: ENTRY_KIND, task: WAITING, limit: 100_000 })) {
    const kept = await readKept(store, row);
    if (kept !== undefined) book.put({ ...kept, busy: false, durable: true });
  }
  const write = async (documents: readonly DocumentWrite[]): Promise<void> => {
    await log.append(CHAIN, [], documents);
  };
  const places = await openPlaces(store, book.waiting().at(-1)?.n ?? 0);
  const senders = await openSenders(store, write);
  const parents = makeParents({ store, senders, book, now: powers.now, window: quotas.replayMs });
  const past = makeInboxPast({ store, book, now: powers.now, write });
  const changes = makeInboxChanges({ log, book, chainOf: (entry) => chainOf(entry) });

  const chainOf = ({ box, task }: Pick<InboxEntry, "box" | "task">): string => {
    const id = task ?? taskOfBox(box);
    const known = id === undefined ? undefined : parts.task(id);
    return id === undefined || known === undefined || known.purged ? CHAIN : id;
  };

  /** Refuses to release a message to a finished task. */
  const checkOpen = ({ id, box }: InboxEntry): void => {
    const task = taskOfBox(box);
    const known = task === undefined ? undefined : parts.task(task);
    if (task === undefined || (known !== undefined && !isFinal(known.status))) return;
    throw new Fault("conflict", `Cannot release message ${id}: its task is over`);
  };

  /** Settles expired messages. */
  const sweep = async (): Promise<void> => {
    if (book.nextExpiry() > powers.now()) return;
    for (const { id } of book.expired(powers.now())) {
      const slot = book.get(id);
      if (slot?.durable !== true || slot.busy) continue;
      await changes.settle(slot, settledAs(slot.entry, "expired", { now: powers.now() }));
    }
  };
  /** The entry by the current clock, even before its expiry is recorded. */
  const seen = (entry: InboxEntry): InboxEntry =>
    isWaiting(entry.state) && (entry.message.expiresAt ?? Infinity) <= powers.now()
      ? { ...entry, state: "expired" }
      : entry;

  const draft = makeDrafts({
    ...{ ...parts, quotas, book, senders, parents, places, sweep, seen },
    stored: past.kept,
  });

  const delivering = (ids: readonly InboxId[], task: TaskId): InboxMarking => {
    const now = powers.now();
    const slots = ids.map(changes.need);
    const marking = changes.changing(
      slots.map((slot) => ({ slot, next: settledAs(slot.entry, "delivered", { task, now }) })),
    );
    return {
      ...marking,
      kept(): void {
        marking.kept();
        for (const { entry } of slots) parents.delivered(entry);
      },
    };
  };

  const put = async (message: AgentMessage, stamp: MessageStamp): Promise<PutOutcome> => {
    const { duplicate, entry, ...marking } = await draft(message, stamp);
    if (!duplicate) await changes.commit(chainOf(entry), marking);
    return { entry, duplicate };
  };
  const { calls, isHeld } = makeCallInbox({
    ...{ book, put, delivering, isMuted: senders.isMuted, visibleBytes: quotas.visibleBytes },
  });
  /** Reports a due message, unless a running call will show it. */
  const tell = (entry: InboxEntry): void => {
    if (entry.state === "queued" && !isHeld(entry)) parts.onQueued?.(entry);
  };

  const due = (task: TaskId): readonly InboxEntry[] =>
    dueOf(book, task, {
      ...{ now: powers.now(), visibleBytes: quotas.visibleBytes, isHeld },
      muted: senders.isMuted,
    });

  return Object.freeze<Inbox>({
    ...{ draft, put, calls },
    get: (id: InboxId) => {
      const slot = book.get(id);
      if (slot?.durable === true) return seen(slot.entry);
      return book.head(id);
    },
    list: ({ box, state }) =>
      [
        ...book.waiting(box),
        ...book.settled().filter((each) => box === undefined || each.box === box),
      ]
        .map(seen).filter((each) => state === undefined || each.state === state)
        .sort((a, b) => a.n - b.n),
    due,
    pending: (task: TaskId) =>
      due(task).length > 0 ||
      book.waiting(Box.parse(`task:${task}`)).some(({ id }) => book.get(id)?.busy === true),
    taking: (id: InboxId, task: TaskId) => {
      const entry = settledAs(changes.need(id).entry, "delivered", { task, now: powers.now() });
      return { ...delivering([id], task), entry, duplicate: false };
    },
    delivering,
    async release(id: InboxId): Promise<InboxEntry> {
      await sweep();
      const slot = changes.need(id);
      if (slot.entry.state === "queued") return slot.entry;
      checkOpen(slot.entry);
      const entry = await changes.settle(
        slot,
        settledAs(slot.entry, "queued", { now: powers.now() }),
      );
      tell(entry);
      return entry;
    },
    dismiss: async (id: InboxId, why: string) => {
      await sweep();
      const slot = changes.need(id);
      return await changes.settle(
        slot,
        settledAs(slot.entry, "dismissed", { why: why.slice(0, 512), now: powers.now() }),
      );
    },
    mute: (sender: Sender, why: string) => senders.mute(sender, why.slice(0, 512), powers.now()),
    async unmute(sender: Sender): Promise<void> {
      await senders.unmute(sender);
      for (const entry of book.of(sender)) tell(entry);
    },
    muted: senders.muted,
    read: async (id: InboxId) => {
      const kept = book.get(id);
      const found = kept?.durable === true ? kept : await past.kept(id);
      return found === undefined ? undefined : seen(found.entry);
    },
    past: async (query) => (await past.list(query)).map(seen),
    async over(task: TaskId): Promise<void> {
      for (const { id, state } of book.waiting(Box.parse(`task:${task}`))) {
        const slot = book.get(id);
        if (slot === undefined || slot.busy || state !== "queued") continue;
        // Messages of its calls and of shared resources no longer matter.
        const { call, message: { sender } } = slot.entry;
        const moot = call !== undefined || sender.startsWith("resource:");
        const to = moot ? "dismissed" : "quarantined";
        await changes.settle(
          slot,
          settledAs(slot.entry, to, { why: "its task is over", now: powers.now() }),
        );
      }
    },
    async forget(task: TaskId): Promise<void> {
      for (const { id } of book.waiting(Box.parse(`task:${task}`))) {
        const slot = book.get(id);
        if (slot === undefined || slot.busy) continue;
        await changes.settle(
          slot,
          settledAs(slot.entry, "dismissed", { why: "its task was purged", now: powers.now() }),
        );
      }
      await past.erase(task);
    },
    eraseBefore: async (before: number) => ({ erased: await past.eraseBefore(before) }),
  });
}

// Messages that come during a call to their sender: shown with the call's result, delivered by the
// commit that stores the result, without starting a turn.

export interface CallInboxParts {
  readonly book: Pick<InboxBook, "waiting" | "get">;
  /** Maximum bytes of messages shown with one result. */
  readonly visibleBytes: number;
  readonly put: CallInbox["put"];
  isMuted(sender: Sender): boolean;
  delivering(ids: readonly InboxId[], task: TaskId): InboxMarking;
}

/** {@link CallInbox}, and which messages it holds back. */
export interface HeldCalls {
  readonly calls: CallInbox;
  /** Whether a message waits for the result of a running call. */
  isHeld(entry: Pick<InboxEntry, "box" | "call">): boolean;
}

/** A call inbox without running calls. */
function makeCallInbox(parts: CallInboxParts): HeldCalls {
  const { book } = parts;
  const open = new Set<string>();
  const nameOf = (box: string, call: string): string => `${box} ${call}`;
  const isHeld: HeldCalls["isHeld"] = ({ box, call }) =>
    call !== undefined && open.has(nameOf(box, call));

  /** Includes messages that an earlier call to the same sender left, for example after a crash. */
  const dueOf = (box: Box, sender: Sender): readonly InboxEntry[] => {
    const chosen: InboxEntry[] = [];
    let bytes = 0;
    for (const entry of book.waiting(box)) {
      const { id, state, message, call } = entry;
      if (state !== "queued" || message.sender !== sender || call === undefined) continue;
      if (isHeld(entry) || book.get(id)?.busy !== false) continue;
      bytes += entry.bytes;
      if (chosen.length > 0 && bytes > parts.visibleBytes) break;
      chosen.push(entry);
    }
    return chosen;
  };

  const calls = Object.freeze<CallInbox>({
    put: parts.put,
    begin: ({ task, call }: CallPlace) => void open.add(nameOf(`task:${task}`, call)),
    end({ task, call, sender }: CallPlace): CallDelivery | undefined {
      const box = Box.parse(`task:${task}`);
      open.delete(nameOf(box, call));
      if (parts.isMuted(sender)) return undefined;
      const entries = dueOf(box, sender);
      if (entries.length === 0) return undefined;
      return { ...parts.delivering(entries.map(({ id }) => id), task), entries };
    },
  });
  return Object.freeze<HeldCalls>({ calls, isHeld });
}

const URGENT: ReadonlySet<AgentMessage["kind"]> = new Set(["interrupt", "approvalRequest"]);

/** Messages due for a task: interrupts and approval requests first, then by arrival; at most `visibleBytes`, but at least one. */
function dueOf(
  book: Pick<InboxBook, "waiting" | "get">,
  task: TaskId,
  at: {
    readonly now: number;
    readonly visibleBytes: number;
    /** Whether a sender is muted, so that its messages are held back. */
    muted(sender: InboxEntry["message"]["sender"]): boolean;
    /** Whether a message will be shown with a running call's result. */
    isHeld(entry: InboxEntry): boolean;
  },
): readonly InboxEntry[] {
  const ready = book.waiting(Box.parse(`task:${task}`)).filter((entry) =>
    entry.state === "queued" && book.get(entry.id)?.busy === false && !at.isHeld(entry) &&
    (entry.message.expiresAt ?? Infinity) > at.now && !at.muted(entry.message.sender)
  );
  const rank = (entry: InboxEntry): number => URGENT.has(entry.message.kind) ? 0 : 1;
  const chosen: InboxEntry[] = [];
  let bytes = 0;
  for (const entry of ready.toSorted((a, b) => rank(a) - rank(b) || a.n - b.n)) {
    bytes += entry.bytes;
    if (chosen.length > 0 && bytes > at.visibleBytes) break;
    chosen.push(entry);
  }
  return chosen;
}
