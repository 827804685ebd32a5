/** Powers that stop at a chosen step, as in a crash, or find the disk full. @module */
import type { WikiFiles } from "../files/wiki_folder.ts";
import type { StorePowers } from "../inside.ts";
import type { Database } from "../sqlite/database.ts";
import { wikiStorePowers } from "../store_powers.ts";

/** The error that ends the process of {@link dyingPowers}. */
export class Died extends Error {}

/** Powers that count their changes. */
export interface Dying {
  readonly powers: StorePowers;
  /** From now on, the step with this number, from 1, fails as in a crash. */
  dieAt(step: number): void;
  /** From now on, writing finds the disk full after this many files. */
  fullAfter(writes: number): void;
  heal(): void;
  /** Steps since the last of these calls. */
  steps(): number;
  /** Releases what the dead process held. */
  bury(): void;
}

/** The mutating methods of files and of the database. */
const FILE_STEPS = ["write", "writeAll", "append", "rename", "remove", "syncFolder"] as const;
const DATABASE_STEPS = ["insert", "transaction"] as const;

/** Real powers until a test says otherwise. */
export function dyingPowers(): Dying {
  const real = wikiStorePowers();
  const open: Database[] = [];
  let [steps, last, room, dead] = [0, Infinity, Infinity, false];

  function step<A extends readonly unknown[], R>(f: (...values: A) => R): (...values: A) => R {
    return (...values) => {
      steps += 1;
      if (steps >= last) dead = true;
      if (dead) throw new Died(`at step ${steps}`);
      return f(...values);
    };
  }

  function written<A extends readonly unknown[], R>(
    f: (...values: A) => R,
    count: (...values: A) => number,
  ): (...values: A) => R {
    return (...values) => {
      room -= count(...values);
      if (room < 0) throw Object.assign(new Error("no room"), { code: "ENOSPC" });
      return f(...values);
    };
  }

  function filesOf(files: WikiFiles): WikiFiles {
    const made = { ...files };
    made.write = written(files.write, () => 1);
    made.writeAll = written(files.writeAll, (list) => list.length);
    made.append = written(files.append, () => 1);
    const stepping: Record<string, unknown> = {};
    for (const name of FILE_STEPS) {
      stepping[name] = step(made[name] as (...values: unknown[]) => unknown);
    }
    return { ...made, ...stepping };
  }

  function databaseOf(db: Database): Database {
    open.push(db);
    const stepping: Record<string, unknown> = {};
    for (const name of DATABASE_STEPS) {
      stepping[name] = step(db[name] as (...values: unknown[]) => unknown);
    }
    return { ...db, ...stepping };
  }

  const reset = (): void => {
    [steps, last, room, dead] = [0, Infinity, Infinity, false];
  };

  return {
    powers: {
      ...real,
      files: filesOf(real.files),
      openDatabase: (options) => databaseOf(real.openDatabase(options)),
    },
    dieAt(at) {
      reset();
      last = at;
    },
    fullAfter(writes) {
      reset();
      room = writes;
    },
    heal: reset,
    steps: () => steps,
    bury() {
      for (const db of open.splice(0)) db.close();
    },
  };
}
