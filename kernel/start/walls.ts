/** Which walls stand around children on this machine. @module */
import type { KernelConfig } from "../../contracts/mod.ts";
import type { SpawnPowers } from "./spawn.ts";
import type { StartLine, WallConfig } from "./line_parts.ts";
import { lineOfFilterProbe, lineOfProbe } from "./start_line.ts";

/** What stands, for `remit doctor` and for the start line. */
export interface Walls {
  /** Children that touch files live in a namespace of their own. */
  readonly bwrap: boolean;
  /** System calls of what runs in a namespace are filtered: without it no foreign program is run. */
  readonly filter: boolean;
  /** Children end with the kernel, even when they spin. */
  readonly setpriv: boolean;
  /** Memory, open files and file size of children are limited. */
  readonly prlimit: boolean;
  /** Children yield the processor to the kernel. */
  readonly nice: boolean;
  /** Children find no place to keep `localStorage` or `caches` in. */
  readonly storage: boolean;
}

/** Where Deno would keep what a child stores; a file in its place makes every child forgetful. */
const STORAGE = "location_data";

/** Tries each program once. A missing or failing one is a wall that does not stand. */
export async function probeWalls(
  config: WallConfig & Pick<KernelConfig, "denoDir">,
  spawn: Pick<SpawnPowers, "succeeds" | "occupy" | "keepFilters">,
): Promise<Walls> {
  const attempt = (line: StartLine): Promise<boolean> => spawn.succeeds(line.program, line.args);
  const { deno, bwrap, setpriv, prlimit, nice } = config.programs;
  const kept = bwrap !== undefined && spawn.keepFilters(config.dir);
  // Each small one is made to run a program that is there wherever it is: itself.
  const tries = [
    bwrap === undefined ? false : attempt(lineOfProbe(bwrap, deno)),
    kept ? attempt(lineOfFilterProbe(config)) : false,
    setpriv === undefined
      ? false
      : spawn.succeeds(setpriv, ["--pdeathsig", "KILL", "--", setpriv, "--version"]),
    prlimit === undefined
      ? false
      : spawn.succeeds(prlimit, ["--core=0", "--", prlimit, "--version"]),
    nice === undefined ? false : spawn.succeeds(nice, ["-n", "10", nice, "--version"]),
  ];
  const [
    hasBwrap = false,
    hasFilter = false,
    hasSetpriv = false,
    hasPrlimit = false,
    hasNice = false,
  ] = await Promise
    .all(tries);
  return Object.freeze({
    bwrap: hasBwrap,
    filter: hasFilter,
    setpriv: hasSetpriv,
    prlimit: hasPrlimit,
    nice: hasNice,
    storage: spawn.occupy(`${config.denoDir}/${STORAGE}`),
  });
}
