/** What the next turn of a task is to be shown. @module */
import { type AgentMessage, Box, type InboxEntry, type TaskId } from "../../contracts/mod.ts";
import type { InboxBook } from "./book.ts";

const URGENT: ReadonlySet<AgentMessage["kind"]> = new Set(["interrupt", "approvalRequest"]);

/** Interrupts and requests first, then as they came; at most `visibleBytes`, but always one. */
export function dueOf(
  book: Pick<InboxBook, "waiting" | "get">,
  task: TaskId,
  at: {
    readonly now: number;
    readonly visibleBytes: number;
    /** A muted sender's messages are kept back. */
    muted(sender: InboxEntry["message"]["sender"]): boolean;
    /** It is shown with the result of a call that is under way. */
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
