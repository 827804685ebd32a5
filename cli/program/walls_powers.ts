/** Looks which walls of DESIGN sections 1 and 4 stand on this machine. @module */
import type { Walls } from "../hands.ts";
import { FILTERING, opening } from "../../kernel/start/seccomp.ts";
import { makeSpawnPowers } from "../../kernel/start/spawn_powers.ts";
import { findPrograms } from "./programs_powers.ts";

/** Tries a filter of system calls on a program that is there wherever it is. */
async function filters({ bwrap }: Awaited<ReturnType<typeof findPrograms>>): Promise<boolean> {
  if (bwrap === undefined) return false;
  const dir = Deno.makeTempDirSync({ prefix: "remit-doctor-" });
  try {
    const spawn = makeSpawnPowers();
    if (!spawn.keepFilters(dir)) return false;
    const [program = "", ...words] = opening(dir, "program");
    const wall = [bwrap, ...FILTERING, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/"];
    return await spawn.succeeds(program, [...words, ...wall, "true"]);
  } finally {
    Deno.removeSync(dir, { recursive: true });
  }
}

/** Makes the look-out. */
export function makeWalls(): Walls {
  return Object.freeze({
    async look(): ReturnType<Walls["look"]> {
      const programs = await findPrograms();
      const linux = Deno.build.os === "linux";
      const wall = (
        name: string,
        stands: boolean,
        yes: string,
        no: string,
      ): { wall: string; stands: boolean; says: string } => ({
        wall: name,
        stands,
        says: stands ? yes : no,
      });
      return [
        wall("deno", true, `${Deno.version.deno}; permissions for every process`, ""),
        wall(
          "broker",
          true,
          "file access is decided live, against leases",
          "",
        ),
        wall(
          "bubblewrap",
          programs.bwrap !== undefined,
          "every child that touches files sees its mounts and nothing else",
          "missing or not permitted here: symlinks are held by checks alone; install bubblewrap",
        ),
        wall(
          "seccomp",
          await filters(programs),
          "system calls of foreign programs are filtered: no unix sockets, namespaces, mounts, other memory",
          linux
            ? "missing: programs, imported servers, native engines and Chromium are refused; it needs bubblewrap, " +
              "and Linux with CONFIG_SECCOMP_FILTER on x86_64 or aarch64"
            : "not on this system: programs of this machine are refused",
        ),
        wall(
          "pdeathsig",
          programs.setpriv !== undefined,
          "children die with the kernel, also when they spin",
          linux ? "setpriv is missing: install util-linux" : "not on this system",
        ),
        wall(
          "prlimit",
          programs.prlimit !== undefined,
          "memory of children is limited",
          linux ? "prlimit is missing: install util-linux" : "not on this system",
        ),
      ];
    },
  });
}
