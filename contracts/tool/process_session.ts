/** Process sessions: programs that go on after the call that started them. @module */
import type { Colour, Label } from "../authority/colour.ts";
import type { Collected, GrantedCommand } from "./command.ts";
import type { Pid, TaskId } from "../authority/ids.ts";
import type { Scope } from "../authority/lease.ts";

/** Milliseconds of a session where its class limits neither sessions nor runs. */
export const SESSION_MS = 3_600_000;
/** Milliseconds after which a session that nobody used is dropped, with what it changed. */
export const SESSION_IDLE_MS = 900_000;
/** Sessions that a process may have at once. */
export const SESSIONS_EACH = 4;
/** Bytes of each output that wait to be polled; a program that printed more stands still. */
export const SESSION_BUFFER = 262_144;
/** Bytes of input that wait to be read by the program. */
export const SESSION_INPUT = 262_144;

/** Signals that a session's program may be sent. KILL ends all that it started, too. */
export const SESSION_SIGNALS = ["HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "KILL"] as const;
/** One of {@link SESSION_SIGNALS}. */
export type SessionSignal = (typeof SESSION_SIGNALS)[number];

/** A terminal's size, in characters. */
export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

/** Who holds a session: nobody else can name it. */
export interface SessionOwner {
  readonly task: TaskId;
  readonly pid: Pid;
}

/** What a process knows, in colour and label. */
export interface SessionTaint {
  readonly colour: Colour;
  readonly label: Label;
}

/** A start that the gate has let through. */
export interface SessionStart extends SessionOwner, SessionTaint {
  readonly command: GrantedCommand;
  /** The program's digest as it was decided on. */
  readonly sha256: string;
  readonly args: readonly string[];
  /** `MOUNT` or `MOUNT/…`. */
  readonly cwd: string;
  /** Mounts that it is shown. */
  readonly mounts: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Most milliseconds that the program may run. */
  readonly lifeMs: number;
  readonly terminal?: TerminalSize;
  /** Each must be covered by a live lease of the process, as long as the session is there. */
  readonly scopes: readonly Scope[];
}

/** What is known of a session without touching it. */
export interface SessionFacts extends SessionTaint {
  readonly command: GrantedCommand;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly terminal: boolean;
  readonly scopes: readonly Scope[];
}

/** How a program stands. */
export interface SessionState {
  readonly state: "running" | "exited";
  /** Set when it exited; 128 and the signal's number when a signal ended it. */
  readonly exit?: number;
  /** Set when it was ended from outside: by its time, or a KILL. */
  readonly why?: string;
}

/** What a program printed since it was last asked. */
export interface SessionOutput extends SessionState, SessionTaint {
  /** A terminal's text has everything here. */
  readonly stdout: string;
  readonly stderr: string;
  /** More is there already. */
  readonly more: boolean;
  /** Bytes that were left out, oldest first. */
  readonly dropped: number;
}

/** What a session came to. */
export interface SessionEnd extends SessionOutput, Omit<Collected, "writtenBytes" | "untouched"> {
  /** Files that it was not shown. */
  readonly withheld: number;
  readonly writtenBytes: number;
}

/**
 * Programs that go on. A session is named by an unguessable id, which is known to the process that
 * started it and to nobody else. Each method rejects with `notFound` for any other id, and for one
 * that was dropped with the fault that dropped it (`leaseRevoked`, `leaseExpired`, `tooLarge`,
 * `timedOut`, `gone`).
 */
export interface ProcessSessions {
  /** Rejects as a command's run does, or `rateLimited` (too many sessions). */
  start(run: SessionStart, signal: AbortSignal): Promise<SessionTaint & { readonly id: string }>;
  look(owner: SessionOwner, id: string): SessionFacts;
  /** Waits at most `waitMs` for output or the end; gives at most `bytes` of each output. */
  poll(
    owner: SessionOwner,
    id: string,
    options: { readonly waitMs: number; readonly bytes: number; readonly newest: boolean },
    signal: AbortSignal,
  ): Promise<SessionOutput>;
  /** Rejects `gone` (it exited), `conflict` (its input was ended), `tooLarge` (it does not read). */
  write(
    owner: SessionOwner,
    id: string,
    input: SessionTaint & { readonly text: string; readonly end: boolean },
  ): Promise<SessionState & { readonly unread: number }>;
  /** Rejects `gone`, `rateLimited`. */
  signal(
    owner: SessionOwner,
    id: string,
    sent: SessionTaint & { readonly signal: SessionSignal },
  ): Promise<SessionState>;
  /** Ends all that the program started, and collects what it changed. */
  finish(
    owner: SessionOwner,
    id: string,
    options: { readonly bytes: number },
    signal: AbortSignal,
  ): Promise<SessionEnd>;
}
