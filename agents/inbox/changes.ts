/** Changes of messages that wait: an event and the documents that say the same, in one commit. @module */
import {
  type DocumentWrite,
  type EventLog,
  Fault,
  type InboxEntry,
  type InboxId,
  type NewEvent,
} from "../../contracts/mod.ts";
import type { InboxBook, Slot } from "./book.ts";
import { eventOf } from "./entry.ts";
import { bodyWrite, entryWrite, isWaiting, ownerOf } from "./rows.ts";

/** Changes that are ready to be committed with others, in one append. Exactly one of the two follows. */
export interface InboxMarking {
  readonly events: readonly NewEvent[];
  readonly documents: readonly DocumentWrite[];
  /** They are durable. */
  kept(): void;
  /** They are not, and never will be. */
  dropped(): void;
}

/** What {@link makeInboxChanges} is handed. */
export interface ChangesParts {
  readonly log: Pick<EventLog, "append">;
  readonly book: InboxBook;
  /** The chain that tells of a message. */
  chainOf(entry: InboxEntry): string;
}

/** Changes of what waits. */
export interface InboxChanges {
  /** A message that may be changed now. Throws `notFound`, `conflict`. */
  need(id: InboxId): Slot;
  /** Several changes for one commit. */
  changing(
    changes: readonly { readonly slot: Slot; readonly next: InboxEntry }[],
  ): InboxMarking;
  /** Commits changes by themselves. */
  commit(chain: string, marking: InboxMarking): Promise<void>;
  /** Changes one message, in its own commit. */
  settle(slot: Slot, next: InboxEntry): Promise<InboxEntry>;
}

/** Makes them. */
export function makeInboxChanges(parts: ChangesParts): InboxChanges {
  const { log, book } = parts;

  const changing: InboxChanges["changing"] = (changes) => {
    for (const { slot } of changes) slot.busy = true;
    const moved = changes.map(({ slot, next }) => ownerOf(next) !== ownerOf(slot.entry));
    return {
      events: changes.map(({ next }) => eventOf(next)),
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
