/**
 * The real sockets. This module decides nothing: a path was granted, an address was vetted before.
 * Used by main.ts.
 * @module
 */
import { Fault } from "../contracts/base/fault.ts";
import { tryIp } from "./address/ip.ts";
import type { SocketEnd, SocketListener, Sockets } from "./sockets.ts";

/** Milliseconds before a listener that failed to accept retries: too many files were open. */
const AGAIN_MS = 50;

/** Makes the power over sockets. Listening needs permission to read and write the path. */
export function makeSockets(): Sockets {
  return Object.freeze<Sockets>({ listen, connect });
}

function listen(path: string): SocketListener {
  let listener: Deno.UnixListener;
  try {
    remove(path);
    listener = Deno.listen({ transport: "unix", path });
    Deno.chmodSync(path, 0o600);
  } catch (cause) {
    throw new Fault("unavailable", `Cannot listen at ${JSON.stringify(path)}`, { cause });
  }
  let closed = false;
  return Object.freeze<SocketListener>({
    async accept(): Promise<SocketEnd | undefined> {
      while (!closed) {
        try {
          return endOf(await listener.accept());
        } catch {
          // Closed meanwhile, or no descriptor is left for now: pending connections keep waiting.
          if (!closed) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
        }
      }
      return undefined;
    },
    close(): void {
      if (closed) return;
      closed = true;
      listener.close();
      remove(path);
    },
  });
}

function remove(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (cause) {
    if (!(cause instanceof Deno.errors.NotFound)) throw cause;
  }
}

async function connect(
  { address, port, connectMs }: Parameters<Sockets["connect"]>[0],
  signal: AbortSignal,
): Promise<SocketEnd> {
  // INVARIANT: the host is an address, so nothing is looked up (test: a name is never connected
  // to).
  if (tryIp(address) === undefined) throw new TypeError("Cannot connect: not an address");
  signal.throwIfAborted();
  const nobody = (cause?: unknown): Fault =>
    new Fault("unavailable", "Cannot connect: nothing answers there", {
      ...{ detail: { connected: false }, cause },
    });
  const stop = Promise.withResolvers<never>();
  const aborted = (): void => stop.reject(signal.reason);
  signal.addEventListener("abort", aborted, { once: true });
  const late = connectMs === undefined
    ? undefined
    : setTimeout(() => stop.reject(nobody()), connectMs);
  const connecting = Deno.connect({ hostname: address.replace(/^\[|\]$/g, ""), port });
  try {
    const connection = await Promise.race([connecting, stop.promise]);
    connection.setNoDelay(true);
    return endOf(connection);
  } catch (cause) {
    // Close a connection that opens after all.
    connecting.then((connection) => connection.close(), () => undefined);
    throw cause instanceof Fault ? cause : nobody(cause);
  } finally {
    clearTimeout(late);
    signal.removeEventListener("abort", aborted);
  }
}

function endOf(connection: Deno.Conn): SocketEnd {
  let closed = false;
  return Object.freeze<SocketEnd>({
    read: (buffer) => connection.read(buffer),
    write: (bytes) => connection.write(bytes),
    closeWrite: () => connection.closeWrite(),
    close(): void {
      if (closed) return;
      closed = true;
      connection.close();
    },
  });
}
