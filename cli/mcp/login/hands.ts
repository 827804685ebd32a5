/** What a login at a remote MCP server is handed. @module */
import type { CallbackSeen } from "./callback.ts";
import type { NetLink } from "./net.ts";

/** A net service process that runs. */
export interface LoginService {
  readonly link: NetLink;
  /** Ends it. */
  close(): Promise<void>;
}

/** What a browser is answered: plain text. */
export interface LoginPage {
  readonly status: number;
  readonly text: string;
}

/** Where a person's browser is sent back to. */
export interface Loopback {
  readonly port: number;
  /** Ends it when what is under way is answered. */
  close(): Promise<void>;
}

/** The hands of `remit mcp login`. */
export interface LoginHands {
  /** Starts a net service: the network and no file. Throws Fault `unavailable`. */
  start(): Promise<LoginService>;
  /** Listens on 127.0.0.1; port 0: a free one. Throws Fault `unavailable`. */
  listen(port: number, answer: (seen: CallbackSeen) => LoginPage): Loopback;
  /** 256 random bits, base64url. */
  random(): string;
  /** Runs `run` once after `ms` milliseconds; the answer takes it back. */
  after(ms: number, run: () => void): () => void;
}
