/** One request and its answer on a connection of its own. @module */

/** A request, and the one address that it goes to. */
export interface WireRequest {
  readonly method: string;
  /** Gives scheme, port, path, `host` header and the name that the certificate must have. */
  readonly url: URL;
  /** An IP address, vetted: nothing is resolved. */
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
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
