/** Process sessions: programs that outlive the call that started them. @module */
import type { Colour, Label } from "../authority/colour.ts";
import type { Collected, GrantedCommand } from "./command.ts";
import type { Pid, TaskId } from "../authority/ids.ts";
import type { Scope } from "../authority/lease.ts";

/** Default maximum milliseconds of a session. */
export const SESSION_MS = 3_600_000;
/** Idle milliseconds after which a session is dropped with its changes. */
export const SESSION_IDLE_MS = 900_000;
/** Maximum simultaneous sessions of a process. */
export const SESSIONS_EACH = 4;
/** Maximum unread bytes of each output stream; the program blocks beyond that. */
export const SESSION_BUFFER = 262_144;
/** Maximum bytes of input that the program has not read. */
export const SESSION_INPUT = 262_144;

/** Signals that a session's program may be sent. KILL also ends its descendants. */
export const SESSION_SIGNALS = ["HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "KILL"] as const;
/** One of {@link SESSION_SIGNALS}. */
export type SessionSignal = (typeof SESSION_SIGNALS)[number];

/** A terminal's size, in characters. */
export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

/** The holder of a session; only the holder can use it. */
export interface SessionOwner {
  readonly task: TaskId;
  readonly pid: Pid;
}

/** Colour and label of a process. */
export interface SessionTaint {
  readonly colour: Colour;
  readonly label: Label;
}

/** A start that the gate has allowed. */
export interface SessionStart extends SessionOwner, SessionTaint {
  readonly command: GrantedCommand;
  /** The program's digest at the time of the decision. */
  readonly sha256: string;
  readonly args: readonly string[];
  /** `MOUNT` or `MOUNT/…`. */
  readonly cwd: string;
  /** Visible mounts. */
  readonly mounts: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Maximum milliseconds that the program may run. */
  readonly lifeMs: number;
  readonly terminal?: TerminalSize;
  /** Each must be covered by a live lease of the process for the session's whole life. */
  readonly scopes: readonly Scope[];
}

/** Facts of a session that need no access to its program. */
export interface SessionFacts extends SessionTaint {
  readonly command: GrantedCommand;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly terminal: boolean;
  readonly scopes: readonly Scope[];
}

/** State of a session's program. */
export interface SessionState {
  readonly state: "running" | "exited";
  /** Exit code; 128 plus the signal's number if a signal ended it. */
  readonly exit?: number;
  /** Set if it was ended from outside: by its time limit or KILL. */
  readonly why?: string;
}

/** A program's output since the last poll. */
export interface SessionOutput extends SessionState, SessionTaint {
  /** For a terminal: all output. */
  readonly stdout: string;
  readonly stderr: string;
  /** Whether more output is waiting. */
  readonly more: boolean;
  /** Number of omitted bytes, oldest first. */
  readonly dropped: number;
}

/** The end of a session. */
export interface SessionEnd extends SessionOutput, Omit<Collected, "writtenBytes" | "untouched"> {
  /** Number of files withheld from it. */
  readonly withheld: number;
  readonly writtenBytes: number;
}

/**
 * Programs that outlive a call. A session has an unguessable id, known only to the process that
 * started it. Each method rejects with `notFound` for any other id; for a dropped session with the
 * fault that dropped it (`leaseRevoked`, `leaseExpired`, `tooLarge`, `timedOut`, `gone`).
 */
export interface ProcessSessions {
  /** Rejects as a command's run does, or `rateLimited` (too many sessions). */
  start(run: SessionStart, signal: AbortSignal): Promise<SessionTaint & { readonly id: string }>;
  look(owner: SessionOwner, id: string): SessionFacts;
  /** Waits at most `waitMs` for output or the end; returns at most `bytes` of each stream. */
  poll(
    owner: SessionOwner,
    id: string,
    options: { readonly waitMs: number; readonly bytes: number; readonly newest: boolean },
    signal: AbortSignal,
  ): Promise<SessionOutput>;
  /** Rejects `gone` (exited), `conflict` (input closed), `tooLarge` (the program does not read). */
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
  /** Ends the program and its descendants, and collects its changes. */
  finish(
    owner: SessionOwner,
    id: string,
    options: { readonly bytes: number },
    signal: AbortSignal,
  ): Promise<SessionEnd>;
}
