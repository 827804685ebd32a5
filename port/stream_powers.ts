/** A port over a socket, for the kernel and the command line. Used by kernel/serve_control.ts. @module */
import type { Port, PortHandler, PortLimits } from "../contracts/base/port.ts";
import { makePort } from "./port.ts";

export interface StreamOptions {
  readonly handler: PortHandler;
  readonly limits?: Partial<PortLimits>;
  /** Most bytes that wait for a peer; more close the port. Default 8 MiB. */
  readonly bufferedBytes?: number;
}

const MAX_WAITING_BYTES = 8 << 20;
const CHUNK_BYTES = 65_536;
/** Milliseconds for a closed port to send its remaining bytes. */
const LINGER_MS = 1_000;

/** One end of a session over a socket. The port and the socket close together. */
export function portOverConn(conn: Deno.Conn, options: StreamOptions): Port {
  const max = options.bufferedBytes ?? MAX_WAITING_BYTES;
  const waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let drained: Promise<void> | undefined;

  const port = makePort({
    handler: options.handler,
    limits: options.limits ?? {},
    now: () => performance.now(),
    write(bytes): void {
      waiting.push(bytes);
      waitingBytes += bytes.length;
      if (waitingBytes > max) {
        throw new RangeError(`Cannot write to peer: it left ${waitingBytes} bytes unread`);
      }
      drained ??= drain();
    },
  });

  async function drain(): Promise<void> {
    try {
      for (let bytes = waiting.shift(); bytes !== undefined; bytes = waiting.shift()) {
        for (let done = 0; done < bytes.length;) done += await conn.write(bytes.subarray(done));
        waitingBytes -= bytes.length;
      }
    } catch (error) {
      port.close(`it takes no input (${nameOf(error)})`);
    } finally {
      drained = undefined;
    }
  }

  async function receive(): Promise<void> {
    const chunk = new Uint8Array(CHUNK_BYTES);
    try {
      for (;;) {
        const length = await conn.read(chunk);
        if (length === null) return port.close("the peer hung up");
        port.feed(chunk.subarray(0, length));
      }
    } catch (error) {
      port.close(`its output broke off (${nameOf(error)})`);
    }
  }

  async function hangUp(): Promise<void> {
    await port.closed;
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, LINGER_MS);
    await Promise.race([drained, late.promise]);
    clearTimeout(timer);
    conn.close();
  }

  receive();
  hangUp();
  return port;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "unknown";
}
