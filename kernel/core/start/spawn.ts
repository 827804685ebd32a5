/** The kernel's powers over operating-system processes and their sockets. @module */

/** How an operating-system process ended. Exactly one of the two is not null. */
export interface ExitStatus {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A process's end in words: `SIGKILL`, `exit code 1`. */
export function howEnded({ code, signal }: ExitStatus): string {
  return signal ?? `exit code ${code}`;
}

/** One program to start: absolute path, arguments and the whole environment. */
export interface StartOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Called with bytes of standard output. The chunk is only valid during the call. */
  onOutput(chunk: Uint8Array): void;
  /** Called with bytes of standard error. The chunk is only valid during the call. */
  onStderr(chunk: Uint8Array): void;
  /** Called after SIGKILL: programs that this one started may live on and hold its outputs open. */
  killed?(): void;
}

/** A started process. */
export interface OsProcess {
  readonly pid: number;
  /** Queues bytes for standard input. No effect once the process has ended. */
  write(bytes: Uint8Array): void;
  /** Sends SIGKILL. Idempotent. */
  kill(): void;
  /** Resolves once the process is reaped and every holder has closed its outputs. */
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
  /** Makes sure that a small regular file exists at `path`; tells whether one does. */
  occupy(path: string): boolean;
  /** Writes the filters of system calls into a kernel's folder; tells whether this architecture is known. */
  keepFilters(dir: string): boolean;
  /** The path with every symbolic link resolved; undefined when resolving fails. */
  realPath(path: string): string | undefined;
  /** Tells whether the path itself is a symbolic link, leading anywhere or nowhere. */
  isLink(path: string): boolean;
}
