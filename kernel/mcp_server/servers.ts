/**
 * Imported servers of all tasks: one process and one bridge for each task and server, started with the first call,
 * never shared; ended with the task, when a lease of it ends, when its bridge does not answer, or when a call of it was
 * not answered in time; started again with the next call, after it died later each time. docs/decision/0015.
 * @module
 */
import {
  Fault,
  type ImportedServer,
  type Json,
  type JsonObject,
  type Lease,
  type LeaseId,
  type Leases,
  type McpWords,
  type Pid,
  type Powers,
  type TaskId,
} from "../../contracts/mod.ts";
import { leasedGrants } from "./mcp_leases.ts";
import type { McpPlace, McpServe, McpUnder } from "./calls.ts";
import type { McpChildren } from "../child/mcp_children.ts";
import type { McpProcess } from "./process.ts";
import { type McpRun, startMcpRun } from "./mcp_run.ts";
import type { McpProxies } from "./start.ts";
import { makeMcpTrees } from "./tree.ts";
import { makeStartQueue } from "../child/start_queue.ts";

/** Servers that start at a time: each takes a core for a moment. */
const STARTS = 3;
/** Milliseconds that one which starts keeps the others waiting, at most. */
const TURN_MS = 2_000;
/** Milliseconds before a server that died is started again: doubled each time, up to the last. */
const FIRST_WAIT_MS = 1_000;
const LAST_WAIT_MS = 60_000;
/** Milliseconds of life after which its deaths before are forgotten. */
const STEADY_MS = 60_000;

/** A server as a task holds it. */
export interface HeldMcp {
  /**
   * The bridge's answer to `call`, `read`, `prompt`, `complete`: its own words, not parsed. `id` and `deadlineMs` of
   * the body are set here. Rejects with the bridge's fault, `timedOut`, `cancelled`, `leaseRevoked`, `leaseExpired`,
   * `upstream` (it ended), `unavailable` (it died, and is not started yet), `refused` (its files changed), `gone`.
   */
  ask(op: string, body: JsonObject, under: McpUnder): Promise<Json>;
  /** Everything that it says of itself; starts it. Rejects as `ask`. */
  words(under: McpUnder): Promise<McpWords>;
}

/** The servers of all tasks. */
export interface McpServers {
  /** Starts nothing. The same server for the same task, whoever asks. */
  hold(task: TaskId, server: ImportedServer): HeldMcp;
  /** SIGSTOP and SIGCONT: the clocks of a process's calls stand still. */
  freeze(pid: Pid): void;
  thaw(pid: Pid): void;
  /** Operating-system processes of a task, for `ps`. */
  osPids(task: TaskId): readonly number[];
  /** Ends a task's servers; resolves when they are reaped. */
  close(task: TaskId): Promise<void>;
  /** Ends a server in every task; resolves with how many there were. */
  revoke(server: string): Promise<number>;
}

/** What {@link makeMcpServers} is handed. */
export interface McpServersParts {
  readonly children: McpChildren;
  readonly leases: Pick<Leases, "list" | "alive" | "onEnd">;
  readonly powers: Pick<Powers, "now" | "after">;
  readonly serve: McpServe;
  readonly proxies?: McpProxies;
  /** What no tool touches, whatever a server was granted, in words. */
  forbids?(at: McpPlace, path: string, right: "read" | "write"): string | undefined;
}

interface Life extends Ends {
  readonly run: Promise<McpRun>;
  readonly leases: ReadonlySet<LeaseId>;
}

/** What is known before it has started. */
interface Ends {
  processes: Pick<McpProcess, "osPids" | "end" | "ended"> | undefined;
  /** Why the kernel ends it; absent: it ended by itself. */
  ending: Fault | undefined;
}

interface Entry {
  readonly at: McpPlace;
  life: Life | undefined;
  deaths: number;
  /** Not started before. */
  notBefore: number;
  lastEnd: string;
  closed: boolean;
}

/** Makes the table: nothing runs. */
export function makeMcpServers(parts: McpServersParts): McpServers {
  const { children, leases, powers, serve } = parts;
  const tasks = new Map<TaskId, Map<string, Entry>>();
  const frozen = new Set<Pid>();
  const queue = makeStartQueue(STARTS);
  const trees = makeMcpTrees({ powers, start: children.mcpTree });

  const begin = (entry: Entry): Life => {
    const { at } = entry, held = leasedGrants(leases, at);
    const ends: Ends = { processes: undefined, ending: undefined };
    const start = (): Promise<McpRun> => {
      if (ends.ending !== undefined) return Promise.reject(ends.ending);
      const parted = { ...parts, trees, at, grants: held.grants, alive: leases.alive };
      return startMcpRun({ ...parted, isFrozen: (pid) => frozen.has(pid) }, (processes) => {
        ends.processes = processes;
        if (ends.ending !== undefined) void processes.end(ends.ending.message);
      });
    };
    const run = new Promise<McpRun>((resolve) => {
      void queue.run(async () => {
        const begun = start();
        resolve(begun);
        // One that hangs must not keep the others waiting.
        await Promise.race([begun.then(nothing, nothing), soon(powers)]);
      });
    });
    const life: Life = Object.assign(ends, { run, leases: held.leases });
    const from = powers.now();
    const over = (why: string): void => {
      if (entry.life === life) entry.life = undefined;
      if (life.ending === undefined) {
        if (powers.now() - from >= STEADY_MS) entry.deaths = 0;
        entry.notBefore = powers.now() + Math.min(LAST_WAIT_MS, FIRST_WAIT_MS * 2 ** entry.deaths);
        entry.deaths += 1;
        entry.lastEnd = why;
      }
      serve.ended(at);
    };
    life.run.then(
      (run) => void run.ended.then(over),
      (error: unknown) => over(error instanceof Fault ? error.message : "it could not be started"),
    );
    return life;
  };

  const living = (entry: Entry): Life => {
    const { server } = entry.at;
    if (entry.closed) throw new Fault("gone", `Cannot ask "${server.name}": the task has ended`);
    if (entry.life?.ending === undefined && entry.life !== undefined) return entry.life;
    const left = entry.notBefore - powers.now();
    if (left > 0) {
      throw new Fault(
        "unavailable",
        `Cannot ask "${server.name}": it is started again in ${Math.ceil(left / 1_000)} s, ` +
          `because the last time ${entry.lastEnd}`,
      );
    }
    entry.life = begin(entry);
    return entry.life;
  };

  const within = async <T>(
    entry: Entry,
    { signal }: McpUnder,
    work: (run: McpRun) => Promise<T>,
  ): Promise<T> => {
    const { name } = entry.at.server;
    if (signal.aborted) throw new Fault("cancelled", `Cannot ask "${name}": cancelled`);
    const life = living(entry);
    let run: McpRun | undefined;
    try {
      run = await unlessAborted(life.run, signal, name);
      return await work(run);
    } catch (error) {
      if (life.ending !== undefined && isEnd(error)) throw life.ending;
      // What gave no answer may spin for as long as its task lasts, and the next call would wait as long. One that is
      // elsewhere is not ours to end.
      if (run !== undefined && isLate(error) && entry.at.server.launch.kind !== "http") {
        await end(
          life,
          new Fault(
            "upstream",
            `Cannot ask "${name}": it was ended, as a call of it was not answered`,
          ),
        );
        throw new Fault(
          "timedOut",
          `${error.message}; it was ended, and the next call starts it anew`,
          {
            cause: error,
          },
        );
      }
      if (run === undefined || !(error instanceof Fault) || error.code !== "gone") throw error;
      // The bridge gave it up, perhaps before it ended.
      await run.end(`its session ended: ${error.message}`);
      throw new Fault("upstream", `Cannot ask "${name}": ${await run.ended}`, { cause: error });
    }
  };

  const end = async (life: Life | undefined, why: Fault): Promise<void> => {
    if (life === undefined) return;
    life.ending ??= why;
    await life.processes?.end(why.message);
    await life.run.then((run) => run.end(why.message), () => undefined);
  };

  leases.onEnd((lease: Lease, why) => {
    for (const entry of tasks.get(lease.task)?.values() ?? []) {
      if (entry.life?.leases.has(lease.id) !== true) continue;
      const how = why === "revoked" ? "was taken back" : "has expired";
      void end(
        entry.life,
        new Fault(
          why === "revoked" ? "leaseRevoked" : "leaseExpired",
          `Cannot go on with "${entry.at.server.name}": a lease of it ${how}`,
        ),
      );
    }
  });

  const all = function* (): Generator<Entry> {
    for (const servers of tasks.values()) yield* servers.values();
  };
  const running = (act: (run: McpRun) => void): void => {
    for (const { life } of all()) void life?.run.then(act, () => undefined);
  };

  return Object.freeze<McpServers>({
    hold(task, server): HeldMcp {
      const servers = tasks.get(task) ?? new Map<string, Entry>();
      tasks.set(task, servers);
      const entry: Entry = servers.get(server.name) ?? {
        at: { task, server },
        ...{ life: undefined, deaths: 0, notBefore: 0, lastEnd: "", closed: false },
      };
      servers.set(server.name, entry);
      return Object.freeze<HeldMcp>({
        ask: (op, body, under) => within(entry, under, (run) => run.ask({ op, body }, under)),
        words: (under) => within(entry, under, (run) => run.words(under)),
      });
    },
    freeze(pid): void {
      frozen.add(pid);
      running((run) => run.freeze(pid));
    },
    thaw(pid): void {
      frozen.delete(pid);
      running((run) => run.thaw(pid));
    },
    osPids: (task) =>
      [...tasks.get(task)?.values() ?? []].flatMap(({ life }) => life?.processes?.osPids ?? []),
    async close(task): Promise<void> {
      const entries = [...tasks.get(task)?.values() ?? []];
      tasks.delete(task);
      await Promise.all(entries.map((entry) => {
        entry.closed = true;
        return end(entry.life, new Fault("gone", "Cannot go on: the task has ended"));
      }));
    },
    async revoke(name): Promise<number> {
      const lives = [...all()].filter(({ at, life }) =>
        at.server.name === name && life !== undefined
      );
      await Promise.all(
        lives.map(({ life }) =>
          end(life, new Fault("leaseRevoked", `Cannot go on with "${name}": it was taken back`))
        ),
      );
      return lives.length;
    },
  });
}

function nothing(): void {}

function soon(powers: Pick<Powers, "after">): Promise<void> {
  return new Promise((resolve) => void powers.after(TURN_MS, resolve));
}

/** What a call sees when its server is ended under it. */
function isEnd(error: unknown): boolean {
  return error instanceof Fault && ["gone", "upstream", "timedOut"].includes(error.code);
}

function isLate(error: unknown): error is Fault {
  return error instanceof Fault && error.code === "timedOut";
}

function unlessAborted<T>(wait: Promise<T>, signal: AbortSignal, name: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Fault("cancelled", `Cannot ask "${name}": cancelled`));
    signal.addEventListener("abort", stop, { once: true });
    wait.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
