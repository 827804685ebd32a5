/** Tests which walls this machine offers. Used by cli/main.ts and cli/powers.ts. @module */
import { findPrograms } from "./programs_powers.ts";

/** The walls of this machine. */
export interface Walls {
  /** One entry each: its name, whether it works here, and what that means. */
  look(): Promise<
    readonly { readonly wall: string; readonly stands: boolean; readonly says: string }[]
  >;
}

/** Makes the test. `filtered`: the kernel's trial of a system call filter, given bubblewrap's path. */
export function makeWalls(filtered: (bwrap: string) => Promise<boolean>): Walls {
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
          programs.bwrap !== undefined && await filtered(programs.bwrap),
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
