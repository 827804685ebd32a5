/**
 * Messages that wait to be let in, as the page shows them, in the words of `remit inbox`. They are decided at the terminal:
 * a peer's message came through the same gateway that the page is served by, and a channel that asked for something does
 * not answer it (docs/decision/0019).
 * @module
 */
import type { InboxEntry, PageView } from "../../../contracts/mod.ts";
import { cell } from "../../command.ts";
import { entryLines, gistOf } from "../../inbox/inbox_words.ts";
import { spanText } from "../../terminal/span.ts";
import { clipped, list, text } from "./sections.ts";

/** States of a message that a person decides about. */
export const UNDECIDED = ["held", "quarantined"] as const;

/** A list of them, newest first; undefined where none waits. */
export function messagesSection(
  messages: readonly InboxEntry[],
  now: number,
): PageView["sections"][number] | undefined {
  if (messages.length === 0) return undefined;
  const rows = messages.toSorted((a, b) => b.n - a.n).map((entry) => ({
    cells: [
      entry.id,
      entry.state,
      cell(entry.message.sender),
      entry.message.kind,
      spanText(now - entry.receivedAt),
      gistOf(entry),
    ],
    to: entry.id,
  }));
  return list("messages that wait to be let in", rows, "");
}

/** One message, whole; `command` makes of words behind `remit` what is typed at a terminal. */
export function messageView(
  entry: InboxEntry,
  { now, command }: { readonly now: number; readonly command: (words: string) => string },
): PageView {
  const waits = UNDECIDED.some((state) => state === entry.state);
  return {
    title: `Message ${entry.id}`,
    sections: [
      ...(entry.task === undefined
        ? []
        : [{ heading: "became task", rows: [{ cells: [entry.task], to: entry.task }], lines: [] }]),
      text("what came", clipped(entryLines(entry, now))),
    ],
    ...(waits
      ? {
        elsewhere: `This is not decided here. At your terminal: ${
          command(`inbox release ${entry.id}`)
        } lets it in, ${command(`inbox dismiss ${entry.id}`)} does not.`.slice(0, 512),
      }
      : {}),
  };
}
