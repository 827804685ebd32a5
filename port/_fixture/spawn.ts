/** Real children for tests. @module */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** Starts a program of this folder as Remit starts children, without any permission. */
export function start(program: string, ...args: readonly string[]): ChildProcess {
  const path = new URL(program, import.meta.url).pathname;
  const flags = ["--no-prompt", "--no-lock", "--no-remote", "--no-npm", "--quiet", "--no-check"];
  return spawn(Deno.execPath(), ["run", ...flags, path, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
  });
}

/** Ends `child` and waits until it has ended. */
export async function stop(child: ChildProcess): Promise<void> {
  const ended = child.exitCode === null && child.signalCode === null ? once(child, "close") : null;
  child.kill("SIGKILL");
  await ended;
}
