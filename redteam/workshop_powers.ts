/**
 * A scratch environment for the red team: its own folders, and Remit run as a person runs it.
 * @module
 */
import { dirname, join } from "node:path";
import { type Driver, startDriver } from "./driver_powers.ts";

/** The result of a finished command. */
export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where a command line runs. */
export interface Surroundings {
  /** An absolute path; absent: the folder where the red team's command was called. */
  readonly cwd?: string;
  /** Variables that override the environment's. */
  readonly env: Readonly<Record<string, string>>;
}

/** Runs Remit's command line without a person at the keyboard. */
export type CommandLine = (argv: readonly string[], at: Surroundings) => Promise<Finished>;

/** A temporary folder, and Remit with its state and configuration in it. */
export interface Workshop {
  /** The absolute path of a file in the folder. */
  path(name: string): string;
  write(name: string, text: string): void;
  /** The text of a file; empty where there is none. */
  read(name: string): string;
  remit(args: readonly string[]): Promise<Finished>;
  /** Ends the workshop's kernel and removes its folder. */
  close(): Promise<void>;
}

/** What the red team's commands need from the machine. */
export interface RedteamPowers {
  open(): Workshop;
  /** Runs Remit with the person's own state and configuration. */
  own(args: readonly string[]): Promise<Finished>;
  /** The text of a file of redteam/. */
  shipped(name: string): string;
  /** The names in a folder of redteam/. */
  names(folder: string): readonly string[];
  /** Starts a driver program of redteam/ for a public suite, over the suite's folder. */
  driver(program: string, folder: string): Driver;
  /** A monotonic time in milliseconds. */
  now(): number;
}

/** Makes the powers. `home`: Remit's own folder. */
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
    // Words after `--` belong to another program.
    const end = args.includes("--") ? args.indexOf("--") : args.length;
    const words = [...args.slice(0, end), "--state", path("state"), ...args.slice(end)];
    const env = { XDG_CONFIG_HOME: path("config"), XDG_RUNTIME_DIR: path("run") };
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
