/** What `remit serve` is handed beside the rest: its lock, its own small door, time. @module */
import type { Json } from "../../contracts/mod.ts";

/** The hands of the service. */
export interface ServiceHands {
  /** Takes a lock that ends with this process; undefined when another process has it. The file is 0600. */
  lock(path: string): Disposable | undefined;
  /** Listens on a unix socket of this user (0600), for commands at other terminals. Replaces what nobody listens at. */
  door(path: string, serve: (op: string, body: Json) => Promise<Json>): Disposable;
  /** Asks a service; undefined when none listens there. Rejects with its faults. */
  knock(path: string, op: string, body: Json): Promise<Json | undefined>;
  /** Runs `run` once after `ms` milliseconds; the answer takes it back. */
  after(ms: number, run: () => void): () => void;
  /**
   * Calls `run` for each SIGHUP; the answer takes it back. Where the terminal that the command was started at has gone, it
   * means the end, as SIGTERM.
   */
  hangup(run: () => void): () => void;
  /** A number from 0 to 1, for spreading retries. */
  random(): number;
}
