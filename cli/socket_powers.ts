/** The control socket as a wire. @module */
import { connect } from "node:net";
import type { Wire } from "./link.ts";

/** Connects to a unix socket; undefined when nobody listens there. */
export function connectSocket(path: string): Promise<Wire | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("error", (error: Error & { code?: string }) => {
      const nobody = ["ENOENT", "ECONNREFUSED", "ENOTSOCK", "ENOTDIR"].includes(error.code ?? "");
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
