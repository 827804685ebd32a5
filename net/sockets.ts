/** Streams of bytes to and from one peer. @module */

/** One end of a connection. */
export interface SocketEnd {
  /** The number of bytes put into `buffer`; null at the end. Rejects for a broken connection. */
  read(buffer: Uint8Array): Promise<number | null>;
  /** How many of `bytes` were sent, at least one. */
  write(bytes: Uint8Array): Promise<number>;
  /** Ends the writing direction. */
  closeWrite(): Promise<void>;
  /** Ends both directions and pending operations. Idempotent. */
  close(): void;
}

/** A socket that accepts connections. */
export interface SocketListener {
  /** The next connection; undefined when the listener is closed. */
  accept(): Promise<SocketEnd | undefined>;
  /** Also removes the socket's path. Idempotent. */
  close(): void;
}

/** The power over plain sockets. */
export interface Sockets {
  /**
   * Listens at a file system path, mode 0600; replaces what is there. @throws {Fault} `unavailable`
   */
  listen(path: string): SocketListener;
  /**
   * Connects to a vetted address; nothing is resolved. Gives up after `connectMs`.
   * @throws {Fault} `unavailable` with detail `{ connected: false }`, or the signal's reason
   */
  connect(
    to: { readonly address: string; readonly port: number; readonly connectMs?: number },
    signal: AbortSignal,
  ): Promise<SocketEnd>;
}

/** Writes all of `bytes`; calls `moved` after each part. */
export async function writeAll(
  to: Pick<SocketEnd, "write">,
  bytes: Uint8Array,
  moved: () => void = () => undefined,
): Promise<void> {
  for (let done = 0; done < bytes.length; moved()) {
    done += await to.write(bytes.subarray(done));
  }
}
