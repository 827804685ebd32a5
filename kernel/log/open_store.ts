/** Opens the kernel's database, also one that is damaged: then to look at it and to mend it. @module */
import { Fault } from "../../contracts/mod.ts";
import { openSqliteStore, type SqliteStore } from "../../store/sqlite/mod.ts";

/** A store, and what is wrong with its file. */
export interface Opened {
  readonly store: SqliteStore;
  readonly damage: Fault | undefined;
}

/** Opens the database at `path`. Where that cannot be, `end` is told why. */
export function openStore(path: string, end: (why: string) => never): Opened {
  try {
    return { store: openSqliteStore({ path }), damage: undefined };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (error.code !== "storeCorrupt") return end(error.message);
    try {
      // What can still be read is read, and nothing is written.
      return { store: openSqliteStore({ path, readOnly: true }), damage: error };
    } catch (worse) {
      if (!(worse instanceof Fault)) throw worse;
      return { store: unreadable(worse), damage: worse };
    }
  }
}

function unreadable(why: Fault): SqliteStore {
  const refuse = (): Promise<never> => Promise.reject(why);
  return Object.freeze<SqliteStore>({
    commit: refuse,
    events: refuse,
    heads: refuse,
    head: refuse,
    blob: refuse,
    eraseBlobs: refuse,
    document: refuse,
    documents: refuse,
    peek: () => {
      throw why;
    },
    documentKinds: refuse,
    close: () => Promise.resolve(),
  });
}
