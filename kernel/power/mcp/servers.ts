/**
 * Imported servers of all tasks: one process and one bridge for each task and server, started with the first call,
 * never shared; ended with the task, with a lease of it, or when its bridge or a call does not answer in time; started
 * again with the next call. Where a server may change files, that process only reads, and each call that changes
 * something has a process of its own, over a copy. docs/decision/0015, docs/decision/0034.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { Leases } from "../../../contracts/authority/gate.ts";
import type { LeaseId, Pid, TaskId } from "../../../contracts/authority/ids.ts";
import type { Json, JsonObject } from "../../../contracts/base/json.ts";
import type { Lease } from "../../../contracts/authority/lease.ts";
import type { ImportedServer, ServerListing } from "../../../contracts/exchange/mcp.ts";
import type { Powers } from "../../../contracts/task/process.ts";
import { leasedGrants } from "./mcp_judge.ts";
import { isEnd, isLate, type McpPlace, type McpServe, type McpUnder } from "./calls.ts";
import { unlessAborted } from "../../core/child/child.ts";
import type { McpChildren } from "../../core/child/mcp_children.ts";
import { type McpCopies, mustWrite, type ServerChanges, type ServerCopies } from "./copies.ts";
import type { McpProcess } from "./process.ts";
import { type McpRun, startMcpRun } from "./mcp_run.ts";
import type { McpProxies, StartParts } from "./start.ts";
import { makeMcpTrees } from "./tree.ts";
import { makeStartQueue } from "../../core/child/children.ts";
import { makeTurns, type Turns } from "../toolhost/toolhost.ts";

/** Servers that start at a time: each takes a core for a moment. */
const STARTS = 3;
/** Milliseconds that one which starts keeps the others waiting, at most. */
const TURN_MS = 2_000;
/** Milliseconds before a server that died is started again: doubled each time, up to the last. */
const FIRST_WAIT_MS = 1_000;
const LAST_WAIT_MS = 60_000;
/** Milliseconds of life after which its deaths before are forgotten. */
const STEADY_MS = 60_000;

/** A server's process while one call holds it. */
export type McpSession = Pick<McpRun, "ask" | "words">;

/** A server as a task holds it. */
export interface HeldMcp {
  /**
   * Work with the process that serves such calls, which is started for it. What a call changed that may change
   * something was looked at once that process had ended. Rejects as `ask`.
   */
  use<T>(
    under: McpUnder,
    work: (session: McpSession) => Promise<T>,
  ): Promise<{ readonly value: T; readonly changes?: ServerChanges }>;
  /**
   * The bridge's answer to `call`, `read`, `prompt`, `complete`: its own words, not parsed. `id` and `deadlineMs` of
   * the body are set here. Rejects with the bridge's fault, `timedOut`, `cancelled`, `leaseRevoked`, `leaseExpired`,
   * `upstream` (it ended), `unavailable` (it died, and is not started yet), `refused` (its files changed), `gone`.
   */
  ask(op: string, body: JsonObject, under: McpUnder): Promise<Json>;
  /** Everything that it says of itself; starts it. Rejects as `ask`. */
  words(under: McpUnder): Promise<ServerListing>;
}

/** The servers of all tasks. */
export interface McpServers {
  /** Starts nothing. The same server for the same task, whoever asks. */
  hold(task: TaskId, server: ImportedServer): HeldMcp;
  /** SIGSTOP and SIGCONT: the clocks of a process's calls stand still. */
  freeze(pid: Pid): void;
  thaw(pid: Pid): void;
  /** Operating-system processes of a task. */
  osPids(task: TaskId): readonly number[];
  /** Ends a task's servers; resolves when they are reaped. */
  close(task: TaskId): Promise<void>;
  /** Ends a server in every task; resolves with how many there were. */
  revoke(server: string): Promise<number>;
}

/** What {@link makeMcpServers} is handed. */
export interface McpServersParts extends Pick<StartParts, "forbids" | "forbiddenNames" | "uses"> {
  readonly children: McpChildren;
  readonly leases: Pick<Leases, "list" | "alive" | "onEnd">;
  readonly powers: Pick<Powers, "now" | "after">;
  readonly serve: McpServe;
  readonly proxies?: McpProxies;
  readonly copies: McpCopies;
}

interface Life extends Ends {
  readonly run: Promise<McpRun>;
  readonly leases: ReadonlySet<LeaseId>;
  /** What was staged where it may write, when it began: it sees just that. */
  readonly staged: string;
  /** Calls that it serves. */
  calls: number;
}

/** What is known before it has started. */
interface Ends {
  processes: Pick<McpProcess, "osPids" | "end" | "ended"> | undefined;
  /** Why the kernel ends it; absent: it ended by itself. */
  ending: Fault | undefined;
}

interface Entry {
  readonly at: McpPlace;
  /** Of one call that may change something: the copies that it does so in. */
  readonly writing?: ServerCopies;
  /** It must write to start: it reads from copies that nobody keeps. */
  scratch: boolean;
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
  /** One call at a time that changes something: two copies of one folder could not both become its changes. */
  const turns = new Map<TaskId, Turns>();
  const frozen = new Set<Pid>();
  const queue = makeStartQueue(STARTS);
  const trees = makeMcpTrees({ powers, start: children.mcpTree });

  const begin = (entry: Entry): Life => {
    const { at, writing } = entry, held = leasedGrants(leases, at);
    const ends: Ends = { processes: undefined, ending: undefined };
    const staged = writing === undefined ? parts.copies.staged(at) : "";
    const start = async (): Promise<McpRun> => {
      if (ends.ending !== undefined) throw ends.ending;
      // What is not staged is read where it lies.
      const shown = staged === "" && !entry.scratch ? undefined : await parts.copies.provide(at);
      const from = (writing ?? shown)?.from ?? {};
      const parted = { ...parts, trees, at, alive: leases.alive, copies: from };
      const grants = held.grants.map((grant) =>
        grant.right === "write" &&
          (writing === undefined && !entry.scratch || !Object.hasOwn(from, grant.value))
          ? { ...grant, right: "read" } as const
          : grant
      );
      try {
        const run = await startMcpRun(
          { ...parted, grants, isFrozen: (pid) => frozen.has(pid) },
          (processes) => {
            ends.processes = processes;
            if (ends.ending !== undefined) void processes.end(ends.ending.message);
          },
        );
        void run.ended.then(() => shown?.close());
        return run;
      } catch (error) {
        await shown?.close();
        if (entry.writing !== undefined || entry.scratch || !mustWrite(error, entry.at.server)) {
          throw error;
        }
        entry.scratch = true;
        return await start();
      }
    };
    const run = new Promise<McpRun>((resolve) => {
      void queue.run(async () => {
        const begun = start();
        resolve(begun);
        // One that hangs must not keep the others waiting.
        const soon = new Promise<void>((resolve) => void powers.after(TURN_MS, resolve));
        await Promise.race([Promise.allSettled([begun]), soon]);
      });
    });
    const life: Life = Object.assign(ends, { run, leases: held.leases, staged, calls: 0 });
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
    if (entry.life?.ending === undefined && entry.life !== undefined) {
      if (entry.writing !== undefined || entry.life.staged === parts.copies.staged(entry.at)) {
        return entry.life;
      }
      // It sees what was staged before: what it still serves ends with it.
      const stale = entry.life;
      entry.life = begin(entry);
      if (stale.calls === 0) void end(stale, STALE);
      return entry.life;
    }
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
    life.calls += 1;
    try {
      run = await unlessAborted(life.run, signal, `"${name}"`);
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
    } finally {
      life.calls -= 1;
      if (life.calls === 0 && entry.life !== life) void end(life, STALE);
    }
  };

  const end = async (life: Life | undefined, why: Fault): Promise<void> => {
    if (life === undefined) return;
    life.ending ??= why;
    await life.processes?.end(why.message);
    await life.run.then((run) => run.end(why.message), () => undefined);
  };

  const entryOf = (at: McpPlace, writing?: ServerCopies): Entry => ({
    ...{ at, life: undefined, deaths: 0, notBefore: 0, lastEnd: "", closed: false },
    scratch: false,
    ...(writing === undefined ? {} : { writing }),
  });

  /** One call, in a process that ends before it is looked what was changed: nothing is left that could change more. */
  const change = async <T>(
    at: McpPlace,
    under: McpUnder,
    work: (run: McpRun) => Promise<T>,
  ): Promise<{ value: T; changes: ServerChanges } | undefined> => {
    const copies = await parts.copies.provide(at);
    if (copies === undefined) return undefined;
    const entry = entryOf(at, copies), name = `${at.server.name} ${under.callId}`;
    const servers = tasks.get(at.task);
    const done = new Fault("gone", `Cannot go on with "${at.server.name}": its call is over`);
    try {
      if (servers === undefined) throw new Fault("gone", "Cannot ask a server: the task has ended");
      servers.set(name, entry);
      let fault: Fault | undefined;
      const unwatch = copies.watch((why) => {
        fault = why;
        void end(entry.life, why);
      });
      let value: T;
      try {
        value = await within(entry, under, work);
      } finally {
        unwatch();
        await end(entry.life, done);
      }
      if (fault !== undefined) throw fault;
      return { value, changes: await copies.collect(under.label ?? "secret") };
    } finally {
      servers?.delete(name);
      await copies.close();
    }
  };

  leases.onEnd((lease: Lease, why) => {
    // What it let be copied is not kept for another call.
    void parts.copies.clear(lease.task);
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
      const entry = servers.get(server.name) ?? entryOf({ task, server });
      servers.set(server.name, entry);
      let line = turns.get(task);
      if (line === undefined) turns.set(task, line = makeTurns());
      const own = line;
      const use: HeldMcp["use"] = async (under, work) => {
        if (under.holds === "all" && server.grants.write.length > 0) {
          const changed = await own.run(true, () => change(entry.at, under, work));
          if (changed !== undefined) return changed;
        }
        return { value: await within(entry, under, work) };
      };
      return Object.freeze<HeldMcp>({
        use,
        ask: async (op, body, under) =>
          (await use(under, (run) => run.ask({ op, body }, under))).value,
        words: async (under) => (await use(under, (run) => run.words(under))).value,
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
    osPids: (task) => [
      ...[...tasks.get(task)?.values() ?? []].flatMap(({ life }) => life?.processes?.osPids ?? []),
      ...parts.copies.osPids(task),
    ],
    async close(task): Promise<void> {
      const entries = [...tasks.get(task)?.values() ?? []];
      tasks.delete(task);
      turns.delete(task);
      await Promise.all(entries.map((entry) => {
        entry.closed = true;
        return end(entry.life, new Fault("gone", "Cannot go on: the task has ended"));
      }));
      await parts.copies.clear(task);
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

/** A process that sees what was staged before. */
const STALE = new Fault("gone", "Cannot go on: what is staged has changed");
