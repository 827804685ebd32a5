/**
 * The command lines around a program of this machine: the copy service's, and the program's own two
 * walls. The outer one makes the namespaces; in it the inner one is process 1, in whose death all
 * that the program started ends. The program lies in a user namespace below that of process 1, so
 * that it can neither trace it nor make namespaces of its own.
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

/** Whose rights a program has: the user's own, or where that is root, nobody's. */
export type CommandIdentity = "own" | "nobody";

/** The programs that the walls are made of. */
export type WallPrograms = Pick<KernelConfig["programs"], "bwrap" | "setpriv" | "prlimit" | "nice">;

/** One run. */
export interface CommandParts {
  readonly identity: CommandIdentity;
  /** Folder of the machine that holds the copies, by mount. */
  readonly work: string;
  readonly mounts: readonly string[];
  /** The private copy of the program's bytes, and the path that it is run under. */
  readonly pin: string;
  readonly program: string;
  readonly args: readonly string[];
  /** `MOUNT` or `MOUNT/…`. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Processes and threads that it may have; absent, or more: {@link threadsOf}. */
  readonly threads?: number | undefined;
  /** How it is begun where it goes on after its call. */
  readonly begun?: Begun;
  /** Where the program is an agent of others. */
  readonly agent?: AgentWalls;
}

/** What an agent of others finds within its walls beside what every program does. */
export interface AgentWalls {
  /** The bundle of the client that speaks to it. */
  readonly client: string;
  /** A folder of its program's files, under its own path. */
  readonly tree?: string | undefined;
  /** Where each mount's copy is shown: at the mount's own absolute path, since its protocol names files by such. */
  readonly at: Readonly<Record<string, string>>;
  /** The relay's socket, on the machine. */
  readonly socket?: string | undefined;
}

/** Where an agent's client, and the way to its provider, lie within its walls. */
export const AGENT_PLACES = Object.freeze({
  client: "/run/remit/agent.js",
  socket: "/run/remit/provider",
});

/** How a program is begun that goes on after its call: see process_line.ts. */
export interface Begun {
  /** A pipe of the machine's, shown under {@link SIGNALS}. */
  readonly signals: string;
  /** What is run inside the walls, and in its turn runs the program. */
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Where a program that goes on finds the pipe with its signals. */
export const SIGNALS = "/run/remit/signals";

/** What the copy service of a task's runs is started around. */
export interface CopyParts {
  readonly bundle: string;
  readonly mounts: readonly Pick<Mount, "name" | "dir">[];
  readonly content: string;
  readonly work: string;
}

/** What a service is started around that keeps the bytes of one program. */
export interface PinParts {
  readonly bundle: string;
  /** The folder of all kept programs. */
  readonly pins: string;
  readonly program: string;
}

/** Where the copy service finds its folders. */
export const COPY_PLACES = Object.freeze({
  mounts: NAMESPACE.mounts,
  content: NAMESPACE.content,
  work: `${INSIDE}/work`,
});
/** Where it finds a program, and where such are kept. */
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

/** Most processes and threads of a run. */
export const COMMAND_PROCESSES = 128;

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

/** Bytes of data that each process of a granted program, or of an agent of others, may take. */
export function dataOf(agent: boolean): number {
  return (agent ? 16 : 4) * GiB;
}
/** Processes and threads that a granted program, or an agent of others, may have at most. */
export function threadsOf(agent: boolean): number {
  return agent ? AGENT_PROCESSES : COMMAND_PROCESSES;
}
/** Numbers of the user and the group that own nothing. */
export const NOBODY = "65534";
/** The machine's programs and libraries, as far as there are such folders. */
export const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/** What of /etc programs need to start: where libraries lie, which of several programs is meant. */
export const SETTINGS = [
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/alternatives",
];
/** Where the programs lie that make the inner wall. */
export const INNER = "/run/remit";
/** What of /etc agents look for beside: who they are, and whom TLS trusts. */
const AGENT_SETTINGS = ["/etc/passwd", "/etc/group", "/etc/ssl/certs", "/etc/ca-certificates"];
/** Most processes and threads of an agent: several programs of many threads each. */
const AGENT_PROCESSES = 1_024;
/** Rights to become nobody, which then has none. */
export const BECOMING = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"];

/** The start line of the copy service of a task's runs: it never meets a program. */
export function lineOfCopy(config: CopyConfig, parts: CopyParts): StartLine {
  const { mounts, content, work } = COPY_PLACES;
  return copyLine(config, parts.bundle, [
    ...parts.mounts.flatMap(({ name, dir }) => ["--ro-bind", dir, `${mounts}/${name}`]),
    ...["--bind", parts.content, content],
    ...["--bind", parts.work, work],
  ]);
}

/** The start line of a service that looks at one program: it never meets a task's files. */
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
  // It runs nobody's program: what it reads are files.
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
    // Deno makes links only for who may read and write everything: here the namespace is the wall.
    ...["--allow-read", "--allow-write"],
    ...["--deny-net", "--deny-env", "--deny-run", "--deny-sys", "--deny-ffi", "--deny-import"],
    ...["--v8-flags=--max-old-space-size=512", bundle],
  ]);
  return started(programs, { data: 2 * GiB, file: GiB, files: 256 }, wall);
}

/** The start line of a program. Its words come last, each as one argument: nothing reads them before it. */
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
    // Process 1 stays root's, so that it may die with its parent, who is: it holds no right at all.
    ...(nobody
      ? [
        ...[`${INNER}/bwrap`, ...marking(config), "--dev-bind", "/", "/"],
        ...["--cap-drop", "ALL", ...BECOMING, "--"],
        ...[`${INNER}/setpriv`, "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"],
        ...countedApart(config),
      ]
      : []),
    // Processes are counted for each user in each user namespace: what runs outside does not count.
    ...[
      `${INNER}/prlimit`,
      ...limiting({ data: dataOf(agent !== undefined), file: 256 * MiB, files: 1_024 }),
    ],
    ...[`--nproc=${Math.min(parts.threads ?? Infinity, threadsOf(agent !== undefined))}`, "--"],
    ...[`${INNER}/bwrap`, ...marking(config), "--dev-bind", "/", "/"],
    ...["--unshare-user", "--disable-userns", ...FILTERING],
    ...["--cap-drop", "ALL", "--clearenv", ...setting({ ...parts.env, ...begun?.env })],
    // A signal then reaches the program and what belongs to it, and not process 1.
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
 * A user namespace around a program of nobody's: processes are counted in all namespaces above a program's own too, and
 * without this one those of every other such program would be this one's.
 */
export function countedApart(config: WallConfig): readonly string[] {
  const wall = [`${INNER}/bwrap`, ...marking(config), "--dev-bind", "/", "/", "--unshare-user"];
  return [...wall, "--cap-drop", "ALL", "--"];
}

function placeOfMount({ agent }: Pick<CommandParts, "agent">, name: string): string {
  return agent?.at[name] ?? `/m/${name}`;
}

/** Where `MOUNT` or `MOUNT/…` lies within the walls. */
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

/** The path that a program is run under: its own, unless the copies or the walls' parts lie there. */
export function programPlace(program: string): string {
  if (!["/m", INNER].some((folder) => program.startsWith(`${folder}/`))) return program;
  return `${INNER}/granted/${program.slice(program.lastIndexOf("/") + 1)}`;
}

/** The folders above a program that lies elsewhere than the machine's own; nothing else of them is shown. */
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

/** Starts walls that end with the kernel and yield to it, within limits that hold for them, too. */
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
