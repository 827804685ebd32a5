/** Opens the kernel's database, also one that is damaged: then to look at it and to mend it. @module */
import { Fault } from "../contracts/mod.ts";
import { openSqliteStore, type SqliteStore } from "../store/sqlite/mod.ts";

/** A store, and what is wrong with its file. */
export interface Opened {
  readonly store: SqliteStore;
  readonly damage: Fault | undefined;
}

/** Opens the database at `path`. @throws Fault `storeFull`, `refused`, `unavailable`, `conflict`. */
export function openStore(path: string): Opened {
  try {
    return { store: openSqliteStore({ path }), damage: undefined };
  } catch (error) {
    if (!isDamage(error)) throw error;
    try {
      // What can still be read is read, and nothing is written.
      return { store: openSqliteStore({ path, readOnly: true }), damage: error };
    } catch (worse) {
      if (!isDamage(worse)) throw worse;
      return { store: unreadable(worse), damage: worse };
    }
  }
}

function isDamage(error: unknown): error is Fault {
  return error instanceof Fault && error.code === "storeCorrupt";
}

function unreadable(why: Fault): SqliteStore {
  const refuse = (): Promise<never> => Promise.reject(why);
  return Object.freeze<SqliteStore>({
    commit: refuse,
    events: refuse,
    heads: refuse,
    blob: refuse,
    eraseBlobs: refuse,
    document: refuse,
    documents: refuse,
    documentKinds: refuse,
    close: () => Promise.resolve(),
  });
}
