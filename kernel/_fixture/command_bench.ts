/** Shared by the tests of commands: a task over a folder, and programs of this machine. */
import {
  Digest,
  type Lease,
  LeaseId,
  type Leases,
  MountName,
  Pid,
  TaskId,
} from "../../contracts/authority/mod.ts";
import { NOTHING_KNOWN } from "../../contracts/memory/mod.ts";
import { COMMAND_MS, type GrantedCommand, type StagedChange } from "../../contracts/tool/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { asOtherUser, letIn, letThrough } from "./other_user.ts";
import { makeWorld, realPowers, type World } from "./small_children.ts";
import {
  makeRunPowers,
  removeRoom,
  type RunPowers,
} from "../power/command/command_spawn_powers.ts";
import { type CommandRan, type CommandRun, type Commands, makeLook } from "../power/command/run.ts";
import { makePins } from "../power/command/pins.ts";
import { probeCommandWalls } from "../core/start/walls.ts";
import { makeCommands } from "../power/command/commands.ts";
import { disk } from "../main_powers.ts";
import { makeSpawnPowers } from "../core/start/spawn_powers.ts";

/** The task and the process of every test. */
export const TASK = TaskId.parse("t000000000000");
/** See {@link TASK}. */
export const ALICE = Pid.parse(2);

/** A task with one folder, `desk`, and another, `vault`, that its runs do not see. */
export interface CommandBench {
  readonly world: World;
  readonly commands: Commands;
  readonly overlay: StagedChange[];
  /** Operating-system processes that were started, in order. */
  readonly pids: readonly number[];
  /** Runs a program by its path; a staged change is kept over the folder, as a commit does. */
  run(
    program: string,
    args: readonly string[],
    more?: Partial<CommandRun> & { readonly signal?: AbortSignal },
  ): Promise<CommandRan>;
  /** The kept bytes of a digest. */
  content(digest: string | undefined): Promise<string>;
  revoke(): void;
  close(): Promise<void>;
}

/** Tells whether a program is installed; without it a test that needs it is skipped, and fails where CI=true. */
export function isThere(program: string): boolean {
  if (Deno.env.get("CI") === "true") return true;
  try {
    return Deno.statSync(program).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const built = Promise.withResolvers<string>();
let building = false;

/** The copy service's bundle, built once for a test process. */
export async function copyBundle(): Promise<string> {
  if (building) return await built.promise;
  building = true;
  const folder = await Deno.makeTempDir({ prefix: "remit-command-" });
  await Deno.chmod(folder, 0o755);
  addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
  const file = `${folder}/copy.js`;
  const home = new URL("../..", import.meta.url).pathname;
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "bundle",
      "--quiet",
      "--no-check",
      "--platform",
      "browser",
      "-o",
      file,
      "workspace/copy/main.ts",
    ],
    cwd: home,
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  built.resolve(file);
  return file;
}

/** A class for a program, with its present digest. */
export async function granted(program: string): Promise<GrantedCommand> {
  const path = await Deno.realPath(program);
  return {
    name: "program",
    program: path,
    sha256: Digest.parse(sha256Hex(await Deno.readFile(path))),
    env: [],
    timeoutMs: COMMAND_MS,
    mounts: "cwd",
  };
}

/** Makes a bench; `files` are in `desk`, beside `notes/a.md` and `keys.env`. */
export async function makeBench(
  files: Readonly<Record<string, string>> = {},
  identity?: "own" | "none",
): Promise<CommandBench> {
  const world = await makeWorld();
  for (const [path, text] of Object.entries(files)) {
    const full = `${world.dir}/desk/${path}`;
    await Deno.mkdir(full.slice(0, full.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(full, text);
  }
  await Deno.mkdir(`${world.dir}/vault`);
  await Deno.writeTextFile(`${world.dir}/vault/v.txt`, "VAULT\n");
  // Root's own rights differ from a user's: as root, a user starts the program.
  const alone = identity === "own" && Deno.uid() === 0;
  if (alone) await letIn(world.dir);
  const spawn = makeSpawnPowers();
  const overlay: StagedChange[] = [];
  const pids: number[] = [];
  const real = makeRunPowers();
  const programs: RunPowers = {
    run(options) {
      const program = real.run(alone ? asOtherUser(options) : options);
      pids.push(program.pid);
      return program;
    },
  };
  let listener: (lease: Lease, why: "revoked" | "expired") => void = () => {};
  const lease: Lease = {
    ...{ id: LeaseId.parse("l000000000000"), task: TASK, pid: ALICE },
    scope: { resource: "mount", right: "read", path: "desk" },
    ...{ grantedAt: 0, expiresAt: 1e15, reason: "test" },
  };
  const leases: Pick<Leases, "covering" | "dead" | "onEnd"> = {
    covering: (_pid, scope) => scope.path === "desk" ? lease : undefined,
    dead: () => undefined,
    onEnd(listen) {
      listener = listen;
      return () => {};
    },
  };
  const probed = await probeCommandWalls(
    identity === "none"
      ? { ...world.config, programs: { deno: world.config.programs.deno } }
      : world.config,
    spawn,
  );
  const mount = { mode: "stage", colour: "YELLOW", label: "internal" } as const;
  const copying = {
    contents: NOTHING_KNOWN,
    ...{ config: world.config, bundle: await copyBundle(), spawn, powers: realPowers() },
    look: makeLook(real, world.config.programs.prlimit),
    disk: {
      remove: removeRoom,
      async makeDir(path: string): Promise<void> {
        await disk.makeDir(path);
        if (alone) await letThrough(world.dir, path);
      },
    },
  };
  const commands = makeCommands({
    ...{ ...copying, programs, leases, pins: makePins(copying) },
    walls: identity === "own" ? { kind: "walled", identity } : probed,
    folders: () => ({
      mounts: ["desk", "vault"].map((name) => ({
        ...mount,
        ...{ name: MountName.parse(name), dir: `${world.dir}/${name}`, marks: [] },
      })),
      contentDir: `${world.dir}/content`,
      scratchDir: `${world.dir}/scratch`,
      prepare: () => Promise.resolve(),
      never: ["*.env", "*.pem"],
      scratchQuota: 0,
      overlay: () => [...overlay],
    }),
  });
  let calls = 0;
  return {
    ...{ world, commands, overlay, pids },
    async run(program, args, { signal, ...more } = {}) {
      const command = more.command ?? await granted(program);
      const ran = await commands.run({
        ...{ task: TASK, pid: ALICE, id: `call-${++calls}`, command, sha256: command.sha256, args },
        ...{ cwd: "desk", mounts: ["desk"], stdin: "", env: {}, timeoutMs: 10 * COMMAND_MS },
        ...{ bytes: 65_536, lines: 10_000, colour: "BLUE", label: "public" },
        scopes: [{ resource: "mount", right: "read", path: "desk" }],
        ...more,
      }, signal ?? new AbortController().signal);
      const gone = new Set([...ran.staged.map(({ path }) => path), ...ran.unstaged]);
      const rest = overlay.filter(({ path }) => !gone.has(path));
      overlay.splice(0, overlay.length, ...rest, ...ran.staged);
      return ran;
    },
    content: async (digest) => await Deno.readTextFile(`${world.dir}/content/${digest}`),
    revoke: () => listener(lease, "revoked"),
    async close(): Promise<void> {
      await commands.close(TASK);
      await world.close();
    },
  };
}
