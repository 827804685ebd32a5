/** The powers of `remit serve`: its lock, a socket for other terminals, time. @module */
import type { Json } from "../../contracts/base/mod.ts";

/** The powers of a service. */
export interface ServicePowers {
  /** Takes a lock that ends with this process; undefined when another has it. The file is 0600. */
  lock(path: string): Disposable | undefined;
  /** Serves commands at other terminals of this user on a unix socket (0600). */
  door(path: string, serve: (op: string, body: Json) => Promise<Json>): Disposable;
  /** Asks the service at `path`; undefined where none listens. Rejects with its faults. */
  askService(path: string, op: string, body: Json): Promise<Json | undefined>;
  /** Runs `run` once after `ms` milliseconds; the returned function cancels it. */
  after(ms: number, run: () => void): () => void;
  /**
   * Calls `run` for each SIGHUP; the returned function stops this. If the command's terminal is
   * gone, the signal ends the service, as SIGTERM does.
   */
  hangup(run: () => void): () => void;
  /** A number from 0 to 1, for spreading retries. */
  random(): number;
}
