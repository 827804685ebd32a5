/** What the kernel needs of the operating system to start, hear and end children. @module */

/** How an operating-system process ended. Exactly one of the two is not null. */
export interface ExitStatus {
  readonly code: number | null;
  readonly signal: string | null;
}

/** How it ended, in words: `SIGKILL`, `exit code 1`. */
export function howEnded({ code, signal }: ExitStatus): string {
  return signal ?? `exit code ${code}`;
}

/** One program to start: absolute path, arguments and the whole environment. */
export interface StartOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Called with bytes of its standard output. The chunk is only valid during the call. */
  onOutput(chunk: Uint8Array): void;
  /** Called with bytes of its standard error. The chunk is only valid during the call. */
  onStderr(chunk: Uint8Array): void;
  /** Called when it was ended by SIGKILL: what it started may be left, and hold its outputs open. */
  killed?(): void;
}

/** A started process. */
export interface OsProcess {
  readonly pid: number;
  /** Queues bytes for its standard input. Does nothing once it has ended. */
  write(bytes: Uint8Array): void;
  /** Sends SIGKILL. Idempotent. */
  kill(): void;
  /** Resolves when it is reaped and its standard output is closed by all who held it. */
  readonly exited: Promise<ExitStatus>;
}

/** One connection on a unix socket. */
export interface SocketConnection {
  /** Resolves with the number of bytes put into `buffer`, null at the end. */
  read(buffer: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<void>;
  close(): void;
}

/** A unix socket that waits for connections. */
export interface SocketListener {
  accept(): Promise<SocketConnection>;
  close(): void;
}

/** Powers over processes and their sockets. */
export interface SpawnPowers {
  start(options: StartOptions): OsProcess;
  /** Runs a program to its end without input; tells whether it exited with 0. */
  succeeds(program: string, args: readonly string[]): Promise<boolean>;
  listen(path: string): SocketListener;
  /** Removes a file; absent is fine. */
  remove(path: string): void;
  /** Makes a regular file of at most a line stand at `path`; tells whether one stands there. */
  occupy(path: string): boolean;
  /** Makes the filters of system calls lie in a kernel's folder; tells whether this machine's are known. */
  keepFilters(dir: string): boolean;
  /** The path with every symbolic link resolved; undefined when that cannot be found out. */
  realPath(path: string): string | undefined;
  /** Tells whether the path itself is a symbolic link, leading anywhere or nowhere. */
  isLink(path: string): boolean;
}
