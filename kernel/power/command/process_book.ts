/** The sessions of a kernel, their owners, and the reasons of dropped ones. Used by process_sessions.ts. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { SESSIONS_EACH } from "../../../contracts/tool/process_session.ts";
import type { Lease, TaskId } from "../../../contracts/authority/mod.ts";
import type { SessionOwner, SessionStart, SessionTaint } from "../../../contracts/tool/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { unavailable } from "./run.ts";
import type { CommandWalls } from "../../core/start/walls.ts";
import type { Deadline } from "../../core/process/limits.ts";
import type { Room } from "./process_room.ts";

/** Sessions of all tasks. */
const MAX_SESSIONS = 32;
/** Dropped sessions whose reason is kept. */
const MAX_REMEMBERED = 64;

/** One session. */
export interface Session {
  readonly id: string;
  readonly run: SessionStart;
  readonly leases: readonly Lease[];
  readonly deadlines: Set<Deadline>;
  opening: Promise<Room> | undefined;
  /** Set once the program runs; before that, the session has no known id. */
  room: Room | undefined;
  idle: Deadline | undefined;
  taint: SessionTaint;
  /** Why the session was dropped, once it was. */
  ending: Fault | undefined;
  readonly dropped: AbortController;
  readonly gone: PromiseWithResolvers<void>;
}

/** The walls around a session. */
export type Walled = Extract<CommandWalls, { readonly kind: "walled" }>;

/** The sessions of a kernel. */
export interface SessionBook {
  /** Throws Fault `unavailable`, `refused`, `rateLimited`. */
  admit(run: SessionStart): Walled;
  add(session: Session): void;
  remove(session: Session): void;
  /** Keeps the reason of a dropped session for its owner. */
  forget(session: Session, fault: Fault): void;
  /** Throws the fault of a dropped session, `notFound` for sessions of others. */
  find(owner: SessionOwner, id: string): { readonly session: Session; readonly room: Room };
  all(): readonly Session[];
  ofTask(task: TaskId): readonly Session[];
  /** Drops the kept reasons of a task. */
  close(task: TaskId): void;
}

/** Makes an empty book. */
export function makeSessionBook(walls: CommandWalls): SessionBook {
  const open = new Map<string, Session>();
  const over = new Map<string, { readonly owner: SessionOwner; readonly fault: Fault }>();
  const all = (): readonly Session[] => [...open.values()];

  return Object.freeze<SessionBook>({
    admit(run): Walled {
      if (walls.kind === "none") throw unavailable(run, walls.why);
      const { name } = run.command;
      const why = ungranted(run);
      if (why !== undefined) throw new Fault("refused", `Cannot start ${name}: ${why}`);
      const own = all().filter(({ run: { pid } }) => pid === run.pid).length;
      if (own < SESSIONS_EACH && open.size < MAX_SESSIONS) return walls;
      const many = own < SESSIONS_EACH
        ? `there are ${MAX_SESSIONS} sessions of all tasks`
        : `this process has ${own}; close one first`;
      throw new Fault("rateLimited", `Cannot start ${name}: ${many}`);
    },
    add: (session) => void open.set(session.id, session),
    remove: (session) => void open.delete(session.id),
    forget(session, fault): void {
      over.set(session.id, { owner: session.run, fault });
      for (const [oldest] of over) if (over.size > MAX_REMEMBERED) over.delete(oldest);
    },
    find(owner, id): { readonly session: Session; readonly room: Room } {
      const mine = ({ task, pid }: SessionOwner): boolean =>
        task === owner.task && pid === owner.pid;
      const before = over.get(id);
      if (before !== undefined && mine(before.owner)) throw before.fault;
      const session = open.get(id);
      const room = session?.room;
      if (session?.ending === undefined && room !== undefined && session !== undefined) {
        if (mine(session.run)) return { session, room };
      }
      throw new Fault(
        "notFound",
        `Cannot find session "${displayText(id, { max: 64 })}": this process has none of that ` +
          "name (a session is its process's own, and ends with it and with Remit)",
      );
    },
    all,
    ofTask: (task) => all().filter(({ run }) => run.task === task),
    close(task): void {
      for (const [id, { owner }] of over) if (owner.task === task) over.delete(id);
    },
  });
}

function ungranted({ command, sha256, terminal }: SessionStart): string | undefined {
  if (command.sha256 !== sha256) return "it is not the program that was decided on";
  if (command.session === undefined) return "the operator grants it no sessions";
  if (terminal !== undefined && !command.session.pty) return "the operator grants it no terminal";
  return undefined;
}
