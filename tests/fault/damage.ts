/** Ways to damage a log that lies still, each with the event that is then the first bad one. */
import { DatabaseSync } from "node:sqlite";

/** One kind of damage. */
export interface Damage {
  readonly name: string;
  /** Damages the database at `path`; gives the `seq` that must be named. */
  do(path: string): number | Promise<number>;
}

const TRIGGERS = ["events_no_update", "events_no_delete"];

/** Runs `f` with the guards of the table taken away, and puts them back: what an intruder would do. */
function unguarded<T>(path: string, f: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path);
  try {
    const guards = TRIGGERS.map((name) =>
      String(db.prepare("SELECT sql FROM sqlite_schema WHERE name = ?").get(name)?.["sql"])
    );
    for (const name of TRIGGERS) db.exec(`DROP TRIGGER ${name}`);
    const result = f(db);
    for (const sql of guards) db.exec(sql);
    return result;
  } finally {
    db.close();
  }
}

function bytesAt(db: DatabaseSync, sql: string, seq: number): Uint8Array {
  const value = db.prepare(sql).get(seq)?.["bytes"];
  if (!(value instanceof Uint8Array)) throw new Error(`no bytes at ${seq}`);
  return value;
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.with(at, (bytes[at] ?? 0) ^ 1);
}

function lastSeq(db: DatabaseSync): number {
  return Number(db.prepare("SELECT max(seq) AS n FROM events").get()?.["n"]);
}

const MIDDLE = 9;

/** Everything but a whole tail that is cut off: that shows only against a kept head. */
export const DAMAGES: readonly Damage[] = [
  {
    name: "a byte of an event's body",
    do: (path) =>
      unguarded(path, (db) => {
        const body = bytesAt(db, "SELECT body AS bytes FROM events WHERE seq = ?", MIDDLE);
        const sql = "UPDATE events SET body = ? WHERE seq = ?";
        db.prepare(sql).run(flipped(body, body.length - 3), MIDDLE);
        return MIDDLE;
      }),
  },
  {
    name: "a byte of an event's hash",
    do: (path) =>
      unguarded(path, (db) => {
        const hash = bytesAt(db, "SELECT hash AS bytes FROM events WHERE seq = ?", MIDDLE);
        db.prepare("UPDATE events SET hash = ? WHERE seq = ?").run(flipped(hash, 31), MIDDLE);
        return MIDDLE;
      }),
  },
  {
    name: "an event's time",
    do: (path) =>
      unguarded(path, (db) => {
        db.prepare("UPDATE events SET at = at + 1 WHERE seq = ?").run(MIDDLE);
        return MIDDLE;
      }),
  },
  {
    name: "a dropped event",
    do: (path) =>
      unguarded(path, (db) => {
        db.prepare("DELETE FROM events WHERE seq = ?").run(MIDDLE);
        return MIDDLE;
      }),
  },
  {
    name: "two events in each other's place",
    do: (path) =>
      unguarded(path, (db) => {
        const place = db.prepare("UPDATE events SET seq = ? WHERE seq = ?");
        place.run(1_000_000, MIDDLE);
        place.run(MIDDLE, MIDDLE + 1);
        place.run(MIDDLE + 1, 1_000_000);
        return MIDDLE;
      }),
  },
  {
    name: "a byte of the content of the first event",
    do: (path) =>
      unguarded(path, (db) => {
        const bytes = bytesAt(db, "SELECT bytes FROM blobs WHERE rowid = ?", 1);
        db.prepare("UPDATE blobs SET bytes = ? WHERE rowid = 1").run(flipped(bytes, 20));
        return 1;
      }),
  },
  {
    name: "a log that ends before its last seal",
    do: (path) =>
      unguarded(path, (db) => {
        db.prepare("DELETE FROM events WHERE seq = ?").run(lastSeq(db));
        // What no seal covers begins after the seal before.
        const seal = db.prepare(
          "SELECT max(seq) AS seq FROM events WHERE kind = (SELECT id FROM names WHERE name = 'seal')",
        ).get();
        return Number(seal?.["seq"]) + 1;
      }),
  },
  {
    name: "a byte of the file, where an event lies",
    async do(path): Promise<number> {
      const db = new DatabaseSync(path);
      const body = bytesAt(db, "SELECT body AS bytes FROM events WHERE seq = ?", MIDDLE);
      db.close();
      const file = await Deno.readFile(path);
      const at = find(file, body);
      await Deno.writeFile(path, flipped(file, at + body.length - 3));
      return MIDDLE;
    },
  },
  {
    name: "a file whose first page is gone",
    async do(path): Promise<number> {
      using file = await Deno.open(path, { write: true });
      await file.write(new Uint8Array(4_096));
      return 1;
    },
  },
];

function find(file: Uint8Array, part: Uint8Array): number {
  for (let at = 0; at <= file.length - part.length; at++) {
    if (part.every((byte, i) => file[at + i] === byte)) return at;
  }
  throw new Error("the event is not in the file");
}

/** Cuts off the last whole group of events, up to a seal: what is left is an intact, shorter log. */
export function cutTail(path: string): void {
  unguarded(path, (db) => {
    const kernel = db.prepare("SELECT id FROM names WHERE name = 'kernel'").get()?.["id"];
    const seals = db.prepare("SELECT seq FROM events WHERE task = ? ORDER BY seq DESC LIMIT 2");
    const before = Number(seals.all(Number(kernel))[1]?.["seq"]);
    db.prepare("DELETE FROM events WHERE seq > ?").run(before);
  });
}

/** Damages a question's or a task's record, which lies beside the events. */
export function spoilDocument(path: string): void {
  const db = new DatabaseSync(path);
  const sql = "UPDATE documents SET body = substr(body, 1, 20) WHERE kind = 'task'";
  db.prepare(sql).run();
  db.close();
}
