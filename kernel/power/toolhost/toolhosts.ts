/** One toolhost for each task, started on first use, another for each call that writes. @module */
import { type Child, SERVES_NOTHING } from "../../core/child/child.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { ContentLookup, SignedContents } from "../../../contracts/memory/content_trust.ts";
import type { Leases } from "../../../contracts/authority/gate.ts";
import { makeDeadlines, type TaskPrograms } from "../../core/process/limits.ts";
import { leasesOf } from "../../core/lease/leases.ts";
import { LeaseId, type Pid, type TaskId } from "../../../contracts/authority/ids.ts";
import { type Json, type JsonObject, toJson } from "../../../contracts/base/json.ts";
import type { Scope } from "../../../contracts/authority/lease.ts";
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

/** Tools whose answer is the content of one named file. */
const WHOLE: ReadonlySet<string> = new Set(["file_read", HOST_READ]);

/** The folders and rules of a task's toolhosts. */
export interface TaskFolders {
  readonly mounts: readonly Mount[];
  /** The places of imported servers' write grants in these mounts. */
  readonly grants?: Pick<GrantMounts, "of">;
  /** Folders of the task's own, absolute. */
  readonly contentDir: string;
  readonly scratchDir: string;
  /** Makes these folders; called before each use of them. */
  prepare(): Promise<void>;
  /** Globs of the never-list. */
  readonly never: readonly string[];
  /** The wiki path that contains `path`, which no tool may touch; undefined where there is none. */
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
export interface Toolhosts extends TaskPrograms {
  /** Declares a task; starts nothing. */
  open(task: TaskId, folders: TaskFolders): void;
  /**
   * Runs a call. Rejects with the tool's own fault, or `leaseRevoked`, `leaseExpired`, `refused` (no lease), `timedOut`,
   * `cancelled`, `upstream` (the process ended), `notFound` (task not open).
   */
  call(
    task: TaskId,
    pid: Pid,
    body: HostCallBody,
    options: ToolhostCallOptions,
  ): Promise<HostCallAnswer>;
}

/** The starter, the leases and the contents of a kernel's toolhosts. */
export interface ToolhostsParts {
  /** Known colours and labels of contents. */
  readonly contents: ContentLookup & SignedContents;
  readonly children: Pick<Children, "toolhost" | "walls">;
  readonly leases: Pick<Leases, "covering" | "alive" | "dead" | "onEnd">;
  readonly powers: Pick<Powers, "now" | "after">;
  /** Resolves links where there is no bubblewrap. */
  readonly spawn: Pick<SpawnPowers, "realPath" | "isLink">;
  /** Identifies the folder at a path, undefined where there is none; absent where this is unsupported. */
  look?(aspect: "folder", paths: readonly string[]): Promise<string | undefined>;
  /** The never-list's rule for a path `MOUNT/relative`; undefined where there is none. */
  policyNever(path: string, right: "read" | "write"): string | undefined;
}

interface Host {
  readonly child: Child;
  readonly calls: HostCalls;
}

/**
 * The use of a process: `calls` serves a task's reading calls, `writing` one writing call. `survey`
 * searches never-listed files with more than one name: it may see all of the mounts, and gets no
 * text of a model or a file.
 */
type Use = "calls" | "writing" | "survey";

interface Task {
  readonly folders: TaskFolders;
  readonly turns: Turns;
  readonly hosts: Set<Host>;
  readonly standing: Map<Exclude<Use, "writing">, Promise<Host>>;
  /** The identity of each mount's folder; undefined for a missing one. */
  found: ReadonlyMap<string, string | undefined>;
  /** When the folders were identified. */
  lookedAt: number;
  closed: boolean;
}

/** Milliseconds for which a mount's folder counts as unchanged, so that a burst of calls checks once. */
const CHECKED_MS = 1_000;
/** Milliseconds for checking a mount's folder. */
const CHECK_MS = 5_000;
/** Milliseconds that a repeated call gets at least. */
const MIN_MS = 1_000;

/** The lease id of a survey's grants, behind which there is no lease: see {@link Use}. */
const SURVEYS = LeaseId.parse("l" + "0".repeat(12));

/** Makes the table of toolhosts. */
export function makeToolhosts(parts: ToolhostsParts): Toolhosts {
  const { children, leases, powers } = parts;
  const deadlines = makeDeadlines(powers);
  const tasks = new Map<TaskId, Task>();
  const walled = children.walls().bwrap;
  // Without namespaces no task may read a mount while another writes to it.
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
    const calls = makeHostCalls(powers, deadlines);
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
      // The host is being killed for another call, and this call would die with it.
      forget(task, standing);
    }
  };

  /**
   * Checks that the mounts' folders are still the same. A process in a namespace holds the folders of its start: where
   * another folder lies there now, the process is killed, and the next call finds the new one.
   */
  const lookAtMounts = async (task: Task): Promise<void> => {
    const { look } = parts;
    const now = powers.now();
    if (!walled || look === undefined || now - task.lookedAt < CHECKED_MS) return;
    const { mounts } = task.folders;
    const found = new Map(
      await Promise.all(mounts.map(async ({ name, dir }) => {
        const identity = await inTime(look("folder", [dir]), name);
        return [name, identity?.startsWith("directory:") === true ? identity : undefined] as const;
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
      CHECK_MS,
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
        // Both attempts share the call's deadline.
        deadlineMs = Math.max(MIN_MS, call.body.deadlineMs - (powers.now() - began));
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
      return await host.calls.run(
        host.child,
        call,
        leasesOf(leases, { ...call, name: `"${call.body.tool}"` }),
      );
    } finally {
      if (writable) await host.child.kill();
    }
  };

  const find = (id: TaskId): Task => {
    const task = tasks.get(id);
    if (task === undefined) throw new Fault("notFound", `Cannot find task "${id}": it is not open`);
    return task;
  };
  return Object.freeze({
    open(id: TaskId, folders: TaskFolders): void {
      if (tasks.has(id)) throw new TypeError(`Cannot open task "${id}": it is open`);
      const turns = walled ? makeTurns() : everyone;
      tasks.set(id, {
        ...{ folders, turns, hosts: new Set(), standing: new Map(), closed: false },
        ...{ found: new Map(), lookedAt: -CHECKED_MS },
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
    ...{ freeze: deadlines.freeze, thaw: deadlines.thaw },
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

/** Tells whether a mount's folder was found missing. */
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
