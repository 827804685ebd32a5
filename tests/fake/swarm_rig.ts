/** A swarm without a kernel: real git and checks in their walls, tasks that act as a test specifies. */
import { Fault } from "../../contracts/base/mod.ts";
import { findPrograms } from "../../launch/program/programs_powers.ts";
import { makeSwarmWalls } from "../../cli/swarm/walls_powers.ts";
import * as line from "../../kernel/core/start/command_line.ts";
import { filtered } from "../../kernel/core/start/line_parts.ts";
import { makeSpawnPowers } from "../../kernel/core/start/spawn_powers.ts";
import { probeCommandWalls } from "../../kernel/core/start/walls.ts";
import { type ResourceWorld, resourceWorld } from "../../agents/_fixture/resource_world.ts";
import { type AgentTask, ResourceRef } from "../../contracts/task/mod.ts";
import { SessionId, TaskId } from "../../contracts/authority/mod.ts";
import { makeResourceOps, ResourceBody } from "../../kernel/control/resource_ops.ts";
import { sha256Hex } from "../../port/digest.ts";
import {
  findBase,
  makeCheck,
  makeMirror,
  type Mirror,
  readState,
  runScheduler,
  type StagedFile,
  type SwarmEvent,
  type SwarmPlan,
  type SwarmPowers,
  type SwarmState,
  type SwarmTasks,
  takeEvent,
  type TaskAsk,
  type TaskEnd,
} from "../../swarm/mod.ts";
import { makeSwarmPowers } from "../../swarm/swarm_powers.ts";
import { APPROVAL, personsGit, PHRASES } from "./swarm.ts";

/** The powers, as cli/main.ts wires them; `dir` is the test's. */
export function realSwarmPowers(dir: string): SwarmPowers {
  const spawn = makeSpawnPowers();
  const GiB = 1024 ** 3;
  return makeSwarmPowers(makeSwarmWalls({
    ...{ findPrograms, system: line.SYSTEM, env: line.COMMAND_ENV, keepFilters: spawn.keepFilters },
    dir: `${dir}/walls`,
    filtered: (config, words) => filtered(config, "closed", words),
    started: ({ nice: _, ...programs }, inner) =>
      line.started(programs, { data: 4 * GiB, file: 2 * GiB, files: 1_024 }, inner),
    lineOfCommand: line.lineOfCommand,
    async identity(config) {
      const walls = await probeCommandWalls(config, spawn);
      if (walls.kind === "walled") return walls.identity;
      throw new Fault("unavailable", walls.why);
    },
  }));
}

/** The actions of a test's task. */
export interface Did {
  readonly answer?: string;
  readonly status?: TaskEnd["status"];
  readonly label?: TaskEnd["label"];
  /** New content by path; undefined deletes. */
  readonly files?: Readonly<Record<string, string | undefined>>;
  /** Milliseconds until the task ends; absent: at once. */
  readonly ms?: number;
  /** The task ends once this holds. */
  readonly once?: () => boolean;
}

/** Gives a task's actions. Its tree can be read. */
export type Does = (ask: TaskAsk, read: (path: string) => string) => Did;

/** A reviewer who approves everything, and workers that act as `work` specifies. */
export const approving = (work: Does): Does => (ask, read) =>
  ask.work === "review" ? { answer: APPROVAL } : work(ask, read);

/** One swarm over a repository of a test. */
export interface SwarmRig {
  readonly dir: string;
  readonly repository: string;
  readonly powers: SwarmPowers;
  readonly mirror: Mirror;
  /** Lines of the journal, as on the disk. */
  readonly lines: string[];
  /** Every task so far, by its session. */
  readonly asked: Map<string, TaskAsk>;
  /** The kernel's registry of shared resources, with inboxes. */
  readonly shared: ResourceWorld;
  /** Runs, or continues. `crash`: ends before or after the event of this number is written. */
  run(
    options?: { readonly crash?: { readonly at: number; readonly when: "before" | "after" } },
  ): Promise<SwarmState>;
  content(path: string): Promise<string | undefined>;
}

/** The repository in the registry. */
export const REPOSITORY = ResourceRef.parse("gitRepository:repo");
/** The task of a rig's session. */
export const taskOf = (session: string): TaskId =>
  TaskId.parse(`t${session.replace(/\D/g, "").padStart(12, "0")}`);

/** The error that ends a scheduler killed by a test. */
export class Killed extends Error {}

/** Runs `f` with a rig over a small repository. */
export async function onSwarm(
  parts: {
    readonly plan: SwarmPlan;
    readonly does: Does;
    /** Changes the repository before its commit. */
    readonly prepare?: (folder: string) => Promise<void>;
  },
  f: (rig: SwarmRig) => Promise<void>,
): Promise<void> {
  const dir = Deno.realPathSync(await Deno.makeTempDir({ prefix: "remit-swarm-test-" }));
  const repository = `${dir}/repo`;
  try {
    await Deno.mkdir(repository);
    await Deno.writeTextFile(`${repository}/phrases.txt`, PHRASES);
    await Deno.writeTextFile(`${repository}/check.sh`, "grep -q '^greeting: ' phrases.txt\n");
    await personsGit(repository, "init", "--quiet", "--initial-branch=main");
    await personsGit(repository, "add", "--all");
    await personsGit(repository, "commit", "--quiet", "--message=first");
    await parts.prepare?.(repository);
    await f(await makeRig(dir, repository, parts));
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

async function makeRig(
  dir: string,
  repository: string,
  { plan, does }: { readonly plan: SwarmPlan; readonly does: Does },
): Promise<SwarmRig> {
  const powers = realSwarmPowers(dir);
  const mirror = makeMirror(powers, `${dir}/mirror.git`);
  const lines: string[] = [];
  const asked = new Map<string, TaskAsk>();
  const shared = await resourceWorld();
  const sessions = new Map<string, string>();
  const ops = makeResourceOps({
    resources: shared.resources,
    find: (task) =>
      shared.tasks.has(task)
        ? { id: task, phase: "work", agent: "coder" } as unknown as AgentTask
        : undefined,
  });
  const askOf = (task: string): TaskAsk | undefined => asked.get(sessions.get(task) ?? "");
  const known = (task: TaskId, status: "open" | "done"): void =>
    void shared.tasks.set(task, {
      ...{ status, purged: false, session: SessionId.parse("sswarm0000000") },
    });
  const over = async (task: string): Promise<void> => {
    known(TaskId.parse(task), "done");
    await shared.resources.ownerEnded(TaskId.parse(task));
  };
  const begin = async (): Promise<void> => {
    const base = findBase(powers, repository);
    await mirror.take(base);
    if (lines.length > 0) return;
    const begun: SwarmEvent = {
      ...{ kind: "begun", id: "sw000000000001", at: 1_700_000_000_000, plan, mount: "repo" },
      ...{ base: base.commit, folder: repository },
    };
    lines.push(JSON.stringify(begun));
  };
  const tasks: SwarmTasks = {
    start(ask): Promise<string> {
      // As in the kernel: one task for a session.
      const task = taskOf(ask.session);
      if (!asked.has(ask.session)) {
        asked.set(ask.session, ask);
        sessions.set(task, ask.session);
        known(task, "open");
      }
      return Promise.resolve(task);
    },
    async follow(task, signal): Promise<TaskEnd | undefined> {
      const ask = askOf(task);
      if (ask === undefined) return { status: "gone", answer: "", reason: "", money: 0 };
      if (ended.has(task)) return { status: "cancelled", answer: "", reason: "", money: 0.25 };
      const { answer = "Done.", status = "done", ms = 0, once, label = "internal" } = does(
        ask,
        (path) => readIn(ask, path),
      );
      while (once?.() === false && !signal.aborted) await powers.rest(20, signal);
      if (ms > 0) {
        await powers.rest(ms, signal);
        if (signal.aborted) return undefined;
      }
      await over(task);
      return { status, answer, reason: "", money: 0.25, label };
    },
    async cancel(task): Promise<void> {
      ended.add(task);
      await over(task);
    },
    resources: (body) => ops.resources(ResourceBody.parse(body)),
    staged(task): Promise<readonly StagedFile[]> {
      const ask = askOf(task);
      if (ask === undefined) return Promise.resolve([]);
      const { files = {} } = does(ask, (path) => readIn(ask, path));
      return Promise.resolve(
        Object.entries(files).map(([path, text]): StagedFile => {
          const base = tryRead(ask, path);
          const next = text === undefined ? undefined : new TextEncoder().encode(text);
          return {
            path,
            ...(base === undefined ? {} : { base: sha256Hex(base) }),
            ...(next === undefined ? {} : { bytes: next.length }),
            read: () => next ?? new Uint8Array(),
          };
        }),
      );
    },
    provider: (model) => model.split(":", 1)[0] ?? "",
  };
  const ended = new Set<string>();
  await begin();
  const { base } = readState(lines)?.begun ?? { base: "" };
  return {
    ...{ dir, repository, powers, mirror, lines, asked, shared },
    async run({ crash } = {}): Promise<SwarmState> {
      const state = readState(lines);
      if (state === undefined) throw new Error("no state");
      let events = 0;
      const killed = Promise.withResolvers<never>();
      killed.promise.catch(() => undefined);
      const dead = new AbortController();
      const write = async (event: SwarmEvent): Promise<void> => {
        if (dead.signal.aborted) return await new Promise(() => undefined);
        events += 1;
        if (events !== crash?.at) {
          lines.push(JSON.stringify(event));
          return;
        }
        if (crash.when === "after") lines.push(JSON.stringify(event));
        // A killed process does nothing more: this promise never settles.
        dead.abort();
        killed.reject(new Killed());
        return await new Promise(() => undefined);
      };
      const mine = until(powers, dead.signal);
      const mirror = makeMirror(mine, `${dir}/mirror.git`);
      const running = Promise.race([
        runScheduler({
          ...{ state, mirror, tasks, powers: { ...mine, now: () => 1_700_000_001_000 } },
          resource: REPOSITORY,
          ...{ rooms: `${dir}/rooms`, record: [], write, take: takeEvent, sha256: sha256Hex },
          check: makeCheck({
            powers: mine,
            mirror,
            plan,
            base,
            mount: "repo",
            rooms: `${dir}/rooms`,
          }),
          sessionOf: (n) => `session${n}`,
          say: () => undefined,
        }, new AbortController().signal),
        killed.promise,
      ]);
      await running.finally(() => mirror.close());
      return state;
    },
    async content(path): Promise<string | undefined> {
      const { files } = await mirror.tree(await mirror.tip());
      const found = files.find((file) => file.path === path);
      if (found === undefined) return undefined;
      return new TextDecoder().decode((await mirror.blobs([found.blob]))[0]);
    },
  };
}

/** The same powers, silent once `dead` has aborted, like those of a killed process. */
function until(powers: SwarmPowers, dead: AbortSignal): SwarmPowers {
  const never = (): Promise<never> => new Promise(() => undefined);
  const ending =
    <A extends readonly unknown[], R>(does: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (dead.aborted) return await never();
      const came = await does(...args);
      return dead.aborted ? await never() : came;
    };
  return {
    ...powers,
    git: ending(powers.git),
    check: ending(powers.check),
    plant: ending(powers.plant),
    clear: ending(powers.clear),
    rest: ending(powers.rest),
  };
}

function tryRead(ask: TaskAsk, path: string): Uint8Array | undefined {
  try {
    return Deno.readFileSync(`${ask.folder}/${path}`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function readIn(ask: TaskAsk, path: string): string {
  return new TextDecoder().decode(tryRead(ask, path));
}
