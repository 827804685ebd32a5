/** Listens on the control socket and serves connections. Used by kernel/main.ts. @module */
import { CONTROL_VERSION, type KernelConfig } from "../contracts/wire/wire_control.ts";
import { portOverConn } from "../port/stream_powers.ts";
import {
  type Control,
  type ControlHandlers,
  type ControlParts,
  makeControl,
  rulesDigest,
} from "./control/control.ts";
import { listenControl, note } from "./main_powers.ts";
import type { Watching } from "./core/log/watch.ts";

/** The handlers, and the facts of the greeting. */
export interface ServeParts {
  readonly config: Pick<KernelConfig, "harness" | "controlSocket" | "policy" | "commands">;
  readonly handlers: ControlHandlers;
  readonly watching: Watching;
  readonly peers: ControlParts["peers"];
  /** This process's pid, for the greeting. */
  readonly pid: number;
  /** Raw Ed25519 public key of the receipts, base64url. */
  readonly receiptKey: string;
  head(): string;
  /** Digest of the kept secrets. */
  secrets(): string;
}

/** Requests of the operator's own program may be larger and more frequent than a worker's. */
const LIMITS = { frameBytes: 64_000_000, nodes: 4_000_000, framesPerSecond: 1_000_000 };
const MAX_UNREAD = 256_000_000;

/** Resolves once the socket listens. */
export async function serveControl(parts: ServeParts): Promise<Control> {
  const { config, handlers, watching, peers, pid, receiptKey } = parts;
  const control = makeControl({
    ...{ handlers, watching, peers },
    note,
    welcome: () => ({
      version: CONTROL_VERSION,
      harness: config.harness,
      pid,
      receiptKey,
      rules: rulesDigest(config),
      head: parts.head(),
      secrets: parts.secrets(),
    }),
  });
  const listener = await listenControl(config.controlSocket);
  void (async () => {
    for await (const connection of listener) {
      control.serve((handler) =>
        portOverConn(connection, { handler, limits: LIMITS, bufferedBytes: MAX_UNREAD })
      );
    }
  })();
  return control;
}
