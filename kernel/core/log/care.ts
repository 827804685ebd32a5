/**
 * The care of the log: what is checked before anything runs over it, and what a person may ask for.
 * A damaged log is mended by the explicit command only.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { TASK_TRANSITIONS, TaskStatus } from "../../../contracts/task/task.ts";
import type { Digest } from "../../../contracts/authority/mod.ts";
import type { Store } from "../../../contracts/task/mod.ts";
import { openSqliteStore, replaceSqliteFile, type SqliteStore } from "../../../store/sqlite/mod.ts";

/** What a check of the whole log says. */
export interface LogReport {
  readonly ok: boolean;
  readonly events: number;
  readonly bad?: { readonly seq: number; readonly flaw: string; readonly why: string };
}

/** A seal up to which a log was found intact. */
export interface CheckedSeal {
  readonly seq: number;
  readonly hash: Digest;
}

/** What a check of the log's newest part says. */
interface Checked {
  readonly reached: CheckedSeal;
  readonly bad?: LogReport["bad"];
}

/** What {@link makeLogCare} is handed. */
export interface LogCareParts {
  readonly store: Pick<Store, "events" | "documents"> & {
    documentKinds(): Promise<readonly string[]>;
  };
  /** What was wrong when the file was opened. */
  readonly damage: Fault | undefined;
  /** Checks the whole log. */
  verify(head: Digest | undefined): Promise<LogReport>;
  /** Checks some of what came after a seal that was found intact; absent: from the beginning. */
  verifyFrom(from: CheckedSeal | undefined): Promise<Checked>;
  /** How far the log was found intact, kept between kernels where they alone write. */
  readonly checked: {
    read(): Promise<CheckedSeal | undefined>;
    write(seal: CheckedSeal): Promise<void>;
  };
  /** Checks one task's chain; rejects `storeCorrupt`. */
  verifyChain(task: string): Promise<void>;
  /** A note, kept between kernels, that the log was found damaged. */
  readonly note: {
    read(): Promise<boolean>;
    write(): Promise<void>;
    remove(): Promise<void>;
  };
}

/** The care of one log. */
export interface LogCare {
  /**
   * Rejects `storeCorrupt` where nothing may run. A short log, and one that was found damaged
   * before, is checked whole; of a long one, the chains of the tasks that would be gone on with.
   */
  check(): Promise<void>;
  /** Checks the whole log; damage is noted, so that the next kernel refuses to run over it. */
  verify(head: Digest | undefined): Promise<LogReport>;
  /**
   * Checks what came since the last check, beside whatever else goes on; true when it is bad. Damage is noted as
   * `verify` does. Resolves when all that was there has been checked.
   */
  keepUp(): Promise<boolean>;
}

/** Events of a log that is checked whole at each start: some 50 ms. */
const SHORT = 1_000;
/** More tasks than a person leaves unfinished. */
const ALL = 1_000_000;
/** Documents that are read in one go. */
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
      // A tail that is cut off leaves a shorter, intact log: it is reported, and stops nothing.
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
      // Kept on the way: a kernel that ends meanwhile has not checked in vain.
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

/** The report of a log whose events are intact, over documents that are not. */
function besideEvents(report: LogReport, why: Fault): LogReport {
  const said = `the events are intact, but not what lies beside them: ${why.message}`;
  return { ...report, ok: false, bad: { seq: report.events, flaw: "unreadable", why: said } };
}

/** The two commands where tasks may be at work: they find damage, and the next kernel mends it. */
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

/** How the intact part is copied. */
interface CopyHow {
  /** Also where all events are intact: something beside them is not. */
  readonly anyhow: true;
  /** Kinds of document that are made anew from events. */
  readonly projections: readonly string[];
}

interface MendingParts {
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

/** A store, and what is wrong with its file. */
interface Opened {
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
