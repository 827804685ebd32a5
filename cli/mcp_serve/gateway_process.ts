/**
 * The gateway's process as its starter knows it: the powers to start it and its command line. docs/decision/0016.
 * @module
 */
import type { PortHandler } from "../../contracts/mod.ts";
import type { GatewayLink } from "../../service/mod.ts";
import { denying, type WalledLine, walledLine, type WalledParts } from "../program/walled_line.ts";

// What `remit mcp serve` is handed beside the rest: the gateway's process, this process's own streams, waiting.

/** What a gateway is started with. */
export interface GatewayStart {
  /** Where it listens; absent: nowhere, it has no permission at all. */
  readonly listen?: { readonly hostname: string; readonly port: number };
  /** Serves what it asks. TRUST: it may be hostile. */
  readonly handler: PortHandler;
}

/** Everything of serving that is not on the ordinary disk or screen. */
export interface ServeHands {
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

// The command line that starts a gateway: no right at all, or one listen address. docs/decision/0016.

/** What a line is made of. */
export interface ServeLineParts extends WalledParts {
  readonly listen: { readonly hostname: string; readonly port: number } | undefined;
}

/** What a gateway may take. */
export const SERVE_MOST = { files: 4_096, heap: 512, pages: 64, data: 2_048, file: 1 } as const;

/** Makes it. */
export function serveLine({ listen, ...parts }: ServeLineParts): WalledLine {
  return walledLine(parts, {
    flags: [
      // A request's signal then tells that its host has gone, and nothing else.
      "--unstable-no-legacy-abort",
      ...denying("read", "write", "run", "sys", "ffi", "import"),
      listen === undefined ? "--deny-net" : `--allow-net=${addressText(listen)}`,
    ],
    most: SERVE_MOST,
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
