/**
 * The command lines around a program of this machine: the copy service's, and the program's two
 * walls. The outer wall makes the namespaces. The inner wall is process 1 in them; when it dies,
 * everything that the program started dies. The program itself lies in a user namespace below
 * process 1's, so that it can neither trace process 1 nor make namespaces.
 * @module
 */
import { CHILD_FLAGS } from "../../../contracts/base/built_program.ts";
import type { Mount } from "../../../contracts/tool/mod.ts";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import {
  filtered,
  INSIDE,
  marking,
  NAMESPACE,
  type StartLine,
  type WallConfig,
} from "./line_parts.ts";
import { FILTERING, opening } from "./seccomp.ts";

/** The user whose rights a program has: this user, or `nobody` where this user is root. */
export type CommandIdentity = "own" | "nobody";

/** The programs that make the walls. */
export type WallPrograms = Pick<KernelConfig["programs"], "bwrap" | "setpriv" | "prlimit" | "nice">;

/** One run of a program. */
export interface CommandParts {
  readonly identity: CommandIdentity;
  /** Folder of the machine that holds the copies, by mount. */
  readonly work: string;
  readonly mounts: readonly string[];
  /** The private copy of the program's bytes. */
  readonly pin: string;
  /** The path under which the program runs. */
  readonly program: string;
  readonly args: readonly string[];
  /** `MOUNT` or `MOUNT/…`. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Processes and threads, at most; absent, or above it: {@link threadsOf}. */
  readonly threads?: number | undefined;
  /** Set for a program that outlives its call. */
  readonly begun?: Begun;
  /** Set for a foreign agent. */
  readonly agent?: AgentWalls;
}

/** A foreign agent's additional files and socket inside its walls. */
export interface AgentWalls {
  /** The bundle of the client that talks to the agent. */
  readonly client: string;
  /** A folder with the program's files, bound under its own path. */
  readonly tree?: string | undefined;
  /** The path of each mount's copy: the mount's own absolute path, because the agent's protocol names files by it. */
  readonly at: Readonly<Record<string, string>>;
  /** The relay's socket, on the machine. */
  readonly socket?: string | undefined;
}

/** Paths inside an agent's walls: its client, and the socket to its provider. */
export const AGENT_PLACES = Object.freeze({
  client: "/run/remit/agent.js",
  socket: "/run/remit/provider",
});

/** The start of a program that outlives its call: see process_line.ts. */
export interface Begun {
  /** A pipe on the machine, bound at {@link SIGNALS}. */
  readonly signals: string;
  /** The command inside the walls that runs the program. */
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Path inside the walls of the pipe that carries signals to a program. */
export const SIGNALS = "/run/remit/signals";

/** The folders of a task's copy service. */
export interface CopyParts {
  readonly bundle: string;
  readonly mounts: readonly Pick<Mount, "name" | "dir">[];
  readonly content: string;
  readonly work: string;
}

/** The folders of the service that copies a program's bytes. */
export interface PinParts {
  readonly bundle: string;
  /** The folder of all kept programs. */
  readonly pins: string;
  readonly program: string;
}

/** The copy service's folders inside its namespace. */
export const COPY_PLACES = Object.freeze({
  mounts: NAMESPACE.mounts,
  content: NAMESPACE.content,
  work: `${INSIDE}/work`,
});

/** The pin service's folders inside its namespace. */
export const PIN_PLACES = Object.freeze({
  pins: `${INSIDE}/pins`,
  program: `${INSIDE}/program`,
});

/** The environment of every program, before its call's own. */
export const COMMAND_ENV: Readonly<Record<string, string>> = Object.freeze({
  PATH: "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
  HOME: "/tmp",
  TMPDIR: "/tmp",
  LANG: "C.UTF-8",
  TERM: "dumb",
  NO_COLOR: "1",
});

/** Processes and threads of a run, at most. */
export const COMMAND_PROCESSES = 128;

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

/** Bytes of data that each process of a granted program, or of a foreign agent, may take. */
export function dataOf(agent: boolean): number {
  return (agent ? 16 : 4) * GiB;
}

/** Processes and threads of a granted program, or of a foreign agent, at most. */
export function threadsOf(agent: boolean): number {
  return agent ? AGENT_PROCESSES : COMMAND_PROCESSES;
}

/** Id of the user and group `nobody`, which own nothing. */
export const NOBODY = "65534";

/** The machine's programs and libraries, where such folders exist. */
export const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** Files of /etc that programs need to start: library paths, and alternatives of programs. */
export const SETTINGS = [
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/alternatives",
];

/** Folder inside the walls of the programs that make the inner wall. */
export const INNER = "/run/remit";

/** Files of /etc that agents need too: users, groups and TLS roots. */
const AGENT_SETTINGS = ["/etc/passwd", "/etc/group", "/etc/ssl/certs", "/etc/ca-certificates"];
/** Processes and threads of an agent, at most: several programs of many threads each. */
const AGENT_PROCESSES = 1_024;
/** Capabilities to become `nobody`, who then has none. */
export const BECOMING = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"];

/** The start line of the copy service of a task's runs: it never sees a program. */
export function lineOfCopy(config: CopyConfig, parts: CopyParts): StartLine {
  const { mounts, content, work } = COPY_PLACES;
  return copyLine(config, parts.bundle, [
    ...parts.mounts.flatMap(({ name, dir }) => ["--ro-bind", dir, `${mounts}/${name}`]),
    ...["--bind", parts.content, content],
    ...["--bind", parts.work, work],
  ]);
}

/** The start line of the service that copies one program's bytes: it never sees a task's files. */
export function lineOfPin(config: CopyConfig, parts: PinParts): StartLine {
  const { pins, program } = PIN_PLACES;
  return copyLine(config, parts.bundle, [
    ...["--bind", parts.pins, pins],
    ...["--ro-bind", parts.program, program],
  ]);
}

type CopyConfig = WallConfig & Pick<KernelConfig, "denoDir">;

function copyLine(
  config: CopyConfig,
  bundle: string,
  binds: readonly string[],
): StartLine {
  const env = { DENO_DIR: NAMESPACE.denoDir, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" };
  const { programs, denoDir } = config;
  // The service only reads files and runs no program.
  const wall = filtered(config, "closed", [
    programs.bwrap ?? "",
    ...["--unshare-all", "--new-session", "--die-with-parent", "--cap-drop", "ALL", "--clearenv"],
    ...setting(env),
    ...["/lib", "/lib64", "/usr/lib"].flatMap((folder) => ["--ro-bind-try", folder, folder]),
    ...["--ro-bind", programs.deno, NAMESPACE.deno],
    ...["--ro-bind", bundle, bundle],
    ...["--ro-bind", denoDir, NAMESPACE.denoDir],
    ...binds,
    ...["--remount-ro", "/", "--chdir", "/", "--"],
    ...[NAMESPACE.deno, "run", ...CHILD_FLAGS],
    // Deno makes links only with full read and write permission; the namespace is the wall here.
    ...["--allow-read", "--allow-write"],
    ...["--deny-net", "--deny-env", "--deny-run", "--deny-sys", "--deny-ffi", "--deny-import"],
    ...["--v8-flags=--max-old-space-size=512", bundle],
  ]);
  return started(programs, { data: 2 * GiB, file: GiB, files: 256 }, wall);
}

/** The start line of a program. The program's arguments come last, each as one argument, so that no wall interprets them. */
export function lineOfCommand(config: WallConfig, parts: CommandParts): StartLine {
  const { programs } = config;
  const { bwrap = "", prlimit = "", setpriv = "" } = programs;
  const nobody = parts.identity === "nobody";
  const { agent, begun } = parts, program = programPlace(parts.program);
  const inner = nobody ? { bwrap, prlimit, setpriv } : { bwrap, prlimit };
  return begunBy(programs, [
    ...opening(config.dir, agent?.socket === undefined ? "program" : "holder"),
    ...[bwrap, ...marking(config)],
    ...(nobody ? [] : ["--unshare-user"]),
    ...["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--hostname", "remit", "--as-pid-1", "--new-session", "--die-with-parent"],
    ...["--cap-drop", "ALL"],
    ...(nobody ? [...BECOMING, "--cap-add", "CAP_SYS_ADMIN"] : []),
    ...["--clearenv"],
    ...["/etc", "/m", "/run", INNER].flatMap((folder) => ["--perms", "0755", "--dir", folder]),
    ...SYSTEM.flatMap((folder) => ["--ro-bind-try", folder, folder]),
    ...SETTINGS.flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...["--size", String(64 * MiB), "--perms", "1777", "--tmpfs", "/dev/shm"],
    ...["--remount-ro", "/dev"],
    ...["--size", String(256 * MiB), "--perms", "1777", "--tmpfs", "/tmp"],
    ...(agent === undefined ? [] : agentBinds(agent)),
    ...parts.mounts.flatMap((name) => [
      ...aboveDirs(placeOfMount(parts, name)),
      ...["--bind", `${parts.work}/${name}`, placeOfMount(parts, name)],
    ]),
    ...aboveDirs(program),
    ...["--ro-bind", parts.pin, program],
    ...Object.entries(inner).flatMap(([name, path]) => ["--ro-bind", path, `${INNER}/${name}`]),
    ...(begun === undefined ? [] : ["--ro-bind", begun.signals, SIGNALS]),
    ...["--remount-ro", "/", "--chdir", "/", "--"],
    // Process 1 keeps root's user id, so that it may die with its parent, which is root; it has no capability.
    ...(nobody
      ? [
        ...[`${INNER}/bwrap`, ...marking(config), "--dev-bind", "/", "/"],
        ...["--cap-drop", "ALL", ...BECOMING, "--"],
        ...[`${INNER}/setpriv`, "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"],
        ...countedApart(config),
      ]
      : []),
    // Linux counts processes per user and user namespace, so processes outside do not count.
    ...[
      `${INNER}/prlimit`,
      ...limiting({ data: dataOf(agent !== undefined), file: 256 * MiB, files: 1_024 }),
    ],
    ...[`--nproc=${Math.min(parts.threads ?? Infinity, threadsOf(agent !== undefined))}`, "--"],
    ...[`${INNER}/bwrap`, ...marking(config), "--dev-bind", "/", "/"],
    ...["--unshare-user", "--disable-userns", ...FILTERING],
    ...["--cap-drop", "ALL", "--clearenv", ...setting({ ...parts.env, ...begun?.env })],
    // In a session of its own, signals reach the program and its children, but not process 1.
    ...(begun === undefined ? [] : ["--new-session"]),
    ...[
      "--chdir",
      placeInside(parts, parts.cwd),
      "--",
      ...begun?.words ?? [program, ...parts.args],
    ],
  ]);
}

/**
 * A user namespace around a program of nobody's: processes are counted in all namespaces above a
 * program's own too, and without this one those of every other such program would be this one's.
 */
export function countedApart(config: WallConfig): readonly string[] {
  const wall = [`${INNER}/bwrap`, ...marking(config), "--dev-bind", "/", "/", "--unshare-user"];
  return [...wall, "--cap-drop", "ALL", "--"];
}

function placeOfMount({ agent }: Pick<CommandParts, "agent">, name: string): string {
  return agent?.at[name] ?? `/m/${name}`;
}

/** The path of `MOUNT` or `MOUNT/…` inside the walls. */
export function placeInside(parts: Pick<CommandParts, "agent">, path: string): string {
  const [name = ""] = path.split("/", 1);
  return `${placeOfMount(parts, name)}${path.slice(name.length)}`;
}

function aboveDirs(path: string): readonly string[] {
  return above(path).flatMap((folder) => ["--perms", "0755", "--dir", folder]);
}

function agentBinds({ client, tree, socket }: AgentWalls): readonly string[] {
  return [
    ...["--perms", "0755", "--dir", "/etc/ssl"],
    ...AGENT_SETTINGS.flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--ro-bind", client, AGENT_PLACES.client],
    ...(socket === undefined ? [] : ["--bind", socket, AGENT_PLACES.socket]),
    ...(tree === undefined ? [] : [...aboveDirs(tree), "--ro-bind", tree, tree]),
  ];
}

/** The path under which a program runs: its own, unless the copies or the walls' own files are there. */
export function programPlace(program: string): string {
  if (!["/m", INNER].some((folder) => program.startsWith(`${folder}/`))) return program;
  return `${INNER}/granted/${program.slice(program.lastIndexOf("/") + 1)}`;
}

/** The folders above a program outside the system's folders; they are made empty. */
export function above(program: string): readonly string[] {
  if (SYSTEM.some((folder) => program.startsWith(`${folder}/`))) return [];
  const parts = program.split("/").slice(1, -1);
  return parts.map((_, at) => `/${parts.slice(0, at + 1).join("/")}`);
}

function setting(env: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]);
}

/** Limits for each process: bytes of data and of any file, open files. */
interface Limits {
  readonly data: number;
  readonly file: number;
  readonly files: number;
}

/** A start line whose walls die with the kernel, run at low priority and are limited themselves. */
export function started(
  programs: WallPrograms,
  limits: Limits,
  inner: readonly string[],
): StartLine {
  const { prlimit } = programs;
  return begunBy(programs, [
    ...(prlimit === undefined ? [] : [prlimit, ...limiting(limits), "--"]),
    ...inner,
  ]);
}

function begunBy({ setpriv, nice }: WallPrograms, inner: readonly string[]): StartLine {
  const [program = "", ...args] = [
    ...(setpriv === undefined ? [] : [setpriv, "--pdeathsig", "KILL", "--"]),
    ...(nice === undefined ? [] : [nice, "-n", "10"]),
    ...inner,
  ];
  return { program, args, env: {} };
}

function limiting({ data, file, files }: Limits): readonly string[] {
  return ["--core=0", `--nofile=${files}`, `--data=${data}`, `--fsize=${file}`];
}
