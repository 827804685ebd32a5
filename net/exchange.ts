/** One request and its answer on a connection of its own. @module */

/** A body that is sent as it comes: nothing of it is taken before there is a connection. */
export interface WireBody {
  /** Fails with a {@link Fault}, which ends the request. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Exactly so many bytes; in chunks when absent. */
  readonly length?: number;
}

/** A request, and the one address that it goes to. */
export interface WireRequest {
  readonly method: string;
  /** Gives scheme, port, path, `host` header and the name that the certificate must have. */
  readonly url: URL;
  /** An IP address, vetted: nothing is resolved. */
  readonly address: string;
  /** Repeated ones as a list. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array | WireBody;
  /** Path and query as they go onto the wire, visible ASCII; those of `url` when absent. */
  readonly target?: string;
  /** Milliseconds until another address is tried instead; without end when absent. */
  readonly connectMs?: number;
}

/** An answer whose body has not been read. */
export interface WireAnswer extends Disposable {
  readonly status: number;
  /** In order, names in lower case, repeated ones each by itself. */
  readonly headers: readonly (readonly [string, string])[];
  /** Fails with `upstream` when it ends early, and with the signal's reason. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Bytes of an answer's head, at most. */
export const HEAD_BYTES = 65_536;

/** Lines of an answer's head, at most. */
export const HEAD_LINES = 256;

/** Sends requests: the power behind it opens sockets. */
export interface Exchange {
  /**
   * Sends a request and waits for the head of the answer. Disposing of it closes the connection.
   * @throws {Fault} `unavailable` without a connection (detail `{ connected: false }` when nothing
   * can have been sent), `upstream` for what is not HTTP, `tooLarge` for a head past its limits,
   * or the signal's reason.
   */
  send(request: WireRequest, signal: AbortSignal): Promise<WireAnswer>;
}
