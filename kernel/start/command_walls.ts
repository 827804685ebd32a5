/** Which walls can stand around programs of this machine. @module */
import type { KernelConfig } from "../../contracts/mod.ts";
import { type CommandIdentity, lineOfCommand } from "./command_line.ts";
import type { WallConfig } from "./line_parts.ts";
import type { SpawnPowers } from "./spawn.ts";

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
