/** The control socket as a wire. @module */
import { connect } from "node:net";
import type { Wire } from "./link.ts";

/** `ECONNRESET` is one that ended before it took the connection. */
const NOBODY: ReadonlySet<string> = new Set([
  "ENOENT",
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTSOCK",
  "ENOTDIR",
]);

/** Connects to a unix socket; undefined when nobody listens there. */
export function connectSocket(path: string): Promise<Wire | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("error", (error: Error & { code?: string }) => {
      const nobody = NOBODY.has(error.code ?? "");
      if (nobody) resolve(undefined);
      else reject(error);
    });
    socket.once("connect", () => {
      socket.removeAllListeners("error");
      resolve(Object.freeze({
        write: (bytes: Uint8Array) => void socket.write(bytes),
        close: () => void socket.destroy(),
        onBytes(take: (bytes: Uint8Array) => void, end: () => void): void {
          socket.on("data", take);
          socket.on("close", end);
          socket.on("error", end);
        },
      }));
    });
  });
}
