/** How processes of this machine end: by SIGKILL, with a status, and without having read what was written to them. @module */
import type { ExitStatus } from "./spawn.ts";

/** Sends SIGKILL. One that was reaped between the caller's check and this call is in the wanted state. */
export function killChild(child: Pick<Deno.ChildProcess, "kill">): void {
  try {
    child.kill("SIGKILL");
  } catch (cause) {
    if (!(cause instanceof TypeError) && !(cause instanceof Deno.errors.NotFound)) throw cause;
  }
}

/** A status as the kernel tells it: a code, or the signal that ended it. */
export function exitOf({ code, signal }: Deno.CommandStatus): ExitStatus {
  return signal === null ? { code, signal: null } : { code: null, signal };
}

/** For writes: a program need not read its input, and one that ends breaks its pipe; its end is told of elsewhere. */
export function brokenPipe(_cause: unknown): void {}
