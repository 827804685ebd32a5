/** Starts a kernel that outlives this process. @module */
import { join } from "node:path";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import { kernelFlags } from "./flags.ts";

const LOG_LIMIT = 1_000_000;
// The shell sends the kernel's words to its log and becomes the kernel: `exec` leaves no shell.
const INTO_LOG = 'exec "$@" >>"$REMIT_LOG" 2>&1';
// What whoever started this process left open for its children, a folder perhaps, would be a way out
// of every namespace. Only bash closes descriptors above 9; other shells take the number for a program.
const CLOSE_ALL = 'for d in /proc/self/fd/* /dev/fd/*; do d="${d##*/}"; case "$d" in [3-9]) ;; ' +
  '[1-9][0-9]|[1-9][0-9][0-9]) [ -n "${BASH_VERSION:-}" ] || continue ;; *) continue ;; esac; ' +
  'eval "exec $d>&-" 2>/dev/null; done';
/** The first that is there: the other one is everywhere. */
const SHELLS = ["/bin/bash", "/bin/sh"] as const;

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

function isThere(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
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
  const shell = SHELLS.find(isThere) ?? "/bin/sh";
  const child = new Deno.Command(shell, {
    args: [
      "-c",
      `${CLOSE_ALL}; ${INTO_LOG}`,
      "sh",
      config.programs.deno,
      ...kernelFlags(config, options),
    ],
    cwd: config.dir,
    clearEnv: true,
    env: {
      REMIT_LOG: path,
      DENO_DIR: config.denoDir,
      DENO_NO_UPDATE_CHECK: "1",
      // Deno looks at sockets and pipes after 61 turns of what is ready, unless told otherwise: while
      // a hundred tasks commit one after the other, nobody else would be heard for 0.1 s and more.
      DENO_TOKIO_EVENT_INTERVAL: "1",
      // The compiler's threads free what they take: one heap for all of them holds 3 MB less.
      MALLOC_ARENA_MAX: "1",
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
