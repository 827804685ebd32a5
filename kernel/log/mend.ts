/** Mending a damaged log, on the explicit command: its intact part takes its place. @module */
import { openSqliteStore, replaceSqliteFile, type SqliteStore } from "../../store/sqlite/mod.ts";
import type { LogCareParts } from "./care.ts";

/** How the intact part is copied. */
export interface CopyHow {
  /** Also where all events are intact: something beside them is not. */
  readonly anyhow: true;
  /** Kinds of document that are made anew from events. */
  readonly projections: readonly string[];
}

/** What {@link makeMending} is handed. */
export interface MendingParts {
  readonly store: SqliteStore;
  /** Path of the damaged file. */
  readonly database: string;
  readonly note: LogCareParts["note"];
  copyTo(fresh: SqliteStore, how: CopyHow): Promise<object>;
  /** It is done: this kernel must end, for its store is another file now. */
  mended(): void;
  /** Milliseconds since 1970. */
  now(): number;
}

/** Makes the command. It resolves with what was kept and cut; the old file is kept beside the new. */
export function makeMending(parts: MendingParts): () => Promise<object> {
  const { store, database } = parts;
  return async () => {
    const stamp = parts.now();
    const path = `${database}.repaired-${stamp}`;
    const fresh = openSqliteStore({ path });
    // What is projected from a log that is cut would be ahead of it.
    const report = await parts.copyTo(fresh, { anyhow: true, projections: ["task", "taskIndex"] });
    await fresh.close();
    await store.close();
    const keepAs = `${database}.damaged-${stamp}`;
    replaceSqliteFile(database, { fresh: path, keepAs });
    await parts.note.remove();
    parts.mended();
    return { ...report, keptAs: keepAs };
  };
}
