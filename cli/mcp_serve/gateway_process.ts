/**
 * The gateway's process as its starter knows it: the powers to start it and its command line.
 * docs/decision/0016.
 * @module
 */
import type { PortHandler } from "../../contracts/base/mod.ts";
import type { GatewayLink } from "../../service/mod.ts";
import {
  denying,
  type WalledLine,
  walledLine,
  type WalledParts,
} from "../../launch/program/walled_line.ts";

/** Where a gateway listens, and who answers it. */
export interface GatewayStart {
  /** Absent: the gateway listens nowhere and has no permission at all. */
  readonly listen?: { readonly hostname: string; readonly port: number };
  /** Answers the gateway. TRUST: it may be hostile. */
  readonly handler: PortHandler;
}

/** The powers of serving hosts. */
export interface ServePowers {
  /** Starts the gateway's process behind its walls. Throws `unavailable` when it does not start. */
  start(start: GatewayStart): Promise<GatewayLink>;
  /** Standard input as text, until it ends. */
  input(): AsyncIterable<string>;
  /** Writes to standard output: the protocol's bytes, which no terminal is shown. */
  output(text: string): void;
  /** Resolves after some milliseconds, or when `signal` aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
  /** 32 random bytes, base64url. */
  secret(): string;
}

/** The parts of a gateway's command line. */
export interface ServeLineParts extends WalledParts {
  readonly listen: { readonly hostname: string; readonly port: number } | undefined;
}

/** Limits of a gateway's process. */
export const SERVE_MOST = { files: 4_096, heap: 512, pages: 64, data: 2_048, file: 1 } as const;

/** The command line of a gateway: without any right, or with one listen address. */
export function serveLine({ listen, ...parts }: ServeLineParts): WalledLine {
  return walledLine(parts, {
    flags: [
      // The signal of a request then tells only that its host has gone.
      "--unstable-no-legacy-abort",
      ...denying("read", "write", "run", "sys", "ffi", "import"),
      listen === undefined ? "--deny-net" : `--allow-net=${addressText(listen)}`,
    ],
    max: SERVE_MOST,
    sharing: listen === undefined ? [] : ["--share-net"],
  });
}

/** `host:port`, as Deno's flags and `Host` headers write it. */
export function addressText({ hostname, port }: {
  readonly hostname: string;
  readonly port: number;
}): string {
  return `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}
