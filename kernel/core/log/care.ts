/**
 * The care of the log: the checks before tasks run, and the commands that check and repair it. Only
 * the explicit repair command changes a damaged log. Wired in kernel/main.ts and main_work.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { TASK_TRANSITIONS, TaskStatus } from "../../../contracts/task/task.ts";
import type { Digest } from "../../../contracts/authority/mod.ts";
import type { Store } from "../../../contracts/task/mod.ts";
import { openSqliteStore, replaceSqliteFile, type SqliteStore } from "../../../store/sqlite/mod.ts";

/** The result of checking the whole log. */
export interface LogReport {
  readonly ok: boolean;
  readonly events: number;
  readonly bad?: { readonly seq: number; readonly flaw: string; readonly why: string };
}

/** A seal up to which the log is known to be intact. */
export interface CheckedSeal {
  readonly seq: number;
  readonly hash: Digest;
}

/** The result of checking the log's newest part. */
interface Checked {
  readonly reached: CheckedSeal;
  readonly bad?: LogReport["bad"];
}

/** The store, the checks, and the marks that survive a kernel. */
export interface LogCareParts {
  readonly store: Pick<Store, "events" | "documents"> & {
    documentKinds(): Promise<readonly string[]>;
  };
  /** The damage found while opening the file. */
  readonly damage: Fault | undefined;
  /** Checks the whole log. */
  verify(head: Digest | undefined): Promise<LogReport>;
  /** Checks the next events after an intact seal; undefined: from the beginning. */
  verifyFrom(from: CheckedSeal | undefined): Promise<Checked>;
  /** The last intact seal, kept between kernels in a folder that only kernels write. */
  readonly checked: {
    read(): Promise<CheckedSeal | undefined>;
    write(seal: CheckedSeal): Promise<void>;
  };
  /** Checks one task's chain; rejects `storeCorrupt`. */
  verifyChain(task: string): Promise<void>;
  /** A mark, kept between kernels, that the log is damaged. */
  readonly note: {
    read(): Promise<boolean>;
    write(): Promise<void>;
    remove(): Promise<void>;
  };
}

/** The checks of one log. */
export interface LogCare {
  /**
   * Rejects with `storeCorrupt` where no task may run. A short log, or one marked as damaged, is
   * checked whole; of a long log only the chains of unfinished tasks.
   */
  check(): Promise<void>;
  /** Checks the whole log; damage is marked, so that the next kernel runs no task. */
  verify(head: Digest | undefined): Promise<LogReport>;
  /**
   * Checks the events since the last check while other work goes on; true when they are bad. Damage
   * is marked as by `verify`. Resolves once the end of the log is reached.
   */
  keepUp(): Promise<boolean>;
}

/** Events of a log that is checked whole at each start: some 50 ms. */
const SHORT = 1_000;
/** Above any number of unfinished tasks. */
const ALL = 1_000_000;
/** Documents read at a time. */
const STEP = 200;
const UNFINISHED = TaskStatus.options.filter((each) => TASK_TRANSITIONS[each].length > 0);

/** Makes the care of a log. */
export function makeLogCare(parts: LogCareParts): LogCare {
  const { store, note } = parts;
  let found = parts.damage;

  const verify = async (head: Digest | undefined): Promise<LogReport> => {
    const report = await parts.verify(head);
    const { bad } = report;
    if (bad !== undefined) {
      // A missing tail leaves a shorter, intact log: it is reported, but stops no task.
      if (bad.flaw !== "cutTail") await note.write();
      return report;
    }
    return found === undefined ? report : besideEvents(report, found);
  };

  const checkWhole = async (): Promise<void> => {
    const { bad } = await parts.verify(undefined);
    if (bad === undefined) return await note.remove();
    await note.write();
    throw new Fault("storeCorrupt", `Cannot trust the log: event ${bad.seq}: ${bad.why}`);
  };

  const unfinished = async (): Promise<readonly string[]> => {
    const rows = await store.documents({ kind: "task", states: [...UNFINISHED, ""], limit: ALL });
    return rows.map(({ id }) => id);
  };

  const checkDocuments = async (): Promise<void> => {
    for (const kind of await store.documentKinds()) {
      let rows = await store.documents({ kind, limit: STEP });
      while (rows.length === STEP) {
        rows = await store.documents({ kind, after: rows.at(-1)?.id, limit: STEP });
      }
    }
  };

  let keeping: Promise<boolean> | undefined;
  const checkNew = async (): Promise<boolean> => {
    for (;;) {
      const from = await parts.checked.read();
      const { reached, bad } = await parts.verifyFrom(from);
      if (bad !== undefined) {
        await note.write();
        return true;
      }
      if (reached.seq === (from?.seq ?? 0)) return false;
      // Saved on the way, so that a kernel that ends meanwhile keeps its progress.
      await parts.checked.write(reached);
    }
  };

  return Object.freeze({
    async check(): Promise<void> {
      if (found !== undefined) throw found;
      try {
        const short = (await store.events({ afterSeq: SHORT, limit: 1 })).length === 0;
        if (short || await note.read()) {
          await checkWhole();
          await checkDocuments();
        } else for (const task of await unfinished()) await parts.verifyChain(task);
      } catch (error) {
        if (error instanceof Fault && error.code === "storeCorrupt") found = error;
        throw error;
      }
    },
    async verify(head: Digest | undefined): Promise<LogReport> {
      const report = await verify(head);
      if (!report.ok) return report;
      try {
        await checkDocuments();
        return report;
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== "storeCorrupt") throw error;
        await note.write();
        return besideEvents(report, error);
      }
    },
    keepUp: () => keeping ??= checkNew().finally(() => keeping = undefined),
  });
}

/** The report of intact events with damaged documents. */
function besideEvents(report: LogReport, why: Fault): LogReport {
  const text = `the events are intact, but not what lies beside them: ${why.message}`;
  return { ...report, ok: false, bad: { seq: report.events, flaw: "unreadable", why: text } };
}

/** The two commands of a kernel with tasks: they find damage and end the kernel; the next kernel repairs the log. */
export function careOverWork(care: Pick<LogCare, "verify">, endSoon: () => void): {
  auditVerify(head: Digest | undefined): Promise<LogReport>;
  auditRepair(): Promise<never>;
} {
  return Object.freeze({
    async auditVerify(head: Digest | undefined): Promise<LogReport> {
      const report = await care.verify(head);
      if (report.bad !== undefined && report.bad.flaw !== "cutTail") endSoon();
      return report;
    },
    async auditRepair(): Promise<never> {
      const { ok } = await care.verify(undefined);
      if (ok) throw new Fault("conflict", "Cannot repair the log: it is intact");
      endSoon();
      throw new Fault(
        "conflict",
        "Cannot repair the log while tasks may run: this kernel ends now; repeat the command",
      );
    },
  });
}

/** Options of copying the log's intact part. */
interface CopyHow {
  /** Copies even where all events are intact, because documents are damaged. */
  readonly anyhow: true;
  /** Kinds of document that are rebuilt from events. */
  readonly projections: readonly string[];
}

interface MendingParts {
  readonly store: SqliteStore;
  /** Path of the damaged file. */
  readonly database: string;
  readonly note: LogCareParts["note"];
  copyTo(fresh: SqliteStore, how: CopyHow): Promise<object>;
  /** Called after the repair: this kernel must end, because its store is another file now. */
  mended(): void;
  /** Milliseconds since 1970. */
  now(): number;
}

/** Makes the repair command, which resolves with counts of kept and cut events; the damaged file stays beside the new one. */
export function makeMending(parts: MendingParts): () => Promise<object> {
  const { store, database } = parts;
  return async () => {
    const stamp = parts.now();
    const path = `${database}.repaired-${stamp}`;
    const fresh = openSqliteStore({ path });
    // Projections of the damaged log would be ahead of a cut one.
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

/** An opened store and the damage of its file. */
interface Opened {
  readonly store: SqliteStore;
  readonly damage: Fault | undefined;
}

/** Opens the database at `path`. Calls `end` with the reason where that is impossible. */
export function openStore(path: string, end: (why: string) => never): Opened {
  try {
    return { store: openSqliteStore({ path }), damage: undefined };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (error.code !== "storeCorrupt") return end(error.message);
    try {
      // A damaged file is opened read-only: what is readable stays readable.
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
