/** One toolhost for each task, started on first use, another for each call that writes. @module */
import { type Child, SERVES_NOTHING } from "../../core/child/child.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { ContentLookup, SignedContents } from "../../../contracts/memory/content_trust.ts";
import type { Leases } from "../../../contracts/authority/gate.ts";
import { LeaseId, type Pid, type TaskId } from "../../../contracts/authority/ids.ts";
import { type Json, type JsonObject, toJson } from "../../../contracts/base/json.ts";
import type { Lease, Scope } from "../../../contracts/authority/lease.ts";
import type { Powers } from "../../../contracts/task/process.ts";
import {
  HOST_READ,
  HOST_SURVEY,
  type HostCallAnswer,
  type HostCallBody,
  SECOND_NAMES,
  type SetupBody,
} from "../../../contracts/wire/wire_toolhost.ts";
import type { Mount, StagedChange } from "../../../contracts/tool/workspace.ts";
import type { GrantMounts } from "../../core/lease/scope.ts";
import {
  type HostCall,
  type HostCalls,
  hostMount,
  makeHostCalls,
  makeTurns,
  type Turns,
  withKnown,
} from "./toolhost.ts";
import type { Children } from "../../core/child/children.ts";
import type { SpawnPowers } from "../../core/start/spawn.ts";
import type { Roots } from "../../core/start/start_line.ts";
import { type JudgeParts, makeToolhostJudge, type OpenGrant } from "./toolhost_judge.ts";

/** Tools that read one named file, and answer with nothing else. */
const WHOLE: ReadonlySet<string> = new Set(["file_read", HOST_READ]);

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
  readonly contents: ContentLookup & SignedContents;
  readonly children: Pick<Children, "toolhost" | "walls">;
  readonly leases: Pick<Leases, "covering" | "alive" | "dead" | "onEnd">;
  readonly powers: Pick<Powers, "now" | "after">;
  /** Resolves links where there is no bubblewrap. */
  readonly spawn: Pick<SpawnPowers, "realPath" | "isLink">;
  /** Tells which folder lies at a path, undefined where none does; absent where nothing can tell. */
  look?(aspect: "folder", paths: readonly string[]): Promise<string | undefined>;
  /** The rule that keeps every tool from a path `MOUNT/relative`; undefined when there is none. */
  policyNever(path: string, right: "read" | "write"): string | undefined;
}

interface Host {
  readonly child: Child;
  readonly calls: HostCalls;
}

/**
 * What a process is for: `calls` serves the calls of a task that change nothing, `writing` one that does.
 * `survey` looks for never-listed files with more than one name: it may look at all of the mounts, and hears
 * nothing that a model or a file said.
 */
type Use = "calls" | "writing" | "survey";

interface Task {
  readonly folders: TaskFolders;
  readonly turns: Turns;
  readonly hosts: Set<Host>;
  readonly standing: Map<Exclude<Use, "writing">, Promise<Host>>;
  /** Which folder lies where, by mount; undefined for one that is not there. */
  found: ReadonlyMap<string, string | undefined>;
  /** When that was looked at. */
  lookedAt: number;
  closed: boolean;
}

/** Milliseconds for which a mount's folder is taken to be where it was: a burst of calls looks once. */
const LOOKED_MS = 1_000;
/** Milliseconds that looking at a mount's folder may take. */
const LOOK_MS = 5_000;

/** Least milliseconds for a call that begins again. */
const LEAST_MS = 1_000;

/** A grant that no lease stands behind: see {@link Use}. */
const SURVEYS = LeaseId.parse("l" + "0".repeat(12));

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

  const start = async (task: Task, use: Use): Promise<Host> => {
    const { folders } = task;
    await folders.prepare();
    const mounts = folders.mounts.filter(({ name }) => !isGone(task, name));
    const calls = makeHostCalls(powers);
    let roots: Roots = { mounts: [], content: folders.contentDir, scratch: folders.scratchDir };
    const judge: JudgeParts = {
      roots: () => roots,
      ...(walled ? {} : { links: parts.spawn }),
      ...(use === "survey"
        ? {
          grants: () => mounts.map(({ name }) => surveying(name)),
          alive: () => true,
          never: () => undefined,
        }
        : {
          grants: calls.grants,
          alive: leases.alive,
          never: (path, right) =>
            parts.policyNever(path, right) ??
              (folders.wikiOwn?.(path) === undefined ? undefined : "a wiki's own"),
        }),
    };
    const started = await children.toolhost({
      mounts,
      content: folders.contentDir,
      scratch: folders.scratchDir,
      writable: use === "writing",
      judge: makeToolhostJudge(judge),
      handler: SERVES_NOTHING,
    });
    roots = started.roots;
    const host: Host = { child: started.child, calls };
    task.hosts.add(host);
    void host.child.exited.then(() => task.hosts.delete(host));
    try {
      if (task.closed) throw new Fault("gone", "Cannot start a toolhost: its task has ended");
      await host.child.port.ask("setup", toJson(setup({ ...folders, mounts }, roots)));
      return host;
    } catch (error) {
      await host.child.kill();
      throw error;
    }
  };

  const forget = ({ standing }: Task, host: Promise<Host>): void => {
    for (const [use, each] of standing) if (each === host) standing.delete(use);
  };
  const begin = (task: Task, use: "calls" | "survey"): Promise<Host> => {
    const host = start(task, use);
    task.standing.set(use, host);
    const ended = (): void => forget(task, host);
    host.then(({ child }) => void child.port.closed.then(ended), ended);
    return host;
  };
  const provide = async (task: Task, use: "calls" | "survey"): Promise<Host> => {
    for (;;) {
      const standing = task.standing.get(use) ?? begin(task, use);
      const host = await standing;
      if (!host.calls.doomed()) return host;
      // It is being ended for another call, and would take this one with it.
      forget(task, standing);
    }
  };

  /**
   * A process in a namespace holds the folders that lay there when it started. Where another lies there now
   * it is ended, and the next call finds that one.
   */
  const lookAtMounts = async (task: Task): Promise<void> => {
    const { look } = parts;
    const now = powers.now();
    if (!walled || look === undefined || now - task.lookedAt < LOOKED_MS) return;
    const { mounts } = task.folders;
    const found = new Map(
      await Promise.all(mounts.map(async ({ name, dir }) => {
        const said = await inTime(look("folder", [dir]), name);
        return [name, said?.startsWith("directory:") === true ? said : undefined] as const;
      })),
    );
    const before = task.found;
    task.found = found;
    task.lookedAt = now;
    if (before.size === 0 || mounts.every(({ name }) => before.get(name) === found.get(name))) {
      return;
    }
    const standing = [...task.standing.values()];
    task.standing.clear();
    await Promise.all(
      standing.map((host) => host.then(({ child }) => child.kill(), () => undefined)),
    );
  };
  const inTime = async <T>(work: Promise<T>, mount: string): Promise<T> => {
    const late = Promise.withResolvers<never>();
    const stop = powers.after(
      LOOK_MS,
      () =>
        late.reject(
          new Fault("timedOut", `Cannot look at mount "${mount}": its folder does not answer`),
        ),
    );
    try {
      return await Promise.race([work, late.promise]);
    } finally {
      stop();
    }
  };
  const refuseGone = (task: Task, { body, scopes }: HostCall): void => {
    for (const { resource, path } of scopes) {
      const [mount = ""] = path.split("/");
      if (resource !== "mount" || !isGone(task, mount)) continue;
      throw new Fault(
        "notFound",
        `Cannot run "${body.tool}": the folder of mount "${mount}" is not there any more; ` +
          "it was moved or deleted, and the operator can put it back",
      );
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
    await lookAtMounts(task);
    refuseGone(task, call);
    const began = powers.now();
    let { args, deadlineMs } = call.body;
    for (;;) {
      try {
        return await once(task, { ...call, body: { ...call.body, args, deadlineMs } }, writable);
      } catch (error) {
        const mount = error instanceof Fault ? error.detail?.[SECOND_NAMES] : undefined;
        const known = args[SECOND_NAMES] as JsonObject | undefined;
        if (typeof mount !== "string" || known?.[mount] !== undefined) throw error;
        args = { ...args, [SECOND_NAMES]: { ...known, [mount]: await survey(task, call, mount) } };
        // The time for both is the time for one.
        deadlineMs = Math.max(LEAST_MS, call.body.deadlineMs - (powers.now() - began));
      }
    }
  };

  const survey = async (task: Task, call: HostCall, mount: string): Promise<Json> => {
    const { child, calls } = await provide(task, "survey");
    const { body } = call;
    const asked = { ...body, id: `survey-${body.id}`, tool: HOST_SURVEY, args: { mount } };
    return (await calls.run(child, { ...call, body: asked, scopes: [] }, [])).value ?? null;
  };

  const once = async (task: Task, call: HostCall, writable: boolean): Promise<HostCallAnswer> => {
    if (call.signal.aborted) {
      throw new Fault("cancelled", `Cannot run "${call.body.tool}": cancelled`);
    }
    const host = await (writable ? start(task, "writing") : provide(task, "calls"));
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
      tasks.set(id, {
        ...{ folders, turns, hosts: new Set(), standing: new Map(), closed: false },
        ...{ found: new Map(), lookedAt: -LOOKED_MS },
      });
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
      return withKnown(answer, parts.contents, WHOLE.has(body.tool));
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
      const begun = [...task.standing.values()];
      await Promise.all(
        begun.map((host) => host.then(({ child }) => child.kill(), () => undefined)),
      );
    },
  });
}

/** Whether a mount's folder was looked for, and was not there. */
function isGone({ found }: Task, mount: string): boolean {
  return found.has(mount) && found.get(mount) === undefined;
}

function surveying(mount: string): OpenGrant {
  return { scope: { resource: "mount", right: "read", path: mount }, lease: SURVEYS };
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
