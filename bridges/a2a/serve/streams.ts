/**
 * Streams of server-sent events. Unread bytes are bounded, and a stream that is not read is ended;
 * one timer serves all streams. A2A 1.0, sections 9.4.2 and 11.7.
 * @module
 */
import { SSE_HEADERS } from "@a2a-js/sdk";

/** Limits of streams. */
interface StreamBounds {
  /** Streams at once, in all and of one peer. */
  readonly streams: number;
  readonly perPeer: number;
  /** Unread bytes of a stream before it is ended. */
  readonly bufferBytes: number;
  /** Milliseconds between keep-alive comments; a stream unread for {@link MAX_STALLED} of them is ended. */
  readonly aliveMs: number;
}

/** Intervals without reading after which a stream is ended. */
const MAX_STALLED = 4;
const ALIVE = new TextEncoder().encode(": alive\n\n");

/** A reserved place for a stream. */
export interface Place {
  /** Sends texts as they come; at the stream's end the place is freed and `over` is called. */
  send(texts: AsyncIterator<string>, first: string, over: () => void): Response;
  /** Frees an unused place. */
  leave(): void;
}

/** The streams of a server. */
export interface Streams {
  /** Reserves a place; undefined where there is none. */
  take(peer: string): Place | undefined;
  readonly size: number;
  /** Ends every stream. */
  close(): void;
}

/** Makes the streams of a server. */
export function makeStreams(
  bounds: StreamBounds,
  powers: {
    readonly after: (ms: number, then: () => void) => () => void;
    note(text: string): void;
  },
): Streams {
  const taken = new Map<string, number>();
  const live = new Set<{ tick(): void; end(): void }>();
  let size = 0;
  let stopClock: (() => void) | undefined;

  const tick = (): void => {
    stopClock = live.size === 0 ? undefined : powers.after(bounds.aliveMs, tick);
    for (const each of live) each.tick();
  };

  const give = (peer: string): void => {
    size -= 1;
    const left = (taken.get(peer) ?? 1) - 1;
    if (left === 0) taken.delete(peer);
    else taken.set(peer, left);
  };

  return Object.freeze<Streams>({
    get size(): number {
      return size;
    },
    take(peer): Place | undefined {
      const mine = taken.get(peer) ?? 0;
      if (size >= bounds.streams || mine >= bounds.perPeer) return undefined;
      size += 1;
      taken.set(peer, mine + 1);
      let held = true;
      const leave = (): void => {
        if (held) give(peer);
        held = false;
      };
      return Object.freeze<Place>({
        leave,
        send(texts, first, done): Response {
          const body = pump(texts, first, bounds.bufferBytes, {
            note: powers.note,
            begin: (own) => void live.add(own),
            over: (own) => {
              live.delete(own);
              leave();
              done();
            },
          });
          stopClock ??= powers.after(bounds.aliveMs, tick);
          const headers = new Headers(SSE_HEADERS);
          // The HTTP server manages the connection.
          headers.delete("connection");
          return new Response(body, { headers });
        },
      });
    },
    close(): void {
      for (const each of [...live]) each.end();
      stopClock?.();
      stopClock = undefined;
    },
  });
}

interface Own {
  tick(): void;
  end(): void;
}

/** Sends texts as they come, without waiting for the reader. */
function pump(
  texts: AsyncIterator<string>,
  first: string,
  bufferBytes: number,
  hooks: { begin(own: Own): void; over(own: Own): void; note(text: string): void },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let over = false;
  let still = 0;
  let before = 0;
  let close = (): void => undefined;
  const end = (): void => {
    if (over) return;
    over = true;
    hooks.over(own);
    close();
  };
  let unread = (): number => 0;
  let write = (_bytes: Uint8Array): void => undefined;
  const own: Own = {
    end,
    tick(): void {
      const now = unread();
      still = now > 0 && now >= before ? still + 1 : 0;
      before = now;
      if (still >= MAX_STALLED) return end();
      if (now === 0) write(ALIVE);
    },
  };
  const run = async (): Promise<void> => {
    try {
      for (;;) {
        const { done, value } = await texts.next();
        if (over || done === true) break;
        if (unread() > bufferBytes) break;
        write(encoder.encode(value));
      }
    } catch (error) {
      // After its first event a stream can report an error only by ending: the peer asks again.
      hooks.note(`an a2a stream failed: ${error instanceof Error ? error.message : "?"}`);
    }
    end();
  };
  return new ReadableStream<Uint8Array>({
    start(controller): void {
      unread = () => bufferBytes - (controller.desiredSize ?? bufferBytes);
      write = (bytes) => controller.enqueue(bytes);
      close = () => controller.close();
      hooks.begin(own);
      write(encoder.encode(first));
      void run();
    },
    cancel(): void {
      // The reader has closed the stream already.
      close = () => undefined;
      end();
    },
  }, new ByteLengthQueuingStrategy({ highWaterMark: bufferBytes }));
}
