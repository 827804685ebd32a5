/** Settled messages: read from the store day by day, and erased there. Used by inbox.ts. @module */
import { TaskId } from "../../../contracts/authority/ids.ts";
import type { Box, EntryState, InboxEntry, InboxId } from "../../../contracts/exchange/inbox.ts";
import type { DocumentRow, DocumentWrite, Store } from "../../../contracts/task/store.ts";
import type { InboxBook } from "./book.ts";
import {
  BODY_KIND,
  ENTRY_KIND,
  ERASED,
  isWaiting,
  type Kept,
  readKept,
  settledOn,
} from "./rows.ts";

const DAY = 86_400_000;
/** Maximum days to look back, rows of one day, and default maximum of messages returned. */
const MAX_DAYS = 400;
const MAX_ROWS = 100_000;
const LIMIT = 1_000;
/** Number of empty days in a row after which the search stops. */
const MAX_EMPTY_DAYS = 60;

/** Settled messages. */
export interface InboxPast {
  /** A message in the store, in any state. */
  kept(id: InboxId): Promise<Kept | undefined>;
  list(query: {
    readonly box?: Box;
    readonly state?: EntryState;
    readonly limit?: number;
  }): Promise<readonly InboxEntry[]>;
  /** Erases the text of a task's messages. */
  erase(task: TaskId): Promise<void>;
  /** Erases the text of messages settled before a time that belong to no task; resolves with their number. */
  eraseBefore(before: number): Promise<number>;
}

export interface PastParts {
  readonly store: Pick<Store, "document" | "documents">;
  readonly book: Pick<InboxBook, "waiting">;
  now(): number;
  write(documents: readonly DocumentWrite[]): Promise<void>;
}

/** Makes the access to settled messages. */
export function makeInboxPast(parts: PastParts): InboxPast {
  const { store, book } = parts;
  const kept = async (id: InboxId): Promise<Kept | undefined> => {
    const row = await store.document(ENTRY_KIND, id);
    return row === undefined ? undefined : await readKept(store, row);
  };
  /** Erases one message's text; false if it was already erased. */
  const eraseOne = async ({ id, task, version, body }: DocumentRow): Promise<boolean> => {
    if (Object.keys(body).length === 0) return false;
    const row = await store.document(ENTRY_KIND, id);
    await parts.write([
      { kind: BODY_KIND, id, task, expect: version, body: {} },
      ...(row === undefined ? [] : [{
        ...{ kind: ENTRY_KIND, id, task: row.task, expect: row.version },
        body: { ...row.body, salt: ERASED, digest: ERASED },
      }]),
    ]);
    return true;
  };
  return Object.freeze<InboxPast>({
    kept,
    async list({ box, state, limit = LIMIT }): Promise<readonly InboxEntry[]> {
      const fits = (entry: { readonly box?: unknown; readonly state?: unknown }): boolean =>
        (box === undefined || entry.box === box) && (state === undefined || entry.state === state);
      const found: InboxEntry[] = book.waiting(box).filter(fits).slice(-limit);
      const waitingOnly = state !== undefined && isWaiting(state);
      for (
        let day = 0, quiet = 0;
        day < MAX_DAYS && quiet < MAX_EMPTY_DAYS && !waitingOnly;
        day++
      ) {
        if (found.length >= limit) break;
        const rows = await store.documents({
          kind: ENTRY_KIND,
          task: settledOn(parts.now() - day * DAY),
          limit: MAX_ROWS,
        });
        quiet = rows.length === 0 ? quiet + 1 : 0;
        for (const row of rows.filter(({ body }) => fits(body)).slice(found.length - limit)) {
          const one = await readKept(store, row);
          if (one !== undefined) found.push(one.entry);
        }
      }
      return found.sort((a, b) => a.n - b.n);
    },
    async erase(task: TaskId): Promise<void> {
      const rows = await store.documents({ kind: BODY_KIND, task, limit: MAX_ROWS });
      for (const row of rows) await eraseOne(row);
    },
    async eraseBefore(before: number): Promise<number> {
      let erased = 0;
      for (let day = 0; day < MAX_DAYS; day++) {
        const rows = await store.documents({
          kind: ENTRY_KIND,
          task: settledOn(before - day * DAY),
          limit: MAX_ROWS,
        });
        for (const { id, body } of rows) {
          const said = await store.document(BODY_KIND, id);
          // A task's messages are erased with the task.
          if (said === undefined || TaskId.safeParse(said.task).success) continue;
          if (Number(body["settledAt"]) < before && await eraseOne(said)) erased += 1;
        }
      }
      return erased;
    },
  });
}
