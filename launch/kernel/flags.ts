/** The kernel's start line: exactly the permissions that docs/design.md gives it. @module */
import { CHILD_FLAGS } from "../../contracts/base/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";

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
