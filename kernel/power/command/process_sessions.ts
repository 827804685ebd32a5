/**
 * Process sessions: programs of this machine that go on after the call that started them, behind the
 * walls of a run and over copies of their own. What one changed is staged when its owner ends it;
 * a session that ends otherwise leaves nothing.
 * @module
 */
import { mixColour, mixLabel } from "../../../contracts/authority/colour.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { Pid, TaskId } from "../../../contracts/authority/ids.ts";
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
import { cancelled, held } from "./run.ts";
import { kept } from "./copies.ts";
import { type CommandsParts, countProgram } from "./commands.ts";
import { type Deadline, makeDeadline } from "../../core/process/limits.ts";
import { makeSessionBook, type Session } from "./process_book.ts";
import type { LiveProgram } from "./process_live.ts";
import type { LongRunPowers } from "./process_powers.ts";
import { openRoom, type Room } from "./process_room.ts";
import type { SpawnPowers } from "../../core/start/spawn.ts";
import { makeTurns, type Turns } from "../toolhost/toolhost.ts";

/** Milliseconds that copying, and collecting, may take. */
const COPY_MS = 60_000;
/** Milliseconds between two looks at whether the owners still live. */
const OWNERS_MS = 1_000;

/** What {@link makeProcessSessions} is handed. */
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

/** The sessions of all tasks, and what the kernel does with them. */
export interface TaskSessions extends ProcessSessions {
  /** SIGSTOP and SIGCONT: the clocks of a process's sessions stand still. */
  freeze(pid: Pid): void;
  thaw(pid: Pid): void;
  /** Operating-system processes of a task, for `ps`. */
  osPids(task: TaskId): readonly number[];
  /** Drops a task's sessions; resolves when they are gone. */
  close(task: TaskId): Promise<void>;
}

/** Makes the sessions of a kernel. */
export function makeProcessSessions(parts: ProcessSessionsParts): TaskSessions {
  const { powers, leases, walls } = parts;
  const book = makeSessionBook(walls);
  const turns = new Map<TaskId, Turns>();
  const frozen = new Set<Pid>();
  let watching = false;

  const keepDeadline = (entry: Session, ms: number, due: () => void): Deadline => {
    const deadline = makeDeadline(powers, ms, due);
    entry.deadlines.add(deadline);
    if (frozen.has(entry.run.pid)) deadline.freeze();
    return deadline;
  };
  const dropDeadline = (entry: Session, deadline: Deadline | undefined): void => {
    deadline?.cancel();
    if (deadline !== undefined) entry.deadlines.delete(deadline);
  };

  /** Takes a session out of the world. */
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
    // What was never started is nobody's to ask about.
    if (entry.room !== undefined) book.forget(entry, fault);
    entry.dropped.abort(fault);
    void clear(entry);
  };
  const lost = (entry: Session, how: string): string =>
    `Cannot go on with this session of ${entry.run.command.name}: ${how}; nothing of it was staged`;

  leases.onEnd((lease, why) => {
    for (const entry of book.all()) {
      if (!entry.leases.some(({ id }) => id === lease.id)) continue;
      const [code, how] = why === "revoked"
        ? ["leaseRevoked", "its lease was taken back"] as const
        : ["leaseExpired", "its lease has expired"] as const;
      drop(entry, new Fault(code, lost(entry, how)));
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

  /** Waits for a step of a session, but not past its end, nor longer than it may take. */
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

  /** A session in use: its idle clock begins anew. */
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

  /** What a session starts with; where it may not, nothing of it is counted any more. */
  const admitted = (run: SessionStart, release: () => void) => {
    try {
      const walled = book.admit(run), folders = parts.folders(run.task);
      if (folders !== undefined) return { walled, folders };
      throw new Fault("gone", `Cannot start ${run.command.name}: the task has ended`);
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
    const { walled, folders } = admitted(run, release);
    const entry: Session = {
      ...{ id: `s${powers.token()}`, run, leases: held(leases, run), deadlines: new Set() },
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

  const mine = (pid: Pid): readonly Deadline[] =>
    book.all().flatMap(({ run, deadlines }) => run.pid === pid ? [...deadlines] : []);

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
    freeze(pid: Pid): void {
      frozen.add(pid);
      for (const deadline of mine(pid)) deadline.freeze();
    },
    thaw(pid: Pid): void {
      frozen.delete(pid);
      for (const deadline of mine(pid)) deadline.thaw();
    },
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
