/** One run of a program of this machine: what is asked for, what it came to. @module */
import type {
  Collected,
  Colour,
  GrantedCommand,
  Label,
  Pid,
  Scope,
  TaskId,
} from "../../contracts/mod.ts";

/** One run that the gate has let through. */
export interface CommandRun {
  readonly task: TaskId;
  readonly pid: Pid;
  /** Unique among the calls under way of all tasks. */
  readonly id: string;
  readonly command: GrantedCommand;
  /** The program's digest as it was decided on. */
  readonly sha256: string;
  readonly args: readonly string[];
  /** `MOUNT` or `MOUNT/…`. */
  readonly cwd: string;
  /** Mounts that it is shown. */
  readonly mounts: readonly string[];
  readonly stdin: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Most bytes and lines of each output. */
  readonly bytes: number;
  readonly lines: number;
  /** Each must be covered by a live lease of the process. */
  readonly scopes: readonly Scope[];
  /** Of the calling process. */
  readonly colour: Colour;
  readonly label: Label;
}

/** What it came to. */
export interface CommandRan extends Omit<Collected, "writtenBytes" | "untouched"> {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly cut: boolean;
  /** Milliseconds that the program ran. */
  readonly ms: number;
  /** Files that it was not shown. */
  readonly withheld: number;
  /** Of all that it could read, and of the caller. */
  readonly colour: Colour;
  readonly label: Label;
  readonly writtenBytes: number;
}

/** Programs of this machine. */
export interface Commands {
  /**
   * Rejects with `unavailable` (no walls here), `refused` (another program, no lease), `notFound`
   * (no such folder), `tooLarge` (a mount, or what was written), `timedOut`, `cancelled`,
   * `leaseRevoked`, `leaseExpired`, `upstream`. Nothing is staged then.
   */
  run(run: CommandRun, signal: AbortSignal): Promise<CommandRan>;
  /** SIGSTOP and SIGCONT: the deadlines of a process's runs stand still. */
  freeze(pid: Pid): void;
  thaw(pid: Pid): void;
  /** Operating-system processes of a task, for `ps`. */
  osPids(task: TaskId): readonly number[];
  /** Ends a task's runs; resolves when they have ended. */
  close(task: TaskId): Promise<void>;
}
