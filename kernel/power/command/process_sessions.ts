/**
 * Process sessions: programs of this machine that outlive the call that started them, behind the
 * walls of a run and over copies of their own. A session's changes are staged when its owner closes
 * it; a session that ends otherwise leaves nothing. Wired in kernel/main_tools.ts and
 * kernel/task/task_tools.ts.
 * @module
 */
import { mixColour, mixLabel } from "../../../contracts/authority/colour.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { TaskId } from "../../../contracts/authority/ids.ts";
import type { ProcessKeeper } from "../../../contracts/task/process.ts";
import {
  type ProcessSessions,
  SESSION_IDLE_MS,
  type SessionEnd,
  type SessionFacts,
  type SessionOutput,
  type SessionOwner,
  type SessionStart,
  type SessionTaint,
} from "../../../contracts/tool/process_session.ts";
import { leaseEnded, leasesOf } from "../../core/lease/leases.ts";
import { cancelled } from "./run.ts";
import { kept } from "./copies.ts";
import { type CommandsParts, countProgram } from "./commands.ts";
import { type Deadline, makeDeadlines, type TaskPrograms } from "../../core/process/limits.ts";
import { makeSessionBook, type Session } from "./process_book.ts";
import type { LiveProgram } from "./process_live.ts";
import type { LongRunPowers } from "./process_powers.ts";
import { openRoom, type Room } from "./process_room.ts";
import type { SpawnPowers } from "../../core/start/spawn.ts";
import { makeTurns, type Turns } from "../toolhost/toolhost.ts";

/** Milliseconds for copying, and for collecting. */
const COPY_MS = 60_000;
/** Milliseconds between checks that the owners still live. */
const OWNERS_MS = 1_000;

/** The kernel's parts for sessions. */
export interface ProcessSessionsParts extends
  Pick<
    CommandsParts,
    | "config"
    | "bundle"
    | "walls"
    | "leases"
    | "powers"
    | "disk"
    | "folders"
    | "pins"
    | "contents"
    | "uses"
  > {
  readonly spawn: Pick<SpawnPowers, "start" | "succeeds">;
  readonly programs: LongRunPowers;
  readonly processes: Pick<ProcessKeeper, "get">;
}

/** The sessions of all tasks, with the kernel's own operations. */
export interface TaskSessions extends ProcessSessions, TaskPrograms {}

/** Makes the sessions of a kernel. */
export function makeProcessSessions(parts: ProcessSessionsParts): TaskSessions {
  const { powers, leases, walls } = parts;
  const book = makeSessionBook(walls);
  const turns = new Map<TaskId, Turns>();
  const clocks = makeDeadlines(powers);
  let watching = false;

  const keepDeadline = (entry: Session, ms: number, due: () => void): Deadline => {
    const deadline = clocks.start(entry.run.pid, ms, due);
    entry.deadlines.add(deadline);
    return deadline;
  };
  const dropDeadline = (entry: Session, deadline: Deadline | undefined): void => {
    deadline?.cancel();
    if (deadline !== undefined) entry.deadlines.delete(deadline);
  };

  /** Removes a session and its resources. */
  const clear = async (entry: Session): Promise<void> => {
    for (const deadline of entry.deadlines) deadline.cancel();
    entry.deadlines.clear();
    await entry.opening?.then((room) => room.close(), () => undefined);
    book.remove(entry);
    entry.gone.resolve();
  };
  const drop = (entry: Session, fault: Fault): void => {
    if (entry.ending !== undefined) return;
    entry.ending = fault;
    // A session that never started has no known id.
    if (entry.room !== undefined) book.forget(entry, fault);
    entry.dropped.abort(fault);
    void clear(entry);
  };
  const lost = (entry: Session, how: string): string =>
    `Cannot go on with this session of ${entry.run.command.name}: ${how}; nothing of it was staged`;

  leases.onEnd((lease, why) => {
    for (const entry of book.all()) {
      if (!entry.leases.some(({ id }) => id === lease.id)) continue;
      drop(entry, leaseEnded(why, (how) => lost(entry, how)));
    }
  });
  const watchOwners = (): void => {
    if (watching) return;
    watching = true;
    powers.after(OWNERS_MS, () => {
      watching = false;
      for (const entry of book.all()) {
        const owner = parts.processes.get(entry.run.pid);
        if (owner !== undefined && owner.status !== "ended") continue;
        drop(entry, new Fault("gone", lost(entry, "its process has ended")));
      }
      if (book.all().length > 0) watchOwners();
    });
  };

  /** Waits for a step of a session, at most COPY_MS and not past the session's end. */
  const within = async <T>(
    entry: Session,
    work: Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> => {
    const late = new Fault("timedOut", lost(entry, `its files took more than ${COPY_MS} ms`));
    const deadline = keepDeadline(entry, COPY_MS, () => drop(entry, late));
    const cancel = (): void => drop(entry, cancelled(entry.run));
    const { promise: ending, reject } = Promise.withResolvers<never>();
    const fail = (): void => reject(entry.ending);
    entry.dropped.signal.addEventListener("abort", fail, { once: true });
    signal?.addEventListener("abort", cancel, { once: true });
    if (signal?.aborted === true) cancel();
    try {
      return await Promise.race([work, ending]);
    } catch (error) {
      throw entry.ending ?? error;
    } finally {
      dropDeadline(entry, deadline);
      entry.dropped.signal.removeEventListener("abort", fail);
      signal?.removeEventListener("abort", cancel);
    }
  };
  const inTurn = <T>(task: TaskId, work: () => Promise<T>): Promise<T> => {
    let line = turns.get(task);
    if (line === undefined) turns.set(task, line = makeTurns());
    return line.run(true, work);
  };

  /** Finds a session and restarts its idle clock. */
  const use = (
    owner: SessionOwner,
    id: string,
  ): { readonly entry: Session; readonly program: LiveProgram; readonly room: Room } => {
    const { session: entry, room } = book.find(owner, id);
    dropDeadline(entry, entry.idle);
    const why = `nobody used it for ${SESSION_IDLE_MS} ms`;
    entry.idle = keepDeadline(
      entry,
      SESSION_IDLE_MS,
      () => drop(entry, new Fault("timedOut", lost(entry, why))),
    );
    return { entry, room, program: room.program };
  };
  const mix = (entry: Session, { colour, label }: SessionTaint): void => {
    entry.taint = {
      colour: mixColour(entry.taint.colour, colour),
      label: mixLabel(entry.taint.label, label),
    };
  };

  /** The walls, folders and leases of a new session; where it may not start, its budgets are released. */
  const admit = (run: SessionStart, release: () => void) => {
    try {
      const walled = book.admit(run), folders = parts.folders(run.task);
      if (folders === undefined) {
        throw new Fault("gone", `Cannot start ${run.command.name}: the task has ended`);
      }
      // A lease may have ended while the budgets were counted.
      return { walled, folders, held: leasesOf(leases, { ...run, name: run.command.name }) };
    } catch (error) {
      release();
      throw error;
    }
  };
  const start: ProcessSessions["start"] = async (run, signal) => {
    book.admit(run);
    const { threads, release } = await countProgram(
      ...[parts.uses, run, `start ${run.command.name}`] as const,
    );
    const { walled, folders, held } = admit(run, release);
    const entry: Session = {
      ...{ id: `s${powers.token()}`, run, deadlines: new Set() },
      leases: held,
      ...{ opening: undefined, room: undefined, idle: undefined, taint: run, ending: undefined },
      ...{ dropped: new AbortController(), gone: Promise.withResolvers<void>() },
    };
    void entry.gone.promise.then(release);
    book.add(entry);
    watchOwners();
    try {
      entry.opening = inTurn(run.task, () =>
        openRoom({ ...parts, walls: walled }, {
          ...{ run, folders, threads, dropped: entry.dropped.signal },
          onTooMuch: (fault) => drop(entry, fault),
        }));
      const room = await within(entry, entry.opening, signal);
      mix(entry, room.read);
      entry.room = room;
      const died = keepDeadline(
        entry,
        run.lifeMs,
        () => room.program.kill(`its time was up (${run.lifeMs} ms)`),
      );
      void room.program.ended.then(() => dropDeadline(entry, died));
    } catch (error) {
      entry.ending ??= error instanceof Fault ? error : cancelled(run);
      entry.dropped.abort(entry.ending);
      await clear(entry);
      throw error;
    }
    use(run, entry.id);
    return { id: entry.id, ...entry.taint };
  };

  const finish: ProcessSessions["finish"] = async (owner, id, { bytes }, signal) => {
    const { entry, room, program } = use(owner, id);
    const { run } = entry;
    try {
      return await within(
        entry,
        inTurn(run.task, async (): Promise<SessionEnd> => {
          await program.end("it was closed");
          const output = await program.poll({ waitMs: 0, bytes, newest: true }, signal);
          const collected = await room.collect(entry.taint);
          const { withheld } = room.read;
          return {
            ...{ ...output, ...entry.taint, withheld },
            ...kept(collected, room.before, room.folders),
          };
        }),
        signal,
      );
    } finally {
      if (entry.ending === undefined) {
        const fault = new Fault("gone", `Cannot find this session of ${run.command.name}: closed`);
        entry.ending = fault;
        book.forget(entry, fault);
        await clear(entry);
      }
    }
  };

  return Object.freeze<TaskSessions>({
    start,
    finish,
    look(owner, id): SessionFacts {
      const { run: { command, args, cwd, scopes, terminal }, taint } = book.find(owner, id).session;
      return { command, args, cwd, scopes, ...taint, terminal: terminal !== undefined };
    },
    async poll(owner, id, options, signal): Promise<SessionOutput> {
      const { entry, program } = use(owner, id);
      const both = AbortSignal.any([signal, entry.dropped.signal]);
      try {
        return { ...await program.poll(options, both), ...entry.taint };
      } catch (error) {
        throw entry.ending ?? error;
      }
    },
    async write(owner, id, input) {
      const { entry, program } = use(owner, id);
      mix(entry, input);
      return await program.write(input.text, input.end);
    },
    async signal(owner, id, sent) {
      const { entry, program } = use(owner, id);
      mix(entry, sent);
      return await program.signal(sent.signal);
    },
    ...{ freeze: clocks.freeze, thaw: clocks.thaw },
    osPids: (task: TaskId) => book.ofTask(task).flatMap(({ room }) => room?.osPids() ?? []),
    async close(task: TaskId): Promise<void> {
      const ending = book.ofTask(task);
      for (const entry of ending) drop(entry, new Fault("gone", lost(entry, "its task has ended")));
      await Promise.all(ending.map(({ gone }) => gone.promise));
      turns.delete(task);
      book.close(task);
    },
  });
}
