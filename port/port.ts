/** One end of a line session. @module */
import type { Json } from "../contracts/base/json.ts";
import type { Port, PortHandler, PortLimits } from "../contracts/base/port.ts";
import { Fault, unreachable } from "../contracts/base/fault.ts";
import { type Frame, readFrame, writeFailure, writeFrame } from "./_frame.ts";
import { makeLineReader, makeOutbox, makeRate } from "./_lines.ts";
import { DEFAULT_PORT_LIMITS } from "./_bound.ts";

export interface PortParts {
  /** Sends bytes to the peer; called at most once a microtask. A throw ends the session with `gone`. */
  readonly write: (bytes: Uint8Array) => void;
  readonly handler: PortHandler;
  /** Changes to {@link DEFAULT_PORT_LIMITS}; both ends should have the same limits. */
  readonly limits?: Partial<PortLimits>;
  /** Milliseconds of a monotonic clock. Without it, the frames a second have no limit. */
  readonly now?: () => number;
  /** The peer is the kernel: its frames are not compared with their encoding, counted or frozen. */
  readonly trusted?: boolean;
}

interface Waiting {
  readonly resolve: (value: Json) => void;
  readonly reject: (fault: Fault) => void;
}

/**
 * Makes one end of a session. A peer's breach of the protocol ends it with `badFrame` or `tooLarge`; a handler's error other
 * than a {@link Fault} ends it with `gone`, and that error is the cause.
 * @example
 * ```ts
 * import { type Json, makePort, type Port } from "./mod.ts";
 * const echo = { ask: (_op: string, body: Json) => body, tell() {} };
 * const here: Port = makePort({ write: (bytes) => there.feed(bytes), handler: echo });
 * const there: Port = makePort({ write: (bytes) => here.feed(bytes), handler: echo });
 * await here.ask("echo", { hello: "there" });
 * ```
 */
export function makePort(parts: PortParts): Port {
  const { write, handler, trusted = false } = parts;
  const limits: PortLimits = { ...DEFAULT_PORT_LIMITS, ...parts.limits };
  const waiting = new Map<number, Waiting>();
  const ended = Promise.withResolvers<Fault>();
  let end: Fault | undefined;
  let lastAsked = 0; // last id of this side
  let lastServed = 0; // last id of the peer
  let serving = 0;

  const outbox = makeOutbox(write, (cause) => finish(gone("the peer cannot be written to", cause)));
  const inRate = makeRate(limits.framesPerSecond, parts.now);
  const reading = { ...limits, trusted };
  const readLines = makeLineReader(limits.frameBytes, (line, text) => {
    inRate();
    take(readFrame(line, text, reading));
    return end === undefined;
  });

  function finish(fault: Fault): void {
    if (end !== undefined) return;
    end = fault;
    outbox.close();
    for (const { reject } of waiting.values()) reject(fault);
    waiting.clear();
    ended.resolve(fault);
  }

  function take(frame: Frame): void {
    switch (frame.kind) {
      case "ask":
        return serve(frame.id, frame.op, frame.body);
      case "tell":
        return handler.tell(frame.op, frame.body);
      case "answer":
        return claim(frame.id).resolve(frame.value);
      case "fail":
        return claim(frame.id).reject(frame.fault);
      default:
        return unreachable(frame);
    }
  }

  function claim(id: number): Waiting {
    const entry = waiting.get(id);
    if (entry === undefined) {
      throw new Fault("badFrame", "Cannot take answer: nothing asked for it");
    }
    waiting.delete(id);
    return entry;
  }

  function serve(id: number, op: string, body: Json): void {
    // INVARIANT: ids only increase, so a used one, answered or not, is never repeated.
    if (id <= lastServed) throw new Fault("badFrame", "Cannot serve request: its id was used");
    if (serving >= limits.pending) {
      throw new Fault("tooLarge", `Cannot serve request: ${serving} are being served`);
    }
    lastServed = id;
    let value: Json | Promise<Json>;
    try {
      value = handler.ask(op, body);
    } catch (error) {
      return fail(id, error);
    }
    if (!(value instanceof Promise)) return reply(id, value);
    serving++;
    value.then((settled) => {
      serving--;
      reply(id, settled);
    }, (error) => {
      serving--;
      fail(id, error);
    });
  }

  function reply(id: number, value: Json): void {
    if (end !== undefined) return;
    try {
      outbox.put(writeFrame(-id, null, value, limits));
    } catch (error) {
      fail(id, error);
    }
  }

  function fail(id: number, error: unknown): void {
    if (end !== undefined) return;
    if (!(error instanceof Fault)) return finish(bug(error));
    outbox.put(writeFailure(id, error, limits));
  }

  return Object.freeze({
    closed: ended.promise,

    ask(op: string, body: Json): Promise<Json> {
      if (end !== undefined) return Promise.reject(end);
      if (waiting.size >= limits.pending) {
        const why = `${limits.pending} requests wait for an answer`;
        return Promise.reject(new Fault("rateLimited", `Cannot ask ${JSON.stringify(op)}: ${why}`));
      }
      return new Promise((resolve, reject) => {
        outbox.put(writeFrame(lastAsked + 1, op, body, limits));
        waiting.set(++lastAsked, { resolve, reject });
      });
    },

    tell(op: string, body: Json): void {
      if (end === undefined) outbox.put(writeFrame(0, op, body, limits));
    },

    feed(chunk: Uint8Array): void {
      if (end !== undefined) return;
      try {
        readLines(chunk);
      } catch (error) {
        finish(error instanceof Fault ? error : bug(error));
      }
    },

    close(why: string): void {
      if (end !== undefined) return;
      outbox.flush();
      finish(gone(why));
    },
  });
}

function gone(why: string, cause?: unknown): Fault {
  return new Fault("gone", `Cannot reach the peer: ${why}`, { cause });
}

function bug(cause: unknown): Fault {
  return gone("serving it failed through a bug on this side", cause);
}
