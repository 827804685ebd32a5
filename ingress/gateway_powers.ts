/** Chance, time and the one address, as the gateway's process has them. @module */
import { Fault } from "../contracts/fault.ts";
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

/** Base64 of a text's SHA-256. */
export async function sha256Base64(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(bytes).toBase64();
}

/** Makes a text of a text, as nobody can who has not the key: HMAC-SHA-256, base64url. */
export async function makeSeal(
  key: Uint8Array<ArrayBuffer>,
): Promise<(text: string) => Promise<string>> {
  const usages: KeyUsage[] = ["sign"];
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const made = await crypto.subtle.importKey("raw", key, hmac, false, usages);
  return async (text) => {
    const bytes = await crypto.subtle.sign("HMAC", made, new TextEncoder().encode(text));
    return new Uint8Array(bytes).toBase64({ alphabet: "base64url", omitPadding: true });
  };
}

/** A server at an address. */
export interface Listener {
  /** The port that it has. */
  readonly port: number;
  /** Takes no more connections; resolves when those that there are have ended. */
  shutdown(): Promise<void>;
}

type Serve = (request: Request, address: string) => Response | Promise<Response>;

/** Listens at an address. Throws Fault `unavailable` where that cannot be had. */
export function listen(
  at: { readonly hostname: string; readonly port: number },
  serve: Serve,
): Listener {
  const server = begin(at, serve);
  const { addr } = server;
  return Object.freeze<Listener>({
    port: "port" in addr ? addr.port : at.port,
    shutdown: () => server.shutdown(),
  });
}

function begin(
  at: { readonly hostname: string; readonly port: number },
  serve: Serve,
): Deno.HttpServer {
  try {
    return Deno.serve(
      { ...at, onListen: () => undefined },
      (request, { remoteAddr }) =>
        serve(request, "hostname" in remoteAddr ? remoteAddr.hostname : "unknown"),
    );
  } catch (cause) {
    const why = cause instanceof Deno.errors.AddrInUse
      ? "another program listens there"
      : cause instanceof Deno.errors.AddrNotAvailable
      ? "this machine has no such address"
      : cause instanceof Deno.errors.PermissionDenied
      ? "only root may listen at this port"
      : undefined;
    if (why === undefined) throw cause;
    const other = `${at.hostname}:${at.port === 65_535 ? at.port - 1 : at.port + 1}`;
    throw new Fault(
      "unavailable",
      `Cannot serve at ${at.hostname}:${at.port}: ${why}; give another address, such as ${other}`,
      { cause },
    );
  }
}
