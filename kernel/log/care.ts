/**
 * The care of the log: what is checked before anything runs over it, and what a person may ask for.
 * A damaged log is mended by the explicit command only. DESIGN section 6.
 * @module
 */
import {
  type Digest,
  Fault,
  type Store,
  TASK_TRANSITIONS,
  TaskStatus,
} from "../../contracts/mod.ts";

/** What a check of the whole log says. */
export interface LogReport {
  readonly ok: boolean;
  readonly events: number;
  readonly bad?: { readonly seq: number; readonly flaw: string; readonly why: string };
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
}

/** Events of a log that is checked whole at each start: some 50 ms. */
const SHORT = 1_000;
/** More documents of a kind than a store holds. */
const ALL = 10_000_000;

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
    if (found === undefined) return report;
    const why = `the events are intact, but not what lies beside them: ${found.message}`;
    return { ...report, ok: false, bad: { seq: report.events, flaw: "unreadable", why } };
  };

  const checkWhole = async (): Promise<void> => {
    const { bad } = await parts.verify(undefined);
    if (bad === undefined) return await note.remove();
    await note.write();
    throw new Fault("storeCorrupt", `Cannot trust the log: event ${bad.seq}: ${bad.why}`);
  };

  const unfinished = async (): Promise<readonly string[]> => {
    const tasks = await store.documents({ kind: "task", limit: ALL });
    return tasks.filter(({ body }) => {
      const status = TaskStatus.safeParse(body["status"]);
      return !status.success || TASK_TRANSITIONS[status.data].length > 0;
    }).map(({ id }) => id);
  };

  return Object.freeze({
    async check(): Promise<void> {
      if (found !== undefined) throw found;
      try {
        const short = (await store.events({ afterSeq: SHORT, limit: 1 })).length === 0;
        if (short || await note.read()) await checkWhole();
        else for (const task of await unfinished()) await parts.verifyChain(task);
        for (const kind of await store.documentKinds()) await store.documents({ kind, limit: ALL });
      } catch (error) {
        if (error instanceof Fault && error.code === "storeCorrupt") found = error;
        throw error;
      }
    },
    verify,
  });
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
