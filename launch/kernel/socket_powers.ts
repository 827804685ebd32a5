/** The control socket as a wire. Used by kernels_powers.ts and cli/service/service_powers.ts. @module */
import { connect, type Socket } from "node:net";
import { Fault } from "../../contracts/base/fault.ts";
import type { Wire } from "./link.ts";

/** `ECONNRESET`: a kernel that ended before it accepted the connection. */
const NOBODY: ReadonlySet<string> = new Set([
  "ENOENT",
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTSOCK",
  "ENOTDIR",
]);
/** How long to retry while the queue of connections is full. */
const PATIENCE_MS = 5_000;
const AGAIN_MS = 20;

/**
 * Connects to a unix socket; undefined when nobody listens there.
 *
 * @throws Fault `unavailable` when the queue of connections stays full for `patienceMs`
 */
export async function connectSocket(
  path: string,
  { patienceMs = PATIENCE_MS }: { readonly patienceMs?: number } = {},
): Promise<Wire | undefined> {
  for (const before = performance.now();;) {
    try {
      return wireOf(await connected(path));
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (typeof code === "string" && NOBODY.has(code)) return undefined;
      if (code !== "EAGAIN") throw error;
      if (performance.now() - before >= patienceMs) throw full(path, error);
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

function connected(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.removeAllListeners("error");
      resolve(socket);
    });
  });
}

function full(path: string, cause: unknown): Fault {
  return new Fault(
    "unavailable",
    `Cannot connect to ${
      JSON.stringify(path)
    }: more commands wait there than it takes, and it takes none; ` +
      "try again in a moment, or end some of what talks to it",
    { cause },
  );
}

function wireOf(socket: Socket): Wire {
  return Object.freeze({
    write: (bytes: Uint8Array) => void socket.write(bytes),
    close: () => void socket.destroy(),
    onBytes(take: (bytes: Uint8Array) => void, end: () => void): void {
      socket.on("data", take);
      socket.on("close", end);
      socket.on("error", end);
    },
  });
}
