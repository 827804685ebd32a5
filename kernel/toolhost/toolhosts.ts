/** One toolhost for each task, started on first use, another for each call that writes. DESIGN section 4. @module */
import { SERVES_NOTHING } from "../child/serves_nothing.ts";
import {
  type ContentLookup,
  Fault,
  type HostCallAnswer,
  type HostCallBody,
  type Lease,
  type Leases,
  type Mount,
  type Pid,
  type Powers,
  type Scope,
  type SetupBody,
  type StagedChange,
  type TaskId,
  toJson,
} from "../../contracts/mod.ts";
import type { GrantMounts } from "../lease/grant_mounts.ts";
import { withKnown } from "./host_answer.ts";
import { hostMount } from "./host_mount.ts";
import type { Child } from "../child/child.ts";
import type { Children } from "../child/children.ts";
import type { SpawnPowers } from "../start/spawn.ts";
import type { Roots } from "../start/start_line.ts";
import { type HostCall, type HostCalls, makeHostCalls } from "./toolhost.ts";
import { type JudgeParts, makeToolhostJudge } from "./toolhost_judge.ts";
import { makeTurns, type Turns } from "./turns.ts";

/** What a task's toolhosts are set up with. */
export interface TaskFolders {
  readonly mounts: readonly Mount[];
  /** Where among them what imported servers change lies. */
  readonly grants?: Pick<GrantMounts, "of">;
  /** Folders of the task's own, absolute. */
  readonly contentDir: string;
  readonly scratchDir: string;
  /** Makes these folders; called before each use of them. */
  prepare(): Promise<void>;
  /** Globs of the never-list. */
  readonly never: readonly string[];
  /** What of the mounts is a wiki's own: no tool touches it. */
  wikiOwn?(path: string): string | undefined;
  /** Bytes of scratch that the task may keep. */
  readonly scratchQuota: number;
  overlay(): readonly StagedChange[];
}

/** Options of one call. */
export interface ToolhostCallOptions {
  /** Each must be covered by a live lease of the calling process. */
  readonly scopes: readonly Scope[];
  /** Runs in a toolhost of its own with `stage` and `rw` mounts writable. */
  readonly writable: boolean;
  readonly signal: AbortSignal;
}

/** The toolhosts of all tasks. */
export interface Toolhosts {
  /** Declares a task; starts nothing. */
  open(task: TaskId, folders: TaskFolders): void;
  /**
   * Rejects with the tool's own fault, or `leaseRevoked`, `leaseExpired`, `refused` (no lease),
   * `timedOut`, `cancelled`, `upstream` (the process ended), `notFound` (task not open).
   */
  call(
    task: TaskId,
    pid: Pid,
    body: HostCallBody,
    options: ToolhostCallOptions,
  ): Promise<HostCallAnswer>;
  /** SIGSTOP and SIGCONT: the deadlines of a process's calls stand still. */
  freeze(pid: Pid): void;
  thaw(pid: Pid): void;
  /** Operating-system processes of a task, for `ps`. */
  osPids(task: TaskId): readonly number[];
  /** Ends the task's toolhosts; resolves when they are reaped. */
  close(task: TaskId): Promise<void>;
}

/** What {@link makeToolhosts} is handed. */
export interface ToolhostsParts {
  /** What is known of contents in the whole state. */
  readonly contents: ContentLookup;
  readonly children: Pick<Children, "toolhost" | "walls">;
  readonly leases: Pick<Leases, "covering" | "alive" | "dead" | "onEnd">;
  readonly powers: Pick<Powers, "now" | "after">;
  /** Resolves links where there is no bubblewrap. */
  readonly spawn: Pick<SpawnPowers, "realPath" | "isLink">;
  /** The rule that keeps every tool from a path `MOUNT/relative`; undefined when there is none. */
  policyNever(path: string, right: "read" | "write"): string | undefined;
}

interface Host {
  readonly child: Child;
  readonly calls: HostCalls;
}

interface Task {
  readonly folders: TaskFolders;
  readonly turns: Turns;
  readonly hosts: Set<Host>;
  host: Promise<Host> | undefined;
  closed: boolean;
}

/** Makes the table of toolhosts. */
export function makeToolhosts(parts: ToolhostsParts): Toolhosts {
  const { children, leases, powers } = parts;
  const tasks = new Map<TaskId, Task>();
  const walled = children.walls().bwrap;
  // Without namespaces nobody may read a mount while it is written, whatever task reads it.
  const everyone = makeTurns();

  leases.onEnd((lease, why) => {
    for (const { child, calls } of tasks.get(lease.task)?.hosts ?? []) {
      calls.leaseEnded(child, lease, why);
    }
  });

  const start = async (task: Task, writable: boolean): Promise<Host> => {
    const { folders } = task;
    await folders.prepare();
    const calls = makeHostCalls(powers);
    let roots: Roots = { mounts: [], content: folders.contentDir, scratch: folders.scratchDir };
    const judge: JudgeParts = {
      roots: () => roots,
      grants: calls.grants,
      alive: leases.alive,
      never: (path, right) =>
        parts.policyNever(path, right) ??
          (folders.wikiOwn?.(path) === undefined ? undefined : "a wiki's own"),
      ...(walled ? {} : { links: parts.spawn }),
    };
    const started = await children.toolhost({
      mounts: folders.mounts,
      content: folders.contentDir,
      scratch: folders.scratchDir,
      writable,
      judge: makeToolhostJudge(judge),
      handler: SERVES_NOTHING,
    });
    roots = started.roots;
    const host: Host = { child: started.child, calls };
    task.hosts.add(host);
    void host.child.exited.then(() => task.hosts.delete(host));
    try {
      if (task.closed) throw new Fault("gone", "Cannot start a toolhost: its task has ended");
      await host.child.port.ask("setup", toJson(setup(folders, roots)));
      return host;
    } catch (error) {
      await host.child.kill();
      throw error;
    }
  };

  const begin = (task: Task): Promise<Host> => {
    const host = start(task, false);
    const forget = (): void => {
      if (task.host === host) task.host = undefined;
    };
    host.then(({ child }) => void child.port.closed.then(forget), forget);
    return host;
  };
  const provide = async (task: Task): Promise<Host> => {
    for (;;) {
      const standing = task.host ??= begin(task);
      const host = await standing;
      if (!host.calls.doomed()) return host;
      // It is being ended for another call, and would take this one with it.
      if (task.host === standing) task.host = undefined;
    }
  };

  const held = (call: HostCall): readonly Lease[] =>
    call.scopes.map((scope) => {
      const lease = leases.covering(call.pid, scope);
      if (lease !== undefined) return lease;
      const dead = leases.dead(call.pid, scope);
      const what = `Cannot run "${call.body.tool}" on ${JSON.stringify(scope.path)}`;
      if (dead === "revoked") throw new Fault("leaseRevoked", `${what}: its lease was taken back`);
      if (dead === "expired") throw new Fault("leaseExpired", `${what}: its lease has expired`);
      throw new Fault("refused", `${what}: no lease of this process covers it`);
    });

  const run = async (task: Task, call: HostCall, writable: boolean): Promise<HostCallAnswer> => {
    if (call.signal.aborted) {
      throw new Fault("cancelled", `Cannot run "${call.body.tool}": cancelled`);
    }
    const host = await (writable ? start(task, true) : provide(task));
    try {
      return await host.calls.run(host.child, call, held(call));
    } finally {
      if (writable) await host.child.kill();
    }
  };

  const find = (id: TaskId): Task => {
    const task = tasks.get(id);
    if (task === undefined) throw new Fault("notFound", `Cannot find task "${id}": it is not open`);
    return task;
  };
  const each = (act: (calls: HostCalls) => void): void => {
    for (const { hosts } of tasks.values()) for (const { calls } of hosts) act(calls);
  };

  return Object.freeze({
    open(id: TaskId, folders: TaskFolders): void {
      if (tasks.has(id)) throw new TypeError(`Cannot open task "${id}": it is open`);
      const turns = walled ? makeTurns() : everyone;
      tasks.set(id, { folders, turns, hosts: new Set(), host: undefined, closed: false });
    },
    async call(
      id: TaskId,
      pid: Pid,
      body: HostCallBody,
      { scopes, writable, signal }: ToolhostCallOptions,
    ): Promise<HostCallAnswer> {
      const task = find(id);
      const answer = await task.turns.run(
        writable,
        () => run(task, { pid, body, scopes, signal }, writable),
      );
      return withKnown(answer, parts.contents);
    },
    freeze: (pid: Pid) => each((calls) => calls.freeze(pid)),
    thaw: (pid: Pid) => each((calls) => calls.thaw(pid)),
    osPids: (id: TaskId) => [...tasks.get(id)?.hosts ?? []].map(({ child }) => child.osPid),
    async close(id: TaskId): Promise<void> {
      const task = tasks.get(id);
      if (task === undefined) return;
      tasks.delete(id);
      task.closed = true;
      await Promise.all([...task.hosts].map(({ child }) => child.kill()));
      await task.host?.then(({ child }) => child.kill(), () => undefined);
    },
  });
}

function setup(folders: TaskFolders, roots: Roots): SetupBody {
  const rootOf = new Map(roots.mounts.map(({ name, root }) => [name, root]));
  return {
    mounts: folders.mounts.map((each) => hostMount(each, rootOf.get(each.name) ?? "")),
    content: roots.content,
    scratch: roots.scratch,
    never: folders.never,
    overlay: folders.overlay(),
    scratchQuota: folders.scratchQuota,
  };
}
