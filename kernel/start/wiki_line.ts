/** The start line of a wiki's process: two folders, and nothing else of the machine. docs/decision/0013. @module */
import { cacheBeside, Fault, type KernelConfig } from "../../contracts/mod.ts";
import {
  DENIED,
  denoLine,
  environment,
  filtered,
  NAMESPACE,
  namespace,
  started,
  type StartLine,
  type WallConfig,
} from "./line_parts.ts";
import type { Walls } from "./walls.ts";

/** What a wiki's process holds: absolute, real folders. */
export interface WikiFolders {
  readonly folder: string;
  readonly stateFolder: string;
  /** The wiki's folder is bound read-only. The state is written all the same: SQLite needs it to read. */
  readonly readOnly: boolean;
}

/**
 * The start line. Both folders keep their names within the namespace, which the store compares.
 *
 * @throws Fault `invalidInput` for a folder with a comma, which Deno reads as a separator
 */
export function lineOfWiki(
  config: WallConfig & Pick<KernelConfig, "bundles">,
  walls: Walls,
  { folder, stateFolder, readOnly }: WikiFolders,
): StartLine {
  const comma = [folder, stateFolder].find((path) => path.includes(","));
  if (comma !== undefined) {
    throw new Fault("invalidInput", `Cannot open wiki ${JSON.stringify(folder)}: it holds a comma`);
  }
  const { bwrap, deno } = config.programs, bundle = config.bundles.wiki;
  const denoDir = cacheBeside(bundle);
  const rights = [
    ...["--ignore-env", `--allow-read=${folder},${stateFolder}`],
    `--allow-write=${readOnly ? stateFolder : `${folder},${stateFolder}`}`,
    ...DENIED.filter((flag) => !["--deny-read", "--deny-write", "--deny-env"].includes(flag)),
  ];
  if (!walls.bwrap || bwrap === undefined) {
    const inner = denoLine(deno, "wiki", bundle, rights);
    return started(config, walls, "wiki", inner, environment(denoDir));
  }
  const wall = [
    ...namespace(bwrap, deno, environment(NAMESPACE.denoDir)),
    ...["--tmpfs", "/tmp"],
    ...["--ro-bind", bundle, bundle],
    ...["--ro-bind", denoDir, NAMESPACE.denoDir],
    ...[readOnly ? "--ro-bind" : "--bind", folder, folder],
    ...["--bind", stateFolder, stateFolder],
    // Deno's Node.js layer looks where its own executable is, and ends if it cannot.
    ...["--symlink", NAMESPACE.deno, "/proc/self/exe"],
    ...["--remount-ro", "/", "--chdir", "/", "--"],
    ...denoLine(NAMESPACE.deno, "wiki", bundle, rights),
  ];
  const inner = filtered(config, walls.filter ? "closed" : undefined, wall);
  return started(config, { ...walls, setpriv: false }, "wiki", inner, {});
}
