/**
 * Messages that come in while a call to their sender is under way: shown with the call's result, delivered by the commit
 * that keeps it, and nothing that would wake their task.
 * @module
 */
import {
  Box,
  type CallDelivery,
  type CallInbox,
  type CallPlace,
  type InboxEntry,
  type InboxId,
  type Sender,
  type TaskId,
} from "../../contracts/mod.ts";
import type { InboxBook } from "./book.ts";
import type { InboxMarking } from "./changes.ts";

/** What {@link makeCallInbox} is handed. */
export interface CallInboxParts {
  readonly book: Pick<InboxBook, "waiting" | "get">;
  /** Bytes of messages that one result shows. */
  readonly visibleBytes: number;
  readonly put: CallInbox["put"];
  isMuted(sender: Sender): boolean;
  delivering(ids: readonly InboxId[], task: TaskId): InboxMarking;
}

/** {@link CallInbox}, and which messages are its own for now. */
export interface HeldCalls {
  readonly calls: CallInbox;
  /** It waits for the result of a call that is under way: nobody else is shown it. */
  isHeld(entry: Pick<InboxEntry, "box" | "call">): boolean;
}

/** Makes it: no call is under way. */
export function makeCallInbox(parts: CallInboxParts): HeldCalls {
  const { book } = parts;
  const open = new Set<string>();
  const nameOf = (box: string, call: string): string => `${box} ${call}`;
  const isHeld: HeldCalls["isHeld"] = ({ box, call }) =>
    call !== undefined && open.has(nameOf(box, call));

  /** Also what an earlier call to the same sender left, as a crash does. */
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
