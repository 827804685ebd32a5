/** The walls around children that this machine supports. @module */
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import { type CommandIdentity, lineOfCommand } from "./command_line.ts";
import type { StartLine, WallConfig } from "./line_parts.ts";
import type { SpawnPowers } from "./spawn.ts";
import { lineOfFilterProbe, lineOfProbe } from "./start_line.ts";

/** The working walls, for `remit doctor` and for start lines. */
export interface Walls {
  /** Children that touch files run in a namespace of their own. */
  readonly bwrap: boolean;
  /** System calls inside namespaces are filtered; without this no foreign program runs. */
  readonly filter: boolean;
  /** Children end with the kernel, even when they spin. */
  readonly setpriv: boolean;
  /** Memory, open files and file size of children are limited. */
  readonly prlimit: boolean;
  /** Children yield the processor to the kernel. */
  readonly nice: boolean;
  /** Children cannot keep `localStorage` or `caches`. */
  readonly storage: boolean;
}

/** Deno's folder for a child's storage; a file in its place disables storage. */
const STORAGE = "location_data";

/** Tries each wall's program once; a missing or failing one is a missing wall. */
export async function probeWalls(
  config: WallConfig & Pick<KernelConfig, "denoDir">,
  spawn: Pick<SpawnPowers, "succeeds" | "occupy" | "keepFilters">,
): Promise<Walls> {
  const attempt = (line: StartLine): Promise<boolean> => spawn.succeeds(line.program, line.args);
  const { deno, bwrap, setpriv, prlimit, nice } = config.programs;
  const kept = bwrap !== undefined && spawn.keepFilters(config.dir);
  // Each small program is tried by running itself, the only program that surely exists.
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

/** The walls for the machine's programs; with `none`, no such program runs. */
export type CommandWalls =
  | { readonly kind: "walled"; readonly identity: CommandIdentity }
  | { readonly kind: "none"; readonly why: string };

/** Says why commands are refused, and what would help. */
const MISSING =
  "it needs Linux with seccomp, bubblewrap 0.8 or newer and prlimit (see `remit doctor`)";

/** The walls for the programs that remit.yaml grants; tried only where it grants any. */
export async function provideCommandWalls(
  config: WallConfig & Pick<KernelConfig, "commands">,
  spawn: Pick<SpawnPowers, "succeeds" | "keepFilters">,
): Promise<CommandWalls> {
  if (config.commands.length > 0) return await probeCommandWalls(config, spawn);
  return { kind: "none", why: "remit.yaml grants no program of this machine" };
}

/**
 * Tries the real walls with a trivial program: as `nobody` where this user is root, whose processes
 * no limit counts, else as this user.
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
      // prlimit itself, the only program that surely exists here.
      ...{ pin: prlimit, program: prlimit, args: ["--version"] },
    });
    if (await spawn.succeeds(program, args)) return { kind: "walled", identity };
  }
  return { kind: "none", why: `its walls do not stand on this machine; ${MISSING}` };
}
