/** Changes of waiting messages: an event and its documents in one commit. Used by draft.ts and inbox.ts. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { AgentMessage, Box } from "../../../contracts/exchange/inbox.ts";
import { toJson } from "../../../contracts/base/json.ts";
import type { TaskId } from "../../../contracts/authority/mod.ts";
import type {
  EntryState,
  InboxEntry,
  InboxId,
  MessageStamp,
} from "../../../contracts/exchange/mod.ts";
import type { DocumentWrite, EventLog, NewEvent } from "../../../contracts/task/mod.ts";
import { canonicalJson } from "../../../port/mod.ts";
import type { InboxBook, Slot } from "./book.ts";
import { bodyWrite, entryWrite, isWaiting, ownerOf } from "./rows.ts";

/** Changes ready to be committed with others in one append; the caller then calls exactly one of `kept` and `dropped`. */
export interface InboxMarking {
  readonly events: readonly NewEvent[];
  readonly documents: readonly DocumentWrite[];
  /** The changes are durable. */
  kept(): void;
  /** The changes were not committed. */
  dropped(): void;
}

export interface ChangesParts {
  readonly log: Pick<EventLog, "append">;
  readonly book: InboxBook;
  /** The chain for a message's events. */
  chainOf(entry: InboxEntry): string;
}

/** Changes of waiting messages. */
export interface InboxChanges {
  /** The message, if it may be changed now. Throws `notFound`, `conflict`. */
  need(id: InboxId): Slot;
  /** Prepares several changes for one commit. */
  changing(
    changes: readonly { readonly slot: Slot; readonly next: InboxEntry }[],
  ): InboxMarking;
  /** Commits changes by themselves. */
  commit(chain: string, marking: InboxMarking): Promise<void>;
  /** Changes one message, in its own commit. */
  settle(slot: Slot, next: InboxEntry): Promise<InboxEntry>;
}

export function makeInboxChanges(parts: ChangesParts): InboxChanges {
  const { log, book } = parts;

  const changing: InboxChanges["changing"] = (changes) => {
    for (const { slot } of changes) slot.busy = true;
    const moved = changes.map(({ slot, next }) => ownerOf(next) !== ownerOf(slot.entry));
    return {
      events: changes.map(({ next }) => inboxEvent(next)),
      documents: changes.flatMap(({ slot, next }, i) => [
        entryWrite({ ...slot, entry: next }),
        ...(moved[i] === true ? [bodyWrite(next, slot.entry.message, slot.bodyVersion)] : []),
      ]),
      kept(): void {
        changes.forEach(({ slot, next }, i) => {
          if (!isWaiting(next.state)) {
            book.remove(next.id);
            book.settle(next);
            return;
          }
          book.put({
            ...{ ...slot, entry: next, version: slot.version + 1, busy: false },
            bodyVersion: slot.bodyVersion + (moved[i] === true ? 1 : 0),
          });
        });
      },
      dropped(): void {
        for (const { slot } of changes) slot.busy = false;
      },
    };
  };

  const commit = async (chain: string, marking: InboxMarking): Promise<void> => {
    try {
      await log.append(chain, marking.events, marking.documents);
    } catch (error) {
      marking.dropped();
      throw error;
    }
    marking.kept();
  };

  return Object.freeze<InboxChanges>({
    need(id: InboxId): Slot {
      const slot = book.get(id);
      if (slot?.durable === true) {
        if (!slot.busy) return slot;
        throw new Fault("conflict", `Cannot change message ${id}: it is just being changed`);
      }
      if (book.head(id) !== undefined) {
        throw new Fault("conflict", `Cannot change message ${id}: it is settled`);
      }
      throw new Fault("notFound", `Cannot find message "${id}": list them with "remit inbox list"`);
    },
    changing,
    commit,
    async settle(slot: Slot, next: InboxEntry): Promise<InboxEntry> {
      await commit(parts.chainOf(next), changing([{ slot, next }]));
      return next;
    },
  });
}

/** Maximum bytes of a message as canonical JSON. */
const MAX_BYTES = 524_288;

/** Parses a message and its stamp; throws `invalidInput`, `tooLarge`. */
export function parseMessage(
  input: AgentMessage,
  stamp: MessageStamp,
): { readonly message: AgentMessage; readonly bytes: number } {
  const box = Box.safeParse(stamp.box);
  if (!box.success) throw new Fault("invalidInput", "Cannot take the message: its box is none");
  const result = AgentMessage.safeParse(input);
  if (!result.success) {
    const issue = result.error.issues[0];
    const code = issue?.code === "too_big" ? "tooLarge" : "invalidInput";
    throw new Fault(
      code,
      `Cannot take the message: ${issue?.path.join(".") || "it"}: ${issue?.message}`,
    );
  }
  const bytes = new TextEncoder().encode(canonicalJson(toJson(result.data))).length;
  if (bytes > MAX_BYTES) {
    throw new Fault("tooLarge", `Cannot take the message: it is over ${MAX_BYTES} bytes`);
  }
  return { message: result.data, bytes };
}

/** The entry of an incoming message, with its initial state. */
export function entryOf(
  message: AgentMessage,
  stamp: MessageStamp & { readonly taken?: TaskId },
  made: Pick<InboxEntry, "id" | "n" | "bytes"> & {
    readonly aside: string | undefined;
    readonly now: number;
  },
): InboxEntry {
  const { box, colour, label, exchange, call, taken } = stamp;
  const { aside, now, ...rest } = made;
  const asks = message.sender !== "host" &&
    (message.kind === "approvalRequest" || message.requestedAuthority.length > 0);
  const over = (message.expiresAt ?? Infinity) <= now;
  const state: EntryState = over
    ? "expired"
    : aside !== undefined
    ? "quarantined"
    : stamp.held === true || asks
    ? "held"
    : taken !== undefined
    ? "delivered"
    : "queued";
  const why = state === "quarantined"
    ? aside
    : state !== "held"
    ? undefined
    : stamp.held === true
    ? "a person decides whether it is taken"
    : "it asks for what only a person can give";
  return {
    ...{ ...rest, box, message, colour, label, state, receivedAt: now },
    ...(why === undefined ? {} : { why }),
    ...(exchange === undefined ? {} : { exchange }),
    ...(call === undefined ? {} : { call }),
    ...(state === "delivered" && taken !== undefined ? { task: taken } : {}),
    ...(isWaiting(state) ? {} : { settledAt: now }),
  };
}

/** The event of a change: names, states and counts. */
export function inboxEvent(entry: InboxEntry): NewEvent {
  const { id, box, n, state, colour, label, bytes, exchange, task, message } = entry;
  return {
    kind: "inbox",
    body: {
      ...{ entry: id, box, n, state, colour, label, bytes },
      ...{ sender: message.sender, message: message.kind },
      ...(exchange === undefined ? {} : { exchange }),
      ...(task === undefined ? {} : { task }),
    },
  };
}

/** A waiting message in its new state. */
export function settledAs(
  entry: InboxEntry,
  state: EntryState,
  extra: { readonly now: number; readonly why?: string; readonly task?: TaskId },
): InboxEntry {
  const { why: _why, ...rest } = entry;
  const { now, ...more } = extra;
  return { ...rest, state, ...more, ...(isWaiting(state) ? {} : { settledAt: now }) };
}
