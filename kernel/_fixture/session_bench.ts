/** Shared by the tests of process sessions: a task over a folder, its processes, real programs. */
import {
  type Lease,
  LeaseId,
  type Leases,
  MountName,
  Pid,
  type TaskId,
} from "../../contracts/authority/mod.ts";
import { NOTHING_KNOWN } from "../../contracts/memory/mod.ts";
import type { ProcessRow } from "../../contracts/task/mod.ts";
import type {
  SessionEnd,
  SessionOutput,
  SessionOwner,
  SessionStart,
  StagedChange,
} from "../../contracts/tool/mod.ts";
import { ALICE, copyBundle, granted, TASK } from "./command_bench.ts";
import { asOtherUser, letIn, letThrough } from "./other_user.ts";
import { makeWorld, realPowers, type World } from "./small_children.ts";
import { makeLook } from "../power/command/run.ts";
import { makePins } from "../power/command/pins.ts";
import { makeRunPowers, removeRoom } from "../power/command/command_spawn_powers.ts";
import { probeCommandWalls } from "../core/start/walls.ts";
import { disk } from "../main_powers.ts";
import { makeLongRunPowers } from "../power/command/process_powers.ts";
import { makeProcessSessions, type TaskSessions } from "../power/command/process_sessions.ts";
import { makeSpawnPowers } from "../core/start/spawn_powers.ts";
import { waitUntil } from "../../tests/fake/wait_until.ts";

/** Another process of the same task. */
export const BOB = Pid.parse(3);

/** Timers that a test fires: a timer longer than a test may take never fires by itself. */
export interface Timers {
  /** Fires every timer of exactly this many milliseconds. */
  fire(ms: number): void;
  /** Number of timers of this length. */
  waiting(ms: number): number;
}

/** A task with one folder, `desk`. */
export interface SessionBench {
  readonly world: World;
  readonly sessions: TaskSessions;
  readonly overlay: StagedChange[];
  readonly timers: Timers;
  /** Starts a program by its path, for ALICE by default; returns the session's id. */
  start(program: string, args: readonly string[], more?: Partial<SessionStart>): Promise<string>;
  /** Polls until the output matches, or the program has exited with all its output. */
  until(id: string, wanted: RegExp, owner?: SessionOwner): Promise<SessionOutput>;
  write(id: string, text: string, end?: boolean): ReturnType<TaskSessions["write"]>;
  /** Ends a session; its staged change is kept over the folder, as a commit does. */
  finish(id: string, owner?: SessionOwner): Promise<SessionEnd>;
  content(digest: string | undefined): Promise<string>;
  revoke(): void;
  /** Ends a process. */
  end(pid: Pid): void;
  close(): Promise<void>;
}

/** The owner of a session of the tests. */
export const owns = (pid: Pid, task: TaskId = TASK): SessionOwner => ({ task, pid });

/** Timers longer than this fire only when a test says so. */
const LONG_MS = 61_000;

/** Makes a bench; `files` are in `desk`. As "own", programs have a plain user's own rights. */
export async function makeSessionBench(
  files: Readonly<Record<string, string>> = {},
  identity?: "own",
): Promise<SessionBench> {
  const world = await makeWorld();
  for (const [path, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${world.dir}/desk/${path}`, text);
  }
  // Root's own rights differ from a user's: as root, a user starts the program.
  const alone = identity === "own" && Deno.uid() === 0;
  if (alone) await letIn(world.dir);
  makeSpawnPowers().keepFilters(world.config.dir);
  const spawn = makeSpawnPowers();
  const longRuns = makeLongRunPowers();
  const overlay: StagedChange[] = [];
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
  const powers = realPowers();
  const long = new Map<() => void, number>();
  const ended = new Set<Pid>();
  const copying = {
    contents: NOTHING_KNOWN,
    ...{ config: world.config, bundle: await copyBundle(), spawn, powers },
    look: makeLook(makeRunPowers(), world.config.programs.prlimit),
    disk: {
      remove: removeRoom,
      async makeDir(path: string): Promise<void> {
        await disk.makeDir(path);
        if (alone) await letThrough(world.dir, path);
      },
    },
  };
  const sessions = makeProcessSessions({
    ...{ ...copying, leases, pins: makePins(copying) },
    walls: identity === "own"
      ? { kind: "walled", identity }
      : await probeCommandWalls(world.config, spawn),
    programs: alone ? { begin: (options) => longRuns.begin(asOtherUser(options)) } : longRuns,
    powers: {
      ...powers,
      after(ms, due) {
        if (ms < LONG_MS) return powers.after(ms, due);
        long.set(due, ms);
        return () => void long.delete(due);
      },
    },
    processes: {
      get: (pid) =>
        ({ pid, status: ended.has(pid) ? "ended" : "running" }) as unknown as ProcessRow,
    },
    folders: () => ({
      mounts: [{
        ...{ mode: "stage", colour: "YELLOW", label: "internal", marks: [] } as const,
        ...{ name: MountName.parse("desk"), dir: `${world.dir}/desk` },
      }],
      prepare: () => Promise.resolve(),
      contentDir: `${world.dir}/content`,
      scratchDir: `${world.dir}/scratch`,
      never: ["*.env"],
      scratchQuota: 0,
      overlay: () => [...overlay],
    }),
  });
  const never = new AbortController().signal;
  return {
    ...{ world, sessions, overlay },
    timers: {
      fire(ms): void {
        for (const [due, each] of [...long]) if (each === ms && long.delete(due)) due();
      },
      waiting: (ms) => [...long.values()].filter((each) => each === ms).length,
    },
    async start(program, args, more = {}) {
      const command = more.command ??
        { ...await granted(program), session: { ms: 3_600_000, pty: true } };
      const { id } = await sessions.start({
        ...{ task: TASK, pid: ALICE, command, sha256: command.sha256, args },
        ...{ cwd: "desk", mounts: ["desk"], env: {}, lifeMs: 7_200_000 },
        ...{ colour: "BLUE", label: "public" },
        scopes: [{ resource: "mount", right: "read", path: "desk" }],
        ...more,
      }, never);
      return id;
    },
    async until(id, wanted, owner = owns(ALICE)) {
      let stdout = "", stderr = "";
      for (;;) {
        const output = await sessions.poll(owner, id, {
          ...{ waitMs: 10_000, bytes: 65_536, newest: false },
        }, never);
        stdout += output.stdout;
        stderr += output.stderr;
        const done = output.state === "exited" && !output.more;
        const late = output.stdout === "" && output.stderr === "";
        if (wanted.test(stdout + stderr) || done || late) return { ...output, stdout, stderr };
      }
    },
    write: (id, text, end = false) =>
      sessions.write(owns(ALICE), id, { text, end, colour: "BLUE", label: "public" }),
    async finish(id, owner = owns(ALICE)) {
      const result = await sessions.finish(owner, id, { bytes: 65_536 }, never);
      const gone = new Set([...result.staged.map(({ path }) => path), ...result.unstaged]);
      const rest = overlay.filter(({ path }) => !gone.has(path));
      overlay.splice(0, overlay.length, ...rest, ...result.staged);
      return result;
    },
    content: async (digest) => await Deno.readTextFile(`${world.dir}/content/${digest}`),
    revoke: () => listener(lease, "revoked"),
    end: (pid) => void ended.add(pid),
    async close() {
      await sessions.close(TASK);
      await world.close();
    },
  };
}

/** Processes of this machine with this word among their arguments, such as sleeps of a unique length. */
export function processesWith(word: string): readonly string[] {
  return [...Deno.readDirSync("/proc")].flatMap(({ name }) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const words = Deno.readTextFileSync(`/proc/${name}/cmdline`).split("\0");
      return words.some((each) => each === word) ? [name] : [];
    } catch {
      return [];
    }
  });
}

/** Waits for an effect of another process. */
export async function eventually(done: () => boolean): Promise<void> {
  await waitUntil("what another process does", () => done() || undefined);
}
