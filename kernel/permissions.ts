/** The permissions of the kernel process itself, as Deno flags. Pure: init computes them. DESIGN section 1. @module */
import type { KernelConfig, Mount } from "../contracts/mod.ts";
import { STORAGE, type Walls } from "./walls.ts";

/**
 * The kernel's own `--allow` flags: its state and runtime folders, its sockets, the programs that it
 * starts; read on the mounts only where no namespace resolves them. Throws a TypeError for a path
 * that holds a comma, which Deno reads as a separator.
 */
export function kernelPermissions(
  config: Pick<
    KernelConfig,
    "dir" | "runtime" | "programs" | "denoDir" | "brokerSockets" | "controlSocket"
  >,
  mounts: readonly Pick<Mount, "dir">[],
  walls: Pick<Walls, "bwrap">,
): string[] {
  const own = [config.dir, config.runtime];
  const programs = Object.values(config.programs).filter((path) => path !== undefined);
  const sockets = [config.controlSocket, ...config.brokerSockets].map((path) => `unix:${path}`);
  return [
    `--allow-read=${
      list([
        ...own,
        `${config.denoDir}/${STORAGE}`,
        ...(walls.bwrap ? [] : mounts.map(({ dir }) => dir)),
      ])
    }`,
    `--allow-write=${list(own)}`,
    `--allow-run=${list(programs)}`,
    `--allow-net=${list(sockets)}`,
  ];
}

function list(paths: readonly string[]): string {
  for (const path of paths) {
    if (path.includes(",")) throw new TypeError(`Cannot grant "${path}": it holds a comma`);
  }
  return [...new Set(paths)].join(",");
}
