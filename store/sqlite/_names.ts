/** Short numbers for the names of tasks and kinds. @module */
import type { DatabaseSync } from "node:sqlite";

/** Names kept in memory before the oldest knowledge is dropped. */
const MOST_KNOWN = 10_000;

/** The writer's side of the table `names`. */
export interface Names {
  /** The number of a name, given to it now if it has none. Within a transaction. */
  provide(name: string): number;
  /** Forgets what was learned: the transaction that gave the numbers was rolled back. */
  forget(): void;
}

/** Knows the names of one database. */
export function makeNames(db: DatabaseSync): Names {
  const find = db.prepare("SELECT id FROM names WHERE name = ?");
  const add = db.prepare("INSERT INTO names(name) VALUES(?)");
  const known = new Map<string, number>();
  return Object.freeze({
    provide(name: string): number {
      const have = known.get(name);
      if (have !== undefined) return have;
      const found = find.get(name)?.["id"];
      const id = typeof found === "number" ? found : Number(add.run(name).lastInsertRowid);
      if (known.size >= MOST_KNOWN) known.clear();
      known.set(name, id);
      return id;
    },
    forget: () => known.clear(),
  });
}
