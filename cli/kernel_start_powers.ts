/** Starts a kernel that outlives this process. DESIGN section 1. @module */
import { join } from "node:path";
import type { KernelConfig } from "../contracts/mod.ts";
import { kernelFlags } from "./kernel_flags.ts";

const LOG_LIMIT = 1_000_000;
// The shell sends the kernel's words to its log and becomes the kernel: `exec` leaves no shell.
const INTO_LOG = 'exec "$@" >>"$REMIT_LOG" 2>&1';

/** A kernel that was just started. */
export interface StartedKernel {
  /** Resolves with the exit code, should it end before anybody could reach it. */
  readonly ended: Promise<number>;
  /** What it wrote since it was started: untrusted text. */
  log(): string;
}

function sizeOf(path: string): number {
  try {
    return Deno.statSync(path).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}

/**
 * Starts a kernel, detached, its words going to `dir`/log.
 *
 * Not `node:child_process`: Deno's rewrites argument lists that name its own executable.
 */
export async function startKernel(
  config: KernelConfig,
  options: { readonly bundle: string; readonly mounts: readonly string[] },
): Promise<StartedKernel> {
  const path = join(config.dir, "log");
  const size = sizeOf(path);
  // Cut between runs only: a kernel says next to nothing.
  const from = size > LOG_LIMIT ? 0 : size;
  if (from === 0) {
    Deno.writeFileSync(path, new Uint8Array(), { mode: 0o600 });
  }
  const child = new Deno.Command("/bin/sh", {
    args: ["-c", INTO_LOG, "sh", config.programs.deno, ...kernelFlags(config, options)],
    cwd: config.dir,
    clearEnv: true,
    env: {
      REMIT_LOG: path,
      DENO_DIR: config.denoDir,
      DENO_NO_UPDATE_CHECK: "1",
      NO_COLOR: "1",
    },
    stdin: "piped",
    stdout: "null",
    stderr: "null",
    detached: true,
  }).spawn();
  const ended = child.status.then(({ code }) => code);
  const input = child.stdin.getWriter();
  try {
    await input.write(new TextEncoder().encode(`${JSON.stringify(config)}\n`));
    await input.close();
  } catch (error) {
    // It ended before it read: `ended` says so.
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
  child.unref();
  return Object.freeze({ ended, log: () => Deno.readTextFileSync(path).slice(from) });
}
