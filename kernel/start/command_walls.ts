/** Which walls can stand around programs of this machine. @module */
import type { KernelConfig } from "../../contracts/mod.ts";
import { type CommandIdentity, lineOfCommand, type WallPrograms } from "./command_line.ts";
import type { SpawnPowers } from "./spawn.ts";

/** What stands: without it no program of the machine is run. */
export type CommandWalls =
  | { readonly kind: "walled"; readonly identity: CommandIdentity }
  | { readonly kind: "none"; readonly why: string };

/** Says why commands are refused, and what would help. */
const MISSING = "it needs Linux with bubblewrap 0.8 or newer and prlimit (see `remit doctor`)";

/** The walls for what remit.yaml grants: nothing is tried where it grants nothing. */
export async function provideCommandWalls(
  { commands, programs }: Pick<KernelConfig, "commands" | "programs">,
  spawn: Pick<SpawnPowers, "succeeds">,
): Promise<CommandWalls> {
  if (commands.length > 0) return await probeCommandWalls(programs, spawn);
  return { kind: "none", why: "remit.yaml grants no program of this machine" };
}

/**
 * Tries the very walls on an empty program: as nobody where this user is root, whose processes
 * nothing counts, else as this user.
 */
export async function probeCommandWalls(
  programs: WallPrograms,
  spawn: Pick<SpawnPowers, "succeeds">,
): Promise<CommandWalls> {
  const { bwrap, setpriv, prlimit } = programs;
  if (bwrap === undefined || prlimit === undefined) return { kind: "none", why: MISSING };
  const identities: readonly CommandIdentity[] = setpriv === undefined
    ? ["own"]
    : ["nobody", "own"];
  for (const identity of identities) {
    const { program, args } = lineOfCommand(programs, {
      ...{ identity, work: "", mounts: [], cwd: ".", env: {} },
      // A program that is there wherever it is.
      ...{ pin: prlimit, program: prlimit, args: ["--version"] },
    });
    if (await spawn.succeeds(program, args)) return { kind: "walled", identity };
  }
  return { kind: "none", why: `its walls do not stand on this machine; ${MISSING}` };
}
