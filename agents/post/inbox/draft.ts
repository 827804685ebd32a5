/** Judges an incoming message and assigns its position before anything is written. Used by inbox.ts. @module */
import { InboxId } from "../../../contracts/exchange/inbox.ts";
import type { TaskId } from "../../../contracts/authority/mod.ts";
import type {
  AgentMessage,
  InboxEntry,
  InboxQuotas,
  MessageStamp,
  Sender,
} from "../../../contracts/exchange/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import type { InboxBook, Places, Slot } from "./book.ts";
import { entryOf, inboxEvent, type InboxMarking, parseMessage } from "./changes.ts";
import { type JudgeParts, whyAside } from "./judge.ts";
import type { Parents, Senders } from "./senders.ts";
import {
  bodyWrite,
  digestOfMessage,
  entryWrite,
  ERASED,
  isWaiting,
  type Kept,
  scopeOf,
} from "./rows.ts";

/** The stamp of a message. `taken`: the message is this task's request and counts as delivered. */
export type DraftStamp = MessageStamp & { readonly taken?: TaskId };

/** A judged message with its position. */
export interface InboxDraft extends InboxMarking {
  readonly entry: InboxEntry;
  /** The message was already stored: nothing to write. */
  readonly duplicate: boolean;
}

export interface DraftParts extends JudgeParts {
  readonly powers: Pick<Powers, "now" | "id" | "token">;
  readonly quotas: InboxQuotas;
  readonly book: InboxBook;
  readonly senders: Senders;
  readonly parents: Parents;
  readonly places: Places;
  /** A message in the store, in any state. */
  stored(id: InboxId): Promise<Kept | undefined>;
  /** Settles expired messages. */
  sweep(): Promise<void>;
  /** A message by the current clock. */
  seen(entry: InboxEntry): InboxEntry;
  /** Called when a message is due and stored. */
  onQueued?(entry: InboxEntry): void;
}

const nothing = (): void => undefined;

/** Makes the function that accepts messages; it rejects like `AgentInbox.put`. */
export function makeDrafts(
  parts: DraftParts,
): (message: AgentMessage, stamp: DraftStamp) => Promise<InboxDraft> {
  const { powers, quotas, book, senders, parents, places } = parts;
  /** Ids being written, with a promise of the end of the write. */
  const writing = new Map<InboxId, Promise<void>>();

  /** Whether the message was stored before, and with the same content. */
  const earlier = async (
    message: AgentMessage,
    { box, call }: DraftStamp,
  ): Promise<{ readonly id: InboxId; readonly first?: InboxEntry; readonly same: boolean }> => {
    // Task names of peers are their own: two of Remit's tasks may receive messages about the same one.
    const scope = scopeOf(message, box);
    const within = call === undefined ? scope : `${box} ${scope}`;
    const [id, before] = parents.idsOf(message.sender, within, message.id);
    for (const each of [id, before]) {
      // Another call may have begun to write the same message.
      for (let busy = writing.get(each); busy !== undefined; busy = writing.get(each)) await busy;
      const found = book.get(each) ?? await parts.stored(each);
      if (found === undefined) continue;
      const same = found.salt === ERASED ||
        digestOfMessage(found.salt, { box, message, call }) === found.digest;
      return { id: each, first: { ...found.entry, ...(same ? { message } : {}) }, same };
    }
    return { id, same: true };
  };
  const begun = (id: InboxId): boolean =>
    writing.has(id) || book.get(id) !== undefined || book.head(id) !== undefined;

  /** Mutes a sender with too many quarantined messages. */
  const muteLoud = (sender: Sender): void => {
    const aside = book.of(sender).filter(({ state }) => state === "quarantined").length;
    // Messages about shared resources come from the kernel itself.
    const trusted = sender === "host" || sender.startsWith("resource:");
    if (trusted || aside < quotas.mutedAfter) return;
    const why = `${aside} of its messages are quarantined`;
    // If this fails, the sender's next message tries again.
    senders.mute(sender, why, powers.now()).catch(nothing);
  };

  return async (input, stamp) => {
    const { message, bytes } = parseMessage(input, stamp);
    senders.checkMuted(message.sender);
    if (message.sender !== "host") book.checkRate(message.sender, powers.now());
    await parts.sweep();
    const facts = await parents.factsOf(message, stamp);
    let found = await earlier(message, stamp);
    // INVARIANT: no await between this check and the assignment of the position (test: "two puts … at once").
    while (found.first === undefined && begun(found.id)) found = await earlier(message, stamp);
    if (found.first !== undefined && found.same) {
      return {
        ...{ entry: parts.seen(found.first), duplicate: true, events: [], documents: [] },
        ...{ kept: nothing, dropped: nothing },
      };
    }
    book.checkQuota(message.sender, stamp.box, bytes);
    const aside = found.first === undefined
      ? whyAside(parts, message, stamp, facts)
      : "its id was used before, for another message";
    const place = places.next();
    const entry = entryOf(message, stamp, {
      id: found.first === undefined ? found.id : InboxId.parse(powers.id("m")),
      ...{ n: place.n, bytes, aside, now: powers.now() },
    });
    const salt = sha256Hex(powers.token());
    const slot: Slot = {
      ...{ entry, version: 1, bodyVersion: 1, salt, busy: false, durable: false },
      digest: digestOfMessage(salt, entry),
    };
    const { promise, resolve } = Promise.withResolvers<void>();
    writing.set(entry.id, promise);
    const end = (): void => {
      writing.delete(entry.id);
      resolve();
    };
    if (isWaiting(entry.state)) book.put(slot);
    return {
      ...{ entry, duplicate: false, events: [inboxEvent(entry)] },
      documents: [
        entryWrite({ ...slot, version: 0 }),
        // An expired body is not stored, so that a sender cannot fill the disk.
        bodyWrite(entry, entry.state === "expired" ? undefined : message, 0),
        ...place.documents,
      ],
      kept(): void {
        slot.durable = true;
        book.settle(entry);
        place.kept();
        end();
        if (entry.state === "quarantined") muteLoud(message.sender);
        if (entry.state === "queued" && stamp.call === undefined) parts.onQueued?.(entry);
      },
      dropped(): void {
        book.remove(entry.id);
        place.dropped();
        end();
      },
    };
  };
}
