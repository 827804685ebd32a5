/**
 * Runs programs of this machine for tasks: over copies of their mounts, behind walls, and killed
 * with all their children; their changes are staged. A run ends with its call; programs that
 * outlive their call are process_sessions.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { ContentLookup } from "../../../contracts/memory/content_trust.ts";
import type { Leases } from "../../../contracts/authority/gate.ts";
import { leaseEnded, leasesOf } from "../../core/lease/leases.ts";
import type { TaskId } from "../../../contracts/authority/ids.ts";
import type { Lease } from "../../../contracts/authority/lease.ts";
import type { Powers } from "../../../contracts/task/process.ts";
import type { KernelConfig } from "../../../contracts/wire/wire_control.ts";
import { type CopyService, kept, mixed, setup, watchWeight } from "./copies.ts";
import { COMMAND_ENV, dataOf, lineOfCommand, threadsOf } from "../../core/start/command_line.ts";
import {
  type AgentRun,
  type AgentRuns,
  cancelled,
  type CommandRan,
  type CommandRun,
  type Commands,
  FLOOD_BYTES,
  type Look,
  makeCapture,
  type Shown,
  unavailable,
} from "./run.ts";
import type { Pins } from "./pins.ts";
import { type CopyPlace, makeCopyPlaces } from "./places.ts";
import type { RunPowers } from "./command_spawn_powers.ts";
import type { CommandWalls } from "../../core/start/walls.ts";
import type { Uses } from "../../../contracts/task/spending.ts";
import { type Deadline, makeDeadlines } from "../../core/process/limits.ts";
import type { ExitStatus, SpawnPowers } from "../../core/start/spawn.ts";
import type { TaskFolders } from "../toolhost/toolhosts.ts";
import { makeTurns, type Turns } from "../toolhost/toolhost.ts";

/** Milliseconds for copying, and for collecting. */
const COPY_MS = 60_000;
/** Milliseconds that a killed program's outputs may stay open. */
const LATE_MS = 2_000;

/** The walls, copies, leases and powers of a kernel's runs. */
export interface CommandsParts {
  /** Known colours and labels of contents. */
  readonly contents: ContentLookup;
  readonly config: Pick<KernelConfig, "programs" | "denoDir" | "dir">;
  /** Runs of foreign agents. */
  readonly agents?: AgentRuns;
  /** The copy service's bundle, absolute. */
  readonly bundle: string;
  readonly walls: CommandWalls;
  readonly spawn: Pick<SpawnPowers, "start">;
  readonly programs: RunPowers;
  readonly pins: Pins;
  readonly look: Look;
  readonly leases: Pick<Leases, "covering" | "dead" | "onEnd">;
  readonly powers: Pick<Powers, "now" | "after" | "token">;
  readonly disk: {
    makeDir(path: string): Promise<void>;
    /** Like `removeRoom`. */
    remove(path: string): Promise<void>;
  };
  /** Budgets of programs and memory; absent: there are none. */
  readonly uses?: Uses;
  /** A task's mounts and staged changes; undefined once it has ended. */
  folders(task: TaskId): TaskFolders | undefined;
}

/** Fewest processes and threads of a program and of a foreign agent, with those of the walls. */
const MIN_THREADS = 8, MIN_AGENT_THREADS = 64;

/** A program's place in budgets. */
export interface CountedProgram {
  /** Processes and threads that its walls allow; undefined where no budget limits them. */
  readonly threads: number | undefined;
  /** Called when the program has ended. */
  release(): void;
}

/**
 * Counts a program: the program itself, the most memory that its walls allow, and of the remaining
 * threads as many as such a program may have. Rejects with `budgetExhausted`.
 */
export async function countProgram(
  uses: Uses | undefined,
  run: Pick<CommandRun, "command" | "task" | "pid">,
  doing: string,
): Promise<CountedProgram> {
  if (uses === undefined) return { threads: undefined, release: () => undefined };
  const agent = run.command.agent !== undefined;
  const release = await uses.take(run, { processes: 1, memoryBytes: dataOf(agent) }, doing);
  if (!uses.has("threads")) return { threads: undefined, release };
  try {
    const need = agent ? MIN_AGENT_THREADS : MIN_THREADS;
    const threads = await uses.step(run, "threads", { need, most: threadsOf(agent), doing });
    return {
      threads: threads.amount,
      release(): void {
        threads.release();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** A run in progress. */
interface Open extends Pick<CountedProgram, "threads"> {
  readonly run: CommandRun;
  readonly leases: readonly Lease[];
  readonly deadlines: Set<Deadline>;
  /** Kills the current process of the run. */
  kill: () => void;
  pids: readonly number[];
  /** Why the run is being ended, once it is. */
  ending: Fault | undefined;
  readonly done: Promise<void>;
}

/** Makes the runner of a kernel's programs. */
export function makeCommands(parts: CommandsParts): Commands {
  const { config, powers, leases } = parts;
  const open = new Set<Open>();
  const turns = new Map<TaskId, Turns>();
  const clocks = makeDeadlines(powers);
  const places = makeCopyPlaces(parts);

  const end = (entry: Open, fault: Fault): void => {
    entry.ending ??= fault;
    entry.kill();
  };
  leases.onEnd((lease, why) => {
    // Copies made under the ended lease are not kept for another run.
    void places.clear(lease.task);
    for (const entry of open) {
      if (!entry.leases.some(({ id }) => id === lease.id)) continue;
      end(entry, leaseEnded(why, (how) => `Cannot finish ${entry.run.command.name}: ${how}`));
    }
  });

  /** Waits for a step of a run, at most `ms` milliseconds and not past the run's end. */
  const within = async <T>(entry: Open, ms: number, work: Promise<T>): Promise<T> => {
    const { name } = entry.run.command;
    const deadline = clocks.start(entry.run.pid, ms, () => {
      end(entry, new Fault("timedOut", `Cannot finish ${name}: its time is up (${ms} ms)`));
    });
    entry.deadlines.add(deadline);
    try {
      const result = await work;
      if (entry.ending !== undefined) throw entry.ending;
      return result;
    } catch (error) {
      throw entry.ending ?? error;
    } finally {
      deadline.cancel();
      entry.deadlines.delete(deadline);
    }
  };

  const execute = async (
    entry: Open,
    { folders, place, pinned, unpin }: {
      readonly folders: TaskFolders;
      readonly place: CopyPlace;
      readonly pinned: Promise<string>;
      /** Cancels `pinned`. */
      unpin(): void;
    },
  ): Promise<CommandRan> => {
    const { run } = entry;
    const before = new Map(folders.overlay().map((change) => [change.path, change]));
    entry.kill = () => {
      unpin();
      void place.service.kill();
    };
    // The agent's relay starts while the folder is copied. What the agent was shown is known by its
    // first inference; until the copy exists, the worst is assumed.
    let seen: Shown = { colour: "RED", label: "secret" };
    const begun = beginAgent(entry, folders, () => seen);
    const [pin, { prepared, work }, agent] = await within(
      entry,
      COPY_MS,
      Promise.all([
        pinned,
        place.prepare({ setup: setup(folders, run.mounts), cwd: run.cwd }),
        begun,
      ]),
    ).catch(async (error: unknown) => {
      await begun.then((agent) => agent?.close(), () => undefined);
      throw error;
    });
    const shown = mixed(run, prepared);
    seen = { colour: shown.colour, label: shown.label };
    const { taint, ...printed } = await perform(entry, place.service, { pin, work, agent });
    // Everything that the agent read meanwhile may be in its changes and output.
    const { colour, label } = mixed(run, { ...prepared, ...taint });
    entry.kill = () => void place.service.kill();
    const collected = await within(entry, COPY_MS, place.service.collect({ colour, label }));
    const done = { ...printed, ...kept(collected, before, folders), ...shown };
    const ran = {
      ...done,
      ...(taint === undefined ? {} : mixed(shown, { ...prepared, ...taint })),
    };
    const [cwd = ""] = run.mounts;
    place.rest(collected.untouched ? undefined : { setup: setup(folders, run.mounts), cwd });
    return ran;
  };

  const beginAgent = async (
    entry: Open,
    folders: Pick<TaskFolders, "mounts">,
    shown: () => Shown,
  ): Promise<AgentRun | undefined> => {
    const { run } = entry;
    const { agent } = run.command;
    if (agent === undefined) return undefined;
    if (parts.agents === undefined) throw unavailable(run, "this kernel runs no agents of others");
    return await parts.agents.begin(agent, {
      ...{ ...run, shown, folders: folders.mounts },
      end: (fault) => end(entry, fault),
      pause() {
        const resumes = [...entry.deadlines].map((deadline) => deadline.pause());
        return () => resumes.forEach((resume) => resume());
      },
    });
  };

  const perform = async (
    entry: Open,
    service: CopyService,
    { pin, work, agent }: {
      readonly pin: string;
      readonly work: string;
      readonly agent: AgentRun | undefined;
    },
  ): Promise<
    & Pick<CommandRan, "exit" | "stdout" | "stderr" | "cut" | "ms">
    & { readonly taint?: ReturnType<AgentRun["taint"]> }
  > => {
    const { run } = entry;
    const { command } = run;
    if (parts.walls.kind === "none") throw unavailable(run, parts.walls.why);
    const flood = (): void =>
      end(
        entry,
        new Fault(
          "tooLarge",
          `Cannot finish ${command.name}: it printed more than ${FLOOD_BYTES} bytes`,
        ),
      );
    const limits = { bytes: run.bytes, lines: run.lines, onFlood: flood };
    const out = makeCapture(limits), errors = makeCapture(limits);
    const began = powers.now();
    const program = parts.programs.run({
      ...lineOfCommand(config, {
        ...{ identity: parts.walls.identity, work, mounts: run.mounts },
        ...{ pin, program: command.program, args: run.args, cwd: run.cwd },
        threads: entry.threads,
        env: { ...COMMAND_ENV, ...run.env },
        ...agent?.line,
      }),
      stdin: new TextEncoder().encode(agent?.stdin ?? run.stdin),
      onOutput: out.hear,
      onErrors: errors.hear,
    });
    entry.kill = program.kill;
    entry.pids = [program.pid];
    const watched = watchWeight(
      { service, powers, name: command.name },
      (fault) => end(entry, fault),
    );
    let status: ExitStatus;
    try {
      status = await within(entry, run.timeoutMs, program.ended);
    } finally {
      watched();
      program.kill();
      await agent?.close();
      // INVARIANT: namespaces end with their process 1; a pipe that stays open nevertheless must not hold up the task.
      await Promise.race([program.ended, new Promise<void>((go) => powers.after(LATE_MS, go))]);
      entry.pids = [];
    }
    return {
      // The walls end by a signal only when they are killed.
      exit: status.code ?? 137,
      stdout: out.text(),
      stderr: errors.text() + (agent?.told() ?? ""),
      cut: out.cut() || errors.cut(),
      ms: Math.round(powers.now() - began),
      ...(agent === undefined ? {} : { taint: agent.taint() }),
    };
  };

  const begin = async (run: CommandRun, signal: AbortSignal): Promise<CommandRan> => {
    const { command, task } = run;
    if (parts.walls.kind === "none") throw unavailable(run, parts.walls.why);
    if (command.sha256 !== run.sha256) {
      throw new Fault(
        "refused",
        `Cannot run ${command.name}: it is not the program that was decided on`,
      );
    }
    const folders = parts.folders(task);
    if (folders === undefined) {
      throw new Fault("gone", `Cannot run ${command.name}: the task has ended`);
    }
    const counted = await countProgram(parts.uses, run, `run ${command.name}`);
    let held: readonly Lease[];
    try {
      if (signal.aborted) throw cancelled(run);
      // A lease may have ended while the budgets were counted.
      held = leasesOf(leases, { ...run, name: command.name });
    } catch (error) {
      counted.release();
      throw error;
    }
    const settled = Promise.withResolvers<void>();
    const entry: Open = {
      ...{ run, deadlines: new Set(), pids: [], ending: undefined },
      ...{ leases: held, threads: counted.threads },
      kill: () => undefined,
      done: settled.promise,
    };
    const cancel = (): void => end(entry, cancelled(run));
    signal.addEventListener("abort", cancel, { once: true });
    open.add(entry);
    const pinning = new AbortController();
    const pinned = parts.pins.provide(command, pinning.signal);
    // The result of the pin is awaited after the folder is copied.
    const unheard = pinned.catch(() => undefined);
    let place: CopyPlace | undefined;
    try {
      place = await places.provide(task, { folders, mounts: run.mounts });
      return await execute(entry, { folders, place, pinned, unpin: () => pinning.abort() });
    } catch (error) {
      pinning.abort();
      await Promise.all([unheard, place?.close()]);
      throw error;
    } finally {
      signal.removeEventListener("abort", cancel);
      open.delete(entry);
      counted.release();
      settled.resolve();
    }
  };

  return Object.freeze({
    async run(run: CommandRun, signal: AbortSignal): Promise<CommandRan> {
      // One run of a task at a time: changes in two copies of one mount could not both be staged.
      let line = turns.get(run.task);
      if (line === undefined) turns.set(run.task, line = makeTurns());
      return await line.run(true, () => begin(run, signal));
    },
    ...{ freeze: clocks.freeze, thaw: clocks.thaw },
    osPids: (task: TaskId) => [
      ...[...open].flatMap((entry) => entry.run.task === task ? entry.pids : []),
      ...places.osPids(task),
    ],
    async close(task: TaskId): Promise<void> {
      turns.delete(task);
      const ending = [...open].filter((entry) => entry.run.task === task);
      for (const entry of ending) end(entry, cancelled(entry.run));
      await Promise.all(ending.map(({ done }) => done));
      await places.clear(task);
    },
  });
}
