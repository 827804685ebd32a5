/** Which walls stand around children on this machine. @module */
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import { type CommandIdentity, lineOfCommand } from "./command_line.ts";
import type { StartLine, WallConfig } from "./line_parts.ts";
import type { SpawnPowers } from "./spawn.ts";
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

/** What stands: without it no program of the machine is run. */
export type CommandWalls =
  | { readonly kind: "walled"; readonly identity: CommandIdentity }
  | { readonly kind: "none"; readonly why: string };

/** Says why commands are refused, and what would help. */
const MISSING =
  "it needs Linux with seccomp, bubblewrap 0.8 or newer and prlimit (see `remit doctor`)";

/** The walls for what remit.yaml grants: nothing is tried where it grants nothing. */
export async function provideCommandWalls(
  config: WallConfig & Pick<KernelConfig, "commands">,
  spawn: Pick<SpawnPowers, "succeeds" | "keepFilters">,
): Promise<CommandWalls> {
  if (config.commands.length > 0) return await probeCommandWalls(config, spawn);
  return { kind: "none", why: "remit.yaml grants no program of this machine" };
}

/**
 * Tries the very walls on an empty program: as nobody where this user is root, whose processes
 * nothing counts, else as this user.
 */
export async function probeCommandWalls(
  config: WallConfig,
  spawn: Pick<SpawnPowers, "succeeds" | "keepFilters">,
): Promise<CommandWalls> {
  const { bwrap, setpriv, prlimit } = config.programs;
  if (bwrap === undefined || prlimit === undefined) return { kind: "none", why: MISSING };
  if (!spawn.keepFilters(config.dir)) return { kind: "none", why: MISSING };
  const identities: readonly CommandIdentity[] = setpriv === undefined
    ? ["own"]
    : ["nobody", "own"];
  for (const identity of identities) {
    const { program, args } = lineOfCommand(config, {
      ...{ identity, work: "", mounts: [], cwd: ".", env: {} },
      // A program that is there wherever it is.
      ...{ pin: prlimit, program: prlimit, args: ["--version"] },
    });
    if (await spawn.succeeds(program, args)) return { kind: "walled", identity };
  }
  return { kind: "none", why: `its walls do not stand on this machine; ${MISSING}` };
}
