/** The walls around a swarm's git and checks, made of the kernel's. @module */
import { delimiter, isAbsolute, join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import type { SwarmWalls } from "../../swarm/mod.ts";

/** A command line with its whole environment. */
interface Line {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

type Programs = KernelConfig["programs"];

/** What the kernel's own code says of walls. Wired in by main.ts. */
export interface WallParts {
  findPrograms(): Promise<Programs>;
  /** Folders of the machine's programs and libraries. */
  readonly system: readonly string[];
  /** The environment of every granted program. */
  readonly env: Readonly<Record<string, string>>;
  /** A private folder for filters of system calls: they are the same for everybody. */
  readonly dir: string;
  /** Puts them into a folder; false where there are none. */
  keepFilters(dir: string): boolean;
  /** A wall whose first word is bubblewrap, behind the filter for programs that need nothing. */
  filtered(
    config: { readonly programs: Programs; readonly dir: string },
    line: readonly string[],
  ): readonly string[];
  started(programs: Programs, inner: readonly string[]): Line;
  /** Whose rights a granted program has here; throws Fault `unavailable` where its walls do not stand. */
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

const TRUSTED_FOLDERS = ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin"];

/** Makes them. */
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
      const whose = await (identity ??= parts.identity(found));
      const line = parts.lineOfCommand(found, {
        ...{ identity: whose, work, mounts: [name], pin: program, program, args },
        ...{ cwd: name, env: parts.env },
      });
      return { line, open: whose === "nobody" };
    },
    find: (name) => {
      const path = Deno.env.get("PATH") ?? "";
      for (const folder of [...TRUSTED_FOLDERS, ...path.split(delimiter).filter(isAbsolute)]) {
        const found = programAt(join(folder, name));
        if (found !== undefined) return found;
      }
      return undefined;
    },
  });
}

function programAt(path: string): string | undefined {
  try {
    const real = Deno.realPathSync(path);
    const { isFile, mode } = Deno.statSync(real);
    return isFile && ((mode ?? 0) & 0o111) !== 0 ? real : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return undefined;
    }
    throw error;
  }
}
