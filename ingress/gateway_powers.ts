/** Chance, time and the one address, as the gateway's process has them. @module */
import type { After } from "./body.ts";

/** Random bytes. */
export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length));
}

/** Milliseconds of a clock that only goes forward. */
export function now(): number {
  return performance.now();
}

/** See {@link After}. */
export const after: After = (ms, then) => {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
};

/** A server at an address. */
export interface Listener {
  /** The port that it has. */
  readonly port: number;
  /** Takes no more connections; resolves when those that there are have ended. */
  shutdown(): Promise<void>;
}

/** Listens at an address. */
export function listen(
  at: { readonly hostname: string; readonly port: number },
  serve: (request: Request, address: string) => Response | Promise<Response>,
): Listener {
  const server = Deno.serve(
    { ...at, onListen: () => undefined },
    (request, { remoteAddr }) =>
      serve(request, "hostname" in remoteAddr ? remoteAddr.hostname : "unknown"),
  );
  const { addr } = server;
  return Object.freeze<Listener>({
    port: "port" in addr ? addr.port : at.port,
    shutdown: () => server.shutdown(),
  });
}
