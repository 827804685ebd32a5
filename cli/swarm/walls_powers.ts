/** The walls around a swarm's git and checks, built with the kernel's. @module */
import { Fault } from "../../contracts/base/mod.ts";
import { findProgram } from "../../launch/program/programs_powers.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import type { SwarmWalls } from "../../swarm/mod.ts";

/** A command line with its whole environment. */
interface Line {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

type Programs = KernelConfig["programs"];

/** The kernel's functions for walls. */
export interface WallParts {
  findPrograms(): Promise<Programs>;
  /** Folders of the machine's programs and libraries. */
  readonly system: readonly string[];
  /** The environment of every granted program. */
  readonly env: Readonly<Record<string, string>>;
  /** A private folder for the filters of system calls. */
  readonly dir: string;
  /** Writes the filters into a folder; false where this machine has none. */
  keepFilters(dir: string): boolean;
  /** Puts a line that begins with bubblewrap behind the strictest filter. */
  filtered(
    config: { readonly programs: Programs; readonly dir: string },
    line: readonly string[],
  ): readonly string[];
  started(programs: Programs, inner: readonly string[]): Line;
  /** The account that granted programs run as; throws Fault `unavailable` where their walls do not work. */
  identity(
    config: { readonly programs: Programs; readonly dir: string },
  ): Promise<"own" | "nobody">;
  lineOfCommand(
    config: { readonly programs: Programs; readonly dir: string },
    parts: {
      readonly identity: "own" | "nobody";
      readonly work: string;
      readonly mounts: readonly string[];
      readonly pin: string;
      readonly program: string;
      readonly args: readonly string[];
      readonly cwd: string;
      readonly env: Readonly<Record<string, string>>;
    },
  ): Line;
}

/** Makes the walls. */
export function makeSwarmWalls(parts: WallParts): SwarmWalls {
  let made: Promise<{ readonly programs: Programs; readonly dir: string }> | undefined;
  const config = (): NonNullable<typeof made> =>
    made ??= (async () => {
      const programs = await parts.findPrograms();
      const { dir } = parts;
      Deno.mkdirSync(dir, { recursive: true, mode: 0o700 });
      if (programs.bwrap === undefined || !parts.keepFilters(dir)) {
        throw new Fault(
          "unavailable",
          "Cannot run a swarm on this machine: git and checks run inside walls; it needs Linux with seccomp and " +
            "bubblewrap (see `remit doctor`)",
        );
      }
      return { programs, dir };
    })();
  let identity: Promise<"own" | "nobody"> | undefined;
  return Object.freeze<SwarmWalls>({
    async gitLine({ mirror, objects }, git, args, env): Promise<Line> {
      const found = await config();
      const { bwrap = "" } = found.programs;
      return parts.started(
        found.programs,
        parts.filtered(found, [
          bwrap,
          ...[
            "--unshare-all",
            "--new-session",
            "--die-with-parent",
            "--cap-drop",
            "ALL",
            "--clearenv",
          ],
          ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
          ...parts.system.flatMap((folder) => ["--ro-bind-try", folder, folder]),
          ...["--dev", "/dev", "--tmpfs", "/tmp", "--bind", mirror, "/mirror"],
          ...(objects === undefined ? [] : ["--ro-bind", objects, "/objects"]),
          ...["--remount-ro", "/", "--chdir", "/mirror", "--", git, ...args],
        ]),
      );
    },
    async checkLine({ work, name, program, args }): ReturnType<SwarmWalls["checkLine"]> {
      const found = await config();
      const account = await (identity ??= parts.identity(found));
      const line = parts.lineOfCommand(found, {
        ...{ identity: account, work, mounts: [name], pin: program, program, args },
        ...{ cwd: name, env: parts.env },
      });
      return { line, open: account === "nobody" };
    },
    find: (name) => findProgram(name, Deno.env.get("PATH") ?? ""),
  });
}
