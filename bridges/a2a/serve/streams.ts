/**
 * Streams of server-sent events: what is not read is bounded, and who does not read is ended. One clock for all of them.
 * A2A 1.0, sections 9.4.2 and 11.7.
 * @module
 */
import { SSE_HEADERS } from "@a2a-js/sdk";

/** Bounds of streams. */
interface StreamBounds {
  /** Streams at once, in all and of one peer. */
  readonly streams: number;
  readonly perPeer: number;
  /** Bytes of one stream that may wait to be read before it is ended. */
  readonly bufferBytes: number;
  /** Milliseconds between two signs of life; a stream that reads nothing for {@link STALLED} of them is ended. */
  readonly aliveMs: number;
}

/** Signs of life after which a reader that reads nothing is taken for gone. */
const STALLED = 4;
const ALIVE = new TextEncoder().encode(": alive\n\n");

/** What comes of asking for a place. */
export interface Place {
  /** Sends each text as it comes. The place is given back when the stream ends; `over` is called then. */
  send(texts: AsyncIterator<string>, first: string, over: () => void): Response;
  /** Gives the place back unused. */
  leave(): void;
}

/** All streams. */
export interface Streams {
  /** Undefined where there is no place left. */
  take(peer: string): Place | undefined;
  readonly size: number;
  /** Ends them all. */
  close(): void;
}

/** Makes them. */
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
          // The connection is the server's own affair.
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

/** Sends what comes as it comes; nobody waits for the reader. */
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
      if (still >= STALLED) return end();
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
      // After its first event a stream has no way to tell an error but to end: its peer asks again.
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
      // The stream is closed already by whoever cancels it.
      close = () => undefined;
      end();
    },
  }, new ByteLengthQueuingStrategy({ highWaterMark: bufferBytes }));
}
