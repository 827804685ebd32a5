/** An event log in memory, with documents. @module */
import { Fault } from "../../contracts/base/mod.ts";
import type { DocumentRow, DocumentWrite, NewEvent } from "../../contracts/task/mod.ts";
import { sha256Hex } from "../../port/digest.ts";

/** A log in memory that can be full, and during whose commits a test can act. */
export interface FakeLog {
  readonly events: (NewEvent & { readonly task: string; readonly commit: number })[];
  readonly documents: Map<string, DocumentRow>;
  full: boolean;
  during: (() => void) | undefined;
  append(
    task: string,
    events: readonly NewEvent[],
    documents?: readonly DocumentWrite[],
  ): Promise<{ n: number; hash: ReturnType<typeof sha256Hex> }[]>;
  head(): ReturnType<typeof sha256Hex>;
}

/** Makes an empty log. */
export function fakeLog(): FakeLog {
  let commit = 0;
  const log: FakeLog = {
    events: [],
    documents: new Map(),
    full: false,
    during: undefined,
    head: () => sha256Hex("head"),
    append: async (task, events, documents = []) => {
      await Promise.resolve();
      if (log.full) throw new Fault("storeFull", "Cannot append: the disk is full");
      for (const write of documents) {
        const version = log.documents.get(write.id)?.version ?? 0;
        if (version !== write.expect) throw new Fault("conflict", `Cannot write ${write.id}`);
        const { kind, id, body } = write;
        log.documents.set(id, { kind, id, task: write.task, version: version + 1, body });
      }
      commit++;
      for (const event of events) log.events.push({ ...event, task, commit });
      const during = log.during;
      log.during = undefined;
      during?.();
      return events.map((_, n) => ({ n, hash: sha256Hex(`${n}`) }));
    },
  };
  return log;
}
