/**
 * Starts a kernel that outlives this process, with exactly the permissions that docs/design.md
 * gives it. Used by kernels_powers.ts.
 * @module
 */
import { join } from "node:path";
import { CHILD_FLAGS } from "../../contracts/base/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";

const LOG_LIMIT = 1_000_000;
// The shell redirects the kernel's output to its log and becomes the kernel: `exec` leaves no shell.
const INTO_LOG = 'exec "$@" >>"$REMIT_LOG" 2>&1';
// Descriptors that the caller left open, of a folder perhaps, would be a way out of every namespace. Only bash closes
// descriptors above 9; other shells take the number for a program.
const CLOSE_ALL = 'for d in /proc/self/fd/* /dev/fd/*; do d="${d##*/}"; case "$d" in [3-9]) ;; ' +
  '[1-9][0-9]|[1-9][0-9][0-9]) [ -n "${BASH_VERSION:-}" ] || continue ;; *) continue ;; esac; ' +
  'eval "exec $d>&-" 2>/dev/null; done';
/** In order of preference; every system has /bin/sh. */
const SHELLS = ["/bin/bash", "/bin/sh"] as const;

function statOf(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/**
 * Starts a kernel, detached; its output goes to `dir`/log.
 *
 * Not by `node:child_process`: Deno's version rewrites argument lists that name Deno's own executable.
 */
export async function startKernel(
  config: KernelConfig,
  options: { readonly bundle: string; readonly mounts: readonly string[] },
): Promise<{
  /** Resolves with the exit code, should the kernel end. */
  readonly ended: Promise<number>;
  /** The kernel's output since its start: untrusted text. */
  log(): string;
}> {
  const path = join(config.dir, "log");
  const size = statOf(path)?.size ?? 0;
  // The log is only cut between runs: a kernel writes little.
  const from = size > LOG_LIMIT ? 0 : size;
  if (from === 0) {
    Deno.writeFileSync(path, new Uint8Array(), { mode: 0o600 });
  }
  const shell = SHELLS.find((each) => statOf(each)?.isFile) ?? "/bin/sh";
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
      // By default Deno polls sockets and pipes only every 61 ready events: while a hundred tasks commit one after the
      // other, no connection would be served for 0.1 s and more.
      DENO_TOKIO_EVENT_INTERVAL: "1",
      // The compiler's threads free what they allocate: one heap for all of them holds 3 MB less.
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
    // The kernel ended before it read: `ended` reports that.
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
  child.unref();
  return Object.freeze({ ended, log: () => Deno.readTextFileSync(path).slice(from) });
}

const START = [
  "run",
  ...CHILD_FLAGS,
  "--ignore-env",
  // A hundred tasks produce garbage faster than V8 collects by default: these halve the memory.
  "--v8-flags=--max-semi-space-size=2,--heap-growing-percent=20",
];

/** The part of a configuration that decides the kernel's permissions. */
export type Granted = Pick<
  KernelConfig,
  | "dir"
  | "runtime"
  | "programs"
  | "denoDir"
  | "brokerSockets"
  | "controlSocket"
  | "tools"
  | "weights"
  | "session"
  | "store"
>;

/**
 * The kernel's own permissions: its state and runtime folders, its sockets, the programs that it starts, plugins' code and
 * models' weights; reading mounts only where no namespace resolves them. Throws a TypeError for a path with a comma,
 * which Deno reads as a separator.
 */
export function kernelPermissions(config: Granted, mounts: readonly string[]): string[] {
  const own = [
    config.dir,
    config.runtime,
    ...(config.store?.work === undefined ? [] : [config.store.work]),
  ];
  const storage = `${config.denoDir}/location_data`;
  const { engine, plugins } = config.tools;
  const code = [...(engine === undefined ? [] : [engine]), ...plugins].map(({ file }) => file);
  const read = [
    ...own,
    config.weights,
    storage,
    ...code,
    ...(config.session === undefined ? [] : [config.session]),
    ...(config.programs.bwrap === undefined ? mounts : []),
  ];
  const programs = Object.values(config.programs).filter((each) => each !== undefined);
  const sockets = [config.controlSocket, ...config.brokerSockets].map((each) => `unix:${each}`);
  return [
    `--allow-read=${list(read)}`,
    `--allow-write=${list(own)}`,
    `--allow-run=${list(programs)}`,
    `--allow-net=${list(sockets)}`,
  ];
}

/** The arguments of `deno` that start a kernel. Throws as {@link kernelPermissions}. */
export function kernelFlags(
  config: Granted,
  options: { readonly bundle: string; readonly mounts: readonly string[] },
): string[] {
  return [...START, ...kernelPermissions(config, options.mounts), options.bundle];
}

function list(paths: readonly string[]): string {
  for (const path of paths) {
    if (path.includes(",")) throw new TypeError(`Cannot grant "${path}": it holds a comma`);
  }
  return [...new Set(paths)].join(",");
}
