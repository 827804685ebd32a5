/** Runs the real command line over real processes, each in a state folder of its own. */
import process from "node:process";
import { endProcesses } from "./processes.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const FLAGS = [
  "run",
  "--quiet",
  "--no-prompt",
  "--allow-read",
  "--allow-write",
  "--allow-env",
  "--allow-run",
  "--allow-net",
  "--allow-sys",
  `--config=${ROOT}deno.json`,
];

/** The outcome of a finished command. */
export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running command. */
export interface Running {
  readonly pid: number;
  readonly done: Promise<Finished>;
  kill(signal: Deno.Signal): void;
}

/** A person's machine: a home, a state folder, a folder to work on. */
export interface Machine {
  readonly state: string;
  /** A scratch folder of the person, not a mount by itself. */
  readonly dir: string;
  remit(args: readonly string[], input?: string): Promise<Finished>;
  start(args: readonly string[]): Running;
  json(args: readonly string[]): Promise<unknown>;
  write(path: string, text: string): Promise<string>;
  read(path: string): Promise<string>;
  /** The words that `start` runs with these arguments, for a terminal (tests/fake/terminal.ts). */
  command(args: readonly string[]): readonly string[];
  /** The environment that every command of this machine gets. */
  readonly env: Readonly<Record<string, string>>;
  /** Processes whose command line names this machine's folders. */
  processes(): Promise<readonly number[]>;
}

/** Additions to a person's machine. */
export interface MachineOptions {
  /** Additional or changed variables of the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs `f` on a fresh machine and cleans up: ends the kernel, removes the folders. */
export async function onMachine(
  f: (machine: Machine) => Promise<void>,
  options: MachineOptions = {},
): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "remit-test-" });
  const state = `${dir}/state`;
  const work = `${dir}/work`;
  await Deno.mkdir(work);
  const env = {
    ...process.env,
    HOME: `${dir}/home`,
    DENO_DIR: await denoDir(),
    XDG_CACHE_HOME: cacheHome(),
    XDG_CONFIG_HOME: `${dir}/config`,
    TMPDIR: `${dir}/tmp`,
    XDG_RUNTIME_DIR: `${dir}/run`,
    INIT_CWD: work,
    NO_COLOR: "1",
    // No kernel of a test stays for ten minutes.
    REMIT_IDLE_SECONDS: "2",
    ...options.env,
  } as Record<string, string>;
  await Deno.mkdir(`${dir}/home`);
  await Deno.mkdir(`${dir}/tmp`);
  await Deno.mkdir(`${dir}/run`, { mode: 0o700 });
  const words = (args: readonly string[]): string[] => {
    // Words after `--` belong to another program.
    const end = args.includes("--") ? args.indexOf("--") : args.length;
    const [own, others] = [args.slice(0, end), args.slice(end)];
    return [...FLAGS, `${ROOT}cli/main.ts`, ...own, "--state", state, ...others];
  };
  const spawn = (args: readonly string[], input: "piped" | "null"): Deno.ChildProcess =>
    new Deno.Command(Deno.execPath(), {
      args: words(args),
      cwd: work,
      clearEnv: true,
      env,
      stdin: input,
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  const machine: Machine = {
    state,
    dir: work,
    env,
    command: (args) => [Deno.execPath(), ...words(args)],
    async remit(args, input): Promise<Finished> {
      const child = spawn(args, input === undefined ? "null" : "piped");
      if (input !== undefined) {
        const writer = child.stdin.getWriter();
        await writer.write(new TextEncoder().encode(input));
        await writer.close();
      }
      return finished(await child.output());
    },
    start(args): Running {
      const child = spawn(args, "null");
      return {
        pid: child.pid,
        done: child.output().then(finished),
        kill: (signal) => child.kill(signal),
      };
    },
    async json(args): Promise<unknown> {
      const done = await machine.remit([...args, "--json"]);
      return JSON.parse(done.stdout);
    },
    async write(path, text): Promise<string> {
      const whole = `${work}/${path}`;
      await Deno.mkdir(whole.slice(0, whole.lastIndexOf("/")), { recursive: true });
      await Deno.writeTextFile(whole, text);
      return whole;
    },
    read: (path) => Deno.readTextFile(`${work}/${path}`),
    async processes(): Promise<readonly number[]> {
      return await processesNaming(dir);
    },
  };
  try {
    await f(machine);
  } finally {
    // Killed, not asked: a story of its own shows that `remit stop` ends a kernel (kernel_life_test.ts).
    await endProcesses(dir);
    await Deno.remove(dir, { recursive: true });
  }
}

/** Processes whose command line or environment names `text`. */
export async function processesNaming(text: string): Promise<readonly number[]> {
  const found: number[] = [];
  for await (const entry of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(entry.name) || entry.name === String(Deno.pid)) continue;
    try {
      const line = await Deno.readTextFile(`/proc/${entry.name}/cmdline`);
      if (line.includes(text)) found.push(Number(entry.name));
    } catch { /* it has ended meanwhile */ }
  }
  return found;
}

function finished(output: Deno.CommandOutput): Finished {
  const decoder = new TextDecoder();
  return {
    code: output.code,
    stdout: decoder.decode(output.stdout),
    stderr: decoder.decode(output.stderr),
  };
}

let denoFolder: Promise<string> | undefined;

/** Deno's own cache, found once: a machine has another home. */
function denoDir(): Promise<string> {
  return denoFolder ??= askDenoDir();
}

async function askDenoDir(): Promise<string> {
  const given = Deno.env.get("DENO_DIR");
  if (given !== undefined) return given;
  const output = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json"],
    stdout: "piped",
  }).output();
  const info = JSON.parse(new TextDecoder().decode(output.stdout)) as { denoDir: string };
  return info.denoDir;
}

/** Bundles are built once for a whole test run. */
function cacheHome(): string {
  return Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`;
}
