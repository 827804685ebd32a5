/** The port: one line-based session between two processes. @module */
import type { Json } from "./json.ts";
import type { Fault } from "./fault.ts";

/** Receive-side limits of a port. */
export interface PortLimits {
  /** Longest line, bytes. */
  readonly frameBytes: number;
  readonly depth: number;
  /** Most values (of any type) in one frame. */
  readonly nodes: number;
  /** Most of the peer's requests being served at once. */
  readonly pending: number;
  /** Most frames a second, averaged over ten seconds; more closes the port. */
  readonly framesPerSecond: number;
}

/** What a port does with what its peer sends. Ops are a closed union, checked by the handler. */
export interface PortHandler {
  /** A request. Throw or reject with a {@link Fault}: anything else closes the port as a bug. */
  ask(op: string, body: Json): Json | Promise<Json>;
  /** An event without an answer. */
  tell(op: string, body: Json): void;
}

/**
 * One end of a session. Frames: `[id,op,body]` asks, `[-id,null,value]` answers,
 * `[-id,code,message,detail]` fails, `[0,op,body]` tells. Long texts travel raw beside their frame
 * (docs/decision/0008_long_texts_beside_their_frame.md).
 */
export interface Port {
  ask(op: string, body: Json): Promise<Json>;
  tell(op: string, body: Json): void;
  /** Ends the session: pending requests fail with `gone`. Idempotent. */
  close(why: string): void;
  /** Resolves when the session has ended, with the reason. */
  readonly closed: Promise<Fault>;
  /** Hands the port bytes from the peer. A bad frame closes it with `badFrame` or `tooLarge`. */
  feed(chunk: Uint8Array): void;
}
