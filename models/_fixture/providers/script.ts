/** The scripted answers of a provider's loopback server: one script for all protocols. @module */

/** A piece of a stream: text, raw bytes, or a promise that the stream waits for. */
export type Piece = string | Uint8Array | Promise<unknown>;

/** A call that the model makes. */
export interface SaidCall {
  /** Absent: the server makes an id (Ollama sends none). */
  readonly id?: string;
  readonly name: string;
  /** The arguments as JSON text, in the pieces in which they are sent. */
  readonly pieces: readonly string[];
}

/** An answer as the provider would stream it. */
export interface Said {
  readonly thoughts?: readonly string[];
  /** A promise among the pieces holds the stream back until it resolves. */
  readonly text?: readonly (string | Promise<unknown>)[];
  readonly calls?: readonly SaidCall[];
  /** Absent: `toolCalls` when there are calls, else `stop`. */
  readonly stop?: "stop" | "toolCalls" | "length" | "contentFilter";
  /** `null`: the server reports none. Absent: 11 in, 7 out. */
  readonly usage?: {
    readonly input: number;
    readonly output: number;
    /** Input tokens read from the prompt cache and written to it; only for providers with a cache. */
    readonly cacheRead?: number;
    readonly cacheWrite?: number;
  } | null;
  /** An error within the stream, after the text, in the protocol's own form. */
  readonly breaks?: { readonly type: string; readonly message: string };
  /** Closes the connection after the text, without an end. */
  readonly cut?: true;
}

/** An answer that is not a stream. */
export interface Failed {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent unchanged. */
  readonly body?: unknown;
}

/** Bytes sent unchanged; `cut` closes the connection after them. */
export interface Raw {
  readonly raw: Iterable<Piece> | AsyncIterable<Piece>;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cut?: true;
}

/** One answer of a queue. */
export type Answer = Said | Failed | Raw;

/** Text whose pieces are `size` UTF-16 units long. */
export function inPieces(text: string, size: number): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size));
  return pieces;
}

/** The bytes of `text` in pieces of `size` bytes: characters are split. */
export function inBytes(text: string, size: number): readonly Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.slice(at, at + size));
  return pieces;
}
