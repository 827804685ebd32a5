/** The kernel's start line: exactly the permissions of DESIGN section 1. @module */
import type { KernelConfig } from "../contracts/mod.ts";

const START = [
  "run",
  "--quiet",
  "--no-prompt",
  "--no-config",
  "--no-lock",
  "--no-remote",
  "--no-npm",
  "--cached-only",
  "--ignore-env",
];

/**
 * Words after `deno` that start a kernel. Throws when a path holds a comma, which Deno reads as a
 * separator.
 */
export function kernelFlags(
  config: KernelConfig,
  options: { readonly bundle: string; readonly mounts: readonly string[] },
): string[] {
  const list = (paths: readonly string[]): string => {
    for (const path of paths) {
      if (path.includes(",")) throw new TypeError(`Cannot grant "${path}": it holds a comma`);
    }
    return [...new Set(paths)].join(",");
  };
  const own = [config.dir, config.runtime];
  // Without bubblewrap the kernel itself resolves real paths of the declared mounts.
  const read = config.programs.bwrap === undefined ? [...own, ...options.mounts] : own;
  const programs = Object.values(config.programs).filter((each) => each !== undefined);
  return [
    ...START,
    `--allow-read=${list(read)}`,
    `--allow-write=${list(own)}`,
    `--allow-run=${list(programs)}`,
    `--allow-net=${
      list([config.controlSocket, ...config.brokerSockets].map((each) => `unix:${each}`))
    }`,
    options.bundle,
  ];
}
