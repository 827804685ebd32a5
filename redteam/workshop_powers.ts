/** A scratch machine of the red team's: folders of its own, and this Remit run as a person runs it. @module */
import { dirname, join } from "node:path";
import { type Driver, startDriver } from "./driver_powers.ts";

/** What a finished command left. */
export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where a command line runs. */
export interface Surroundings {
  /** Absolute; absent: where the red team's own command was called. */
  readonly cwd?: string;
  /** Variables that stand before those of the environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** Remit's command line, with nobody at the keyboard. */
export type CommandLine = (argv: readonly string[], at: Surroundings) => Promise<Finished>;

/** Files beneath one temporary folder, and Remit over a state and a configuration in it. */
export interface Workshop {
  /** The whole path of a file of it. */
  path(name: string): string;
  write(name: string, text: string): void;
  /** Empty where there is none. */
  read(name: string): string;
  remit(args: readonly string[]): Promise<Finished>;
  /** Ends its kernel and removes its folder. */
  close(): Promise<void>;
}

/** What the red team's commands need of the machine. */
export interface RedteamPowers {
  open(): Workshop;
  /** Remit with the person's own state and configuration. */
  own(args: readonly string[]): Promise<Finished>;
  /** The text of a file of this folder. */
  shipped(name: string): string;
  /** Names in a folder of this folder. */
  names(folder: string): readonly string[];
  /** Starts the program of this folder that speaks for a public suite, over the folder where that suite lies. */
  driver(program: string, folder: string): Driver;
  /** Milliseconds, for how long a run took. */
  now(): number;
}

/** Makes them; `home` is Remit's own folder. */
export function makeRedteamPowers(home: string, commandLine: CommandLine): RedteamPowers {
  const at = (name: string): string => join(home, "redteam", name);
  return Object.freeze<RedteamPowers>({
    open: () => openWorkshop(commandLine),
    own: (args) => commandLine(args, { env: {} }),
    shipped: (name) => Deno.readTextFileSync(at(name)),
    names: (folder) => Array.from(Deno.readDirSync(at(folder)), ({ name }) => name).sort(),
    driver: (program, folder) => startDriver(at(program), folder),
    now: () => performance.now(),
  });
}

function openWorkshop(commandLine: CommandLine): Workshop {
  const folder = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "remit-redteam-" }));
  const path = (name: string): string => join(folder, name);
  for (const name of ["config", "run", "work"]) Deno.mkdirSync(path(name), { mode: 0o700 });
  const remit = async (args: readonly string[]): Promise<Finished> => {
    // What stands behind `--` is another program's.
    const end = args.includes("--") ? args.indexOf("--") : args.length;
    const words = [...args.slice(0, end), "--state", path("state"), ...args.slice(end)];
    const env = {
      ...{ XDG_CONFIG_HOME: path("config"), XDG_RUNTIME_DIR: path("run") },
    };
    return await commandLine(words, { cwd: path("work"), env });
  };
  return Object.freeze<Workshop>({
    path,
    remit,
    write(name, text): void {
      Deno.mkdirSync(dirname(path(name)), { recursive: true });
      Deno.writeTextFileSync(path(name), text);
    },
    read(name): string {
      try {
        return Deno.readTextFileSync(path(name));
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return "";
        throw error;
      }
    },
    async close(): Promise<void> {
      await remit(["stop"]);
      await Deno.remove(folder, { recursive: true });
    },
  });
}
