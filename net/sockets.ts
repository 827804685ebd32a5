/** Streams of bytes to and from one peer. @module */

/** One end of a connection. */
export interface SocketEnd {
  /** Bytes that were put into `buffer`; null at the end. Rejects when the connection broke or was closed. */
  read(buffer: Uint8Array): Promise<number | null>;
  /** How many of `bytes` went out, one at least. */
  write(bytes: Uint8Array): Promise<number>;
  /** Says that nothing more is written. */
  closeWrite(): Promise<void>;
  /** Ends both ways, also what waits. Idempotent. */
  close(): void;
}

/** A socket that takes connections. */
export interface SocketListener {
  /** The next connection; undefined when the listener is closed. */
  accept(): Promise<SocketEnd | undefined>;
  /** Also removes its path. Idempotent. */
  close(): void;
}

/** The power over plain sockets. */
export interface Sockets {
  /** Listens at a path of the file system, mode 0600; what lies there is removed. @throws {Fault} `unavailable`. */
  listen(path: string): SocketListener;
  /**
   * Connects to an address, vetted before: nothing is resolved. Gives up after `connectMs`.
   * @throws {Fault} `unavailable` with detail `{ connected: false }`, or the signal's reason.
   */
  connect(
    to: { readonly address: string; readonly port: number; readonly connectMs?: number },
    signal: AbortSignal,
  ): Promise<SocketEnd>;
}

/** Writes all of `bytes`; `moved` hears of each part that went out. */
export async function writeAll(
  to: Pick<SocketEnd, "write">,
  bytes: Uint8Array,
  moved: () => void = () => undefined,
): Promise<void> {
  for (let done = 0; done < bytes.length; moved()) {
    done += await to.write(bytes.subarray(done));
  }
}
