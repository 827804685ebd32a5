/** A message that comes in: judged, and given its place, before anything is written. @module */
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

/** Where a message is taken up. `taken`: it is that task's first words, and born delivered. */
export type DraftStamp = MessageStamp & { readonly taken?: TaskId };

/** A message that is judged and has its place. */
export interface InboxDraft extends InboxMarking {
  readonly entry: InboxEntry;
  /** It was there: there is nothing to write. */
  readonly duplicate: boolean;
}

export interface DraftParts extends JudgeParts {
  readonly powers: Pick<Powers, "now" | "id" | "token">;
  readonly quotas: InboxQuotas;
  readonly book: InboxBook;
  readonly senders: Senders;
  readonly parents: Parents;
  readonly places: Places;
  /** A message in the store, however it stands. */
  stored(id: InboxId): Promise<Kept | undefined>;
  /** Settles what has expired. */
  sweep(): Promise<void>;
  /** A message as it stands at this look. */
  seen(entry: InboxEntry): InboxEntry;
  /** Something is due: it is in the store. */
  onQueued?(entry: InboxEntry): void;
}

const nothing = (): void => undefined;

/** Makes the way in. It rejects as `AgentInbox.put` does. */
export function makeDrafts(
  parts: DraftParts,
): (message: AgentMessage, stamp: DraftStamp) => Promise<InboxDraft> {
  const { powers, quotas, book, senders, parents, places } = parts;
  /** Ids that are just being written, and when that is over. */
  const writing = new Map<InboxId, Promise<void>>();

  /** Whether the message was there before, and whether with the same words. */
  const earlier = async (
    message: AgentMessage,
    { box, call }: DraftStamp,
  ): Promise<{ readonly id: InboxId; readonly first?: InboxEntry; readonly same: boolean }> => {
    // Names of tasks elsewhere are their own: two of our tasks may hear of the same one.
    const scope = scopeOf(message, box);
    const within = call === undefined ? scope : `${box} ${scope}`;
    const [id, before] = parents.idsOf(message.sender, within, message.id);
    for (const each of [id, before]) {
      // Another may have begun to write the same meanwhile.
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

  /** A sender of whom too much waits for review is not heard until a person looks. */
  const muteLoud = (sender: Sender): void => {
    const aside = book.of(sender).filter(({ state }) => state === "quarantined").length;
    // Of what is shared the kernel itself tells: a task that is over is no fault of the sender's.
    const trusted = sender === "host" || sender.startsWith("resource:");
    if (trusted || aside < quotas.mutedAfter) return;
    const why = `${aside} of its messages are quarantined`;
    // What cannot be written now is tried again with its next message.
    senders.mute(sender, why, powers.now()).catch(nothing);
  };

  return async (input, stamp) => {
    const { message, bytes } = parseMessage(input, stamp);
    senders.checkMuted(message.sender);
    if (message.sender !== "host") book.checkRate(message.sender, powers.now());
    await parts.sweep();
    const facts = await parents.factsOf(message, stamp);
    let found = await earlier(message, stamp);
    // INVARIANT: no await between this look and the place that it is given (test: "two puts … at once").
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
        // What nobody will read is not kept: whoever sends it must not fill the disk.
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
