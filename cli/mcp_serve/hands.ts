/** What `remit mcp serve` is handed beside the rest: the gateway's process, this process's own streams, waiting. @module */
import type { Json, PortHandler } from "../../contracts/mod.ts";

/** A gateway that was started. */
export interface GatewayLink {
  ask(op: string, body: Json): Promise<Json>;
  tell(op: string, body: Json): void;
  /** Resolves when it has ended, or broke the protocol and was ended. */
  readonly closed: Promise<Error>;
  /** Ends it now. */
  kill(): Promise<void>;
  /** Its number in the operating system. */
  readonly pid: number;
}

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
