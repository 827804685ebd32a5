/** What a process may do to its children. @module */
import type { Signal } from "../../contracts/mod.ts";
import type { WorkerRequest } from "../worker/worker_ops.ts";

/** Children of a process, as its session reaches them. */
export interface Offspring {
  spawn(request: Extract<WorkerRequest, { op: "spawn" }>["body"]): Promise<number>;
  wait(pid: number): Promise<{ readonly exit: number; readonly text: string }>;
  kill(pid: number, signal: Signal): Promise<void>;
}
