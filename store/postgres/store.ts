/** The store's contract on PostgreSQL: one kernel's log in a database that many kernels share. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { isObject, type Json } from "../../contracts/base/json.ts";
import type {
  Batch,
  DocumentRow,
  DocumentWrite,
  EventRow,
  Store,
  StoredEvent,
} from "../../contracts/task/store.ts";
import { pendingMigrations } from "../migrations.ts";
import type { Engine } from "./engine_powers.ts";
import { damagedRow } from "../_rows.ts";
import { BLOB, documentQuery, eventQuery, headQuery, type Query, type Value } from "./_queries.ts";
import { documentOf, eventOf, integer, textOf } from "./_rows.ts";
import { POSTGRES_MIGRATIONS } from "./schema.ts";

/** A process's identity in the database. */
export interface Identity {
  /** The kernel's number. */
  readonly id: number;
  /** The number of the kernel's process: a later registration fences this one. */
  readonly incarnation: number;
}

/** The store of one kernel. It has no `peek`: the port's other end keeps the documents for that. */
export interface PostgresStore extends Omit<Store, "peek"> {
  readonly identity: Identity;
  documentKinds(): Promise<readonly string[]>;
  /** Records a task that this process has taken over, with its new epoch. */
  holds(task: string, epoch: number): void;
}

export interface PostgresOptions {
  readonly engine: Engine;
  /** The kernel's name in the fleet. */
  readonly kernel: string;
  /** Milliseconds of its lease without a renewal. */
  readonly leaseMs: number;
  /** This machine's name in the mounts of tasks. */
  readonly machine: string;
}

const TASK = /^t[0-9a-z]{12}$/;
/** Lock that serializes the migrations of processes that start together. "Remt". */
const MIGRATION_LOCK = 0x52656d74;

/**
 * Migrates a database to the present schema, each step in one transaction; returns the number of steps done.
 * @throws Fault `refused` where the role may not migrate, `unavailable` for a newer schema
 */
export async function migrate(
  engine: Engine,
  list: typeof POSTGRES_MIGRATIONS = POSTGRES_MIGRATIONS,
): Promise<number> {
  let done = 0;
  for (;;) {
    const [step] = pendingMigrations(await schemaVersion(engine), list);
    if (step === undefined) return done;
    const first = step.version === 1
      ? "CREATE SCHEMA remit; CREATE TABLE remit.schema_version(version int NOT NULL, name text NOT NULL);"
      : "";
    // Checked again under the lock: another process may have migrated during the wait.
    await engine.script(
      `SELECT pg_advisory_xact_lock(${MIGRATION_LOCK});` +
        `DO $check$ BEGIN IF ${
          versionTest(step.version)
        } THEN RAISE EXCEPTION 'done' USING ERRCODE = 'RM003'; ` +
        `END IF; END $check$; ${first} ${step.sql}; ` +
        `INSERT INTO remit.schema_version(version, name) VALUES (${step.version}, '${step.name}');` +
        "GRANT SELECT ON remit.schema_version TO remit_kernels;",
    ).then(() => done++, (error: unknown) => {
      if (!(error instanceof Fault) || error.code !== "conflict") throw error;
    });
  }
}

function versionTest(version: number): string {
  return version === 1
    ? "to_regclass('remit.schema_version') IS NOT NULL"
    : `EXISTS (SELECT 1 FROM remit.schema_version WHERE version >= ${version})`;
}

async function schemaVersion(engine: Engine): Promise<number> {
  const [there] = await engine.write(
    "SELECT (to_regclass('remit.schema_version') IS NOT NULL)::text AS there",
    [],
  );
  if (there?.["there"] !== "true") return 0;
  const [row] = await engine.write("SELECT max(version) AS version FROM remit.schema_version", []);
  return Number(row?.["version"] ?? 0);
}

/**
 * Registers as a kernel, which fences its former process, and opens its log.
 * @throws Fault `unavailable` without a schema of this version, `refused` for another role's kernel
 */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const { engine, kernel, leaseMs, machine } = options;
  const version = await schemaVersion(engine);
  const [missing] = pendingMigrations(version, POSTGRES_MIGRATIONS);
  if (missing !== undefined) {
    throw new Fault(
      "unavailable",
      `Cannot open the store: its schema is version ${version}, this Remit needs ${
        POSTGRES_MIGRATIONS.at(-1)?.version
      }; open it once with a role that may create it`,
    );
  }
  const [row] = await engine.write("SELECT * FROM remit.register($1, $2)", [kernel, leaseMs]);
  if (row === undefined) throw damagedRow("this kernel");
  const what = "this kernel";
  const identity = Object.freeze({
    id: integer(row, "id", what),
    incarnation: integer(row, "incarnation", what),
  });
  const held = new Map<string, number>();
  for (
    const each of await engine.write("SELECT task, epoch FROM remit.tasks WHERE owner = $1", [
      identity.id,
    ])
  ) held.set(textOf(each, "task", "a task"), integer(each, "epoch", "a task"));
  let turn = integer(row, "last_commit", what);
  let writing: Promise<unknown> = Promise.resolve();

  async function commit(batch: Batch): Promise<void> {
    const tasks = tasksOf(batch);
    const epochs = tasks.map((task) => held.get(task) ?? 0);
    await engine.write(APPEND, [
      ...[identity.id, identity.incarnation, turn + 1],
      ...[tasks, epochs, tasks.map((task) => homesOf(batch, task, machine))],
      ...valuesOf(batch),
    ]);
    turn++;
    for (const task of tasks) if (!held.has(task)) held.set(task, 1);
  }

  const inOrder = <T>(work: () => Promise<T>): Promise<T> => {
    const done = writing.then(work, work);
    writing = done.catch(() => undefined);
    return done;
  };
  return Object.freeze<PostgresStore>({
    identity,
    commit: (batch) => inOrder(() => commit(batch)),
    eraseBlobs: (task) =>
      inOrder(async () => {
        const [gone] = await engine.write("SELECT remit.erase($1, $2, $3) AS gone", [
          ...[identity.id, identity.incarnation, task],
        ]);
        return gone === undefined ? 0 : integer(gone, "gone", "what was erased");
      }),
    holds: (task, epoch) => void held.set(task, epoch),
    ...makeReader(engine, identity.id),
    close: () => writing.then(() => engine.close()),
  });
}

/** Makes the queries over kernel `k`'s log. */
export function makeReader(
  engine: Pick<Engine, "read">,
  k: number,
): Pick<
  PostgresStore,
  "events" | "heads" | "head" | "blob" | "document" | "documents" | "documentKinds"
> {
  const ask = ({ sql, values }: Query): ReturnType<Engine["read"]> => engine.read(sql, values);
  return {
    events: async (query): Promise<readonly StoredEvent[]> =>
      (await ask(eventQuery(k, query))).map(eventOf),
    heads: async (query = {}): Promise<readonly EventRow[]> =>
      (await ask(headQuery(k, query))).map(eventOf),
    async head(task): Promise<EventRow | undefined> {
      const [row] = await ask(eventQuery(k, { task, newest: true, limit: 1 }));
      return row === undefined ? undefined : eventOf(row);
    },
    async blob(task, digest) {
      const [row] = await engine.read(BLOB, [k, task, digest]);
      if (row === undefined) return undefined;
      const bytes = (key: string): Uint8Array => {
        try {
          return Uint8Array.fromBase64(textOf(row, key, "content"));
        } catch (error) {
          throw damagedRow("content", error);
        }
      };
      return Object.freeze({ salt: bytes("salt"), bytes: bytes("bytes") });
    },
    async document(kind, id): Promise<DocumentRow | undefined> {
      const [row] = await engine.read(
        "SELECT kind, id, task, version, body FROM remit.documents WHERE kernel = $1 AND kind = $2 AND id = $3",
        [k, kind, id],
      );
      return row === undefined ? undefined : documentOf(row);
    },
    documents: async (query) => (await ask(documentQuery(k, query))).map(documentOf),
    documentKinds: async () =>
      (await engine.read(
        "SELECT DISTINCT kind FROM remit.documents WHERE kernel = $1 ORDER BY kind",
        [k],
      )).map((row) => textOf(row, "kind", "a document")),
  };
}

const APPEND = `SELECT remit.append(${
  Array.from({ length: 23 }, (_, i) => `$${i + 1}`).join(",")
}) AS seq`;

/** A batch as columns, in the order of the function's parameters. */
function valuesOf({ events, blobs, documents }: Batch): readonly Value[] {
  return [
    events.map((e) => e.task),
    events.map((e) => e.n),
    events.map((e) => e.kind),
    events.map((e) => e.at),
    events.map((e) => e.hash),
    events.map((e) => e.adopted === true ? "" : e.body),
    events.map((e) => e.adopted === true ? 1 : 0),
    blobs.map((b) => b.task),
    blobs.map((b) => b.digest),
    blobs.map((b) => b.salt.toBase64()),
    blobs.map((b) => b.bytes.toBase64()),
    documents.map((d) => d.kind),
    documents.map((d) => d.id),
    documents.map((d) => d.task),
    documents.map((d) => d.expect),
    documents.map(stateOf),
    documents.map((d) => JSON.stringify(d.body)),
  ];
}

/** The tasks of a batch, without duplicates. */
function tasksOf({ events, blobs, documents }: Batch): readonly string[] {
  const names = [...events, ...blobs, ...documents].map(({ task }) => task);
  return [...new Set(names)].filter((name) => TASK.test(name));
}

/** The machines on which a task that begins with this batch can run, as a JSON list: empty without mounts. */
function homesOf({ documents }: Batch, task: string, machine: string): string {
  const body = documents.find((d) => d.kind === "task" && d.id === task)?.body;
  const mounts = body?.["mounts"];
  return JSON.stringify(Array.isArray(mounts) && mounts.length > 0 ? [machine] : []);
}

/** A document's state, as the embedded engine computes it (store/migrations.ts). */
function stateOf({ kind, body }: DocumentWrite): string {
  const text = (value: Json | undefined): string => typeof value === "string" ? value : "";
  switch (kind) {
    case "task":
      return body["archived"] === true ? "archived" : text(body["status"]);
    case "question": {
      const { question } = body;
      return isObject(question) ? text(question["state"]) : "";
    }
    case "exchange": {
      if (body["erased"] === true) return "over";
      const { pushes, state } = body;
      const over = ["completed", "failed", "canceled", "rejected"].includes(text(state));
      return over && (!Array.isArray(pushes) || pushes.length === 0) ? "over" : "";
    }
    default:
      return "";
  }
}

/**
 * Makes a kernel's login role, `remit_NAME`, or gives it a new password; returns the password.
 * @throws Fault `refused` where this role may not make roles
 */
export async function enroll(engine: Engine, name: string): Promise<string> {
  if (!/^[a-z0-9][a-z0-9_-]{0,47}$/.test(name)) {
    throw new Fault(
      "invalidInput",
      "Cannot enroll a kernel: its name holds small letters, digits, - and _",
    );
  }
  const password = engine.secret();
  const role = `"remit_${name}"`;
  await engine.script(
    `DO $make$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'remit_${name}') THEN ` +
      `CREATE ROLE ${role} LOGIN; END IF; END $make$; ` +
      `ALTER ROLE ${role} PASSWORD '${password}'; GRANT remit_kernels TO ${role};`,
  );
  return password;
}
