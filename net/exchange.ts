/** One request and its answer on a connection of its own. @module */

/** A body sent as it arrives: nothing is read before there is a connection. */
export interface WireBody {
  /** Fails with a {@link Fault}, which ends the request. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** The exact number of bytes; absent: sent in chunks. */
  readonly length?: number;
}

/** A request, and the one address that it goes to. */
export interface WireRequest {
  readonly method: string;
  /** Determines scheme, port, path, `host` header and the certificate's required name. */
  readonly url: URL;
  /** A vetted IP address; nothing is resolved. */
  readonly address: string;
  /** Repeated headers as a list. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array | WireBody;
  /** Path and query as sent, visible ASCII; absent: those of `url`. */
  readonly target?: string;
  /** Milliseconds before another address is tried instead; absent: unlimited. */
  readonly connectMs?: number;
}

/** An answer whose body has not been read. */
export interface WireAnswer extends Disposable {
  readonly status: number;
  /** In order, names in lower case, repeated headers separately. */
  readonly headers: readonly (readonly [string, string])[];
  /** Fails with `upstream` when it ends early, and with the signal's reason. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Maximum bytes of an answer's head. */
export const HEAD_BYTES = 65_536;

/** Maximum lines of an answer's head. */
export const HEAD_LINES = 256;

/** Sends requests over sockets. */
export interface Exchange {
  /**
   * Sends a request and waits for the head of the answer. Disposing of the answer closes the
   * connection.
   * @throws {Fault} `unavailable` without a connection (detail `{ connected: false }` when nothing
   * can have been sent), `upstream` for what is not HTTP, `tooLarge` for a head past its limits, or
   * the signal's reason
   */
  send(request: WireRequest, signal: AbortSignal): Promise<WireAnswer>;
}
