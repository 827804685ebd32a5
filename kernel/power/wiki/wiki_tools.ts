/** The wikis that tasks were handed, and their tools: made by memory-wiki/, asked of a wiki's process. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { cleared, type Colour, type Label } from "../../../contracts/authority/colour.ts";
import type { Gate } from "../../../contracts/authority/gate.ts";
import type { TaskId } from "../../../contracts/authority/ids.ts";
import { isObject, type Json, type JsonObject } from "../../../contracts/base/json.ts";
import type { Scope } from "../../../contracts/authority/lease.ts";
import type { GrantedCall, Resolved, ToolBinding } from "../../../contracts/task/power.ts";
import type { Source } from "../../../contracts/authority/question.ts";
import type { Profile, TaskMemory, TaskRequest } from "../../../contracts/task/task.ts";
import { type ConflictReport, ResourceRef } from "../../../contracts/task/resources.ts";
import { sha256Hex } from "../../../port/digest.ts";
import type { ToolDescriptor } from "../../../contracts/tool/tool.ts";
import type { Hit } from "../../../contracts/memory/wiki.ts";
import { foldPath } from "../../../text/path_list.ts";
import type { Uses } from "../../../contracts/task/spending.ts";
import type { HeldWiki, WikiAskOptions, WikiServices } from "./wiki_services.ts";

/** A task's memory, as memory-wiki/ binds it. */
interface MemoryTools {
  readonly bindings: readonly ToolBinding[];
  /** Looks at what a proposed page would change, before it is decided. Never rejects. */
  prepare(
    call: { readonly name: string; readonly arguments: string },
    task: TaskId,
    signal: AbortSignal,
  ): Promise<void>;
  query(
    asked: { readonly text: string; readonly k: number },
    signal: AbortSignal,
  ): Promise<{
    readonly colour: Colour;
    readonly label: Label;
    readonly hits: readonly Hit[];
    readonly fit: string;
  }>;
}

/** What memory-wiki/ makes: handed over by main.ts. */
interface BindMemory {
  readonly descriptors: readonly ToolDescriptor[];
  bind(parts: {
    readonly memory: TaskMemory;
    readonly agent: string;
    ask(op: string, body: Json, options: WikiAskOptions): Promise<Json>;
    redeem(call: GrantedCall): void;
    now(): number;
  }): MemoryTools;
}

/** A task's wiki. */
export interface TaskWiki extends Pick<MemoryTools, "bindings" | "prepare"> {
  /** Passages for a plugin, with the untrusted files that they are of. */
  query(...asked: Parameters<MemoryTools["query"]>): Promise<
    Awaited<ReturnType<MemoryTools["query"]>> & { readonly sources: readonly Source[] }
  >;
}

/** The wikis of all tasks. */
export interface WikiTools {
  readonly descriptors: readonly ToolDescriptor[];
  /** The task's wiki; undefined when it was handed none. Its process starts with the first call. */
  of(task: TaskId, request: MemoryRequest): TaskWiki | undefined;
  /** The task has ended. */
  close(task: TaskId): void;
}

interface WikiToolsParts {
  readonly wikis: Pick<WikiServices, "hold">;
  readonly memory: BindMemory;
  redeem(call: GrantedCall): void;
  now(): number;
  /** Budgets of what an index grows by; absent: there are none. */
  readonly uses?: Pick<Uses, "take">;
  /** A page that a call would write is not as its writer had read it. */
  stale(call: GrantedCall, found: StalePage): Promise<ConflictReport | undefined>;
}

/** A page in two versions, and who wrote the one that stands. */
export interface StalePage {
  readonly resource: ResourceRef;
  readonly page: string;
  readonly base: number;
  readonly found: number;
  readonly by: string;
}

/** The name of a wiki among what tasks share: of its folder. */
function refOfWiki(folder: string): ResourceRef {
  const base = folder.slice(folder.lastIndexOf("/") + 1).toLowerCase().replace(
    /[^a-z0-9_-]+/g,
    "-",
  );
  const name = /^[a-z]/.test(base) ? base.slice(0, 48) : `wiki${base.slice(0, 44)}`;
  return ResourceRef.parse(`wikiTree:${name}-${sha256Hex(folder).slice(0, 8)}`);
}

/** The pages of a refusal that are not as they were read. */
function staleIn(error: unknown, folder: string, args: JsonObject): readonly StalePage[] {
  if (!(error instanceof Fault) || error.code !== "conflict") return [];
  const conflicts = error.detail?.["conflicts"];
  return (Array.isArray(conflicts) ? conflicts : []).flatMap((each) => {
    const { page, found, by } = isObject(each) ? each : {};
    return typeof page !== "string" || typeof found !== "number" ? [] : [{
      ...{ resource: refOfWiki(folder), page, found },
      ...{ base: Number(args["base"] ?? 0), by: String(by) },
    }];
  });
}

/** Makes the wikis of a kernel's tasks. */
export function makeWikiTools(parts: WikiToolsParts): WikiTools {
  const { wikis, memory: binder, redeem, now, uses } = parts;
  const held = new Map<TaskId, HeldWiki>();

  const holding = (task: TaskId, memory: TaskMemory): HeldWiki => {
    const { folder, stateFolder, access, user } = memory;
    const wiki = held.get(task) ??
      wikis.hold({ folder, stateFolder, readOnly: access === "read" && user !== "write" });
    held.set(task, wiki);
    return wiki;
  };

  /** A refusal because of another's change is a conflict of two tasks over a page, and is kept as that. */
  const reporting = (binding: ToolBinding, folder: string): ToolBinding =>
    Object.freeze<ToolBinding>({
      ...binding,
      async invoke(call, signal): ReturnType<ToolBinding["invoke"]> {
        try {
          return await binding.invoke(call, signal);
        } catch (error) {
          const [first] = staleIn(error, folder, call.args);
          const report = first === undefined ? undefined : await parts.stale(call, first);
          if (report === undefined || !(error instanceof Fault)) throw error;
          throw new Fault(error.code, error.message, {
            detail: { ...error.detail, conflict: report.id },
            cause: error,
          });
        }
      },
    });

  /** What a call writes is counted before: its text lies in the index afterwards. */
  const counting = (binding: ToolBinding): ToolBinding =>
    binding.descriptor.category === "read" ? binding : Object.freeze<ToolBinding>({
      ...binding,
      async invoke(call, signal): ReturnType<ToolBinding["invoke"]> {
        const { task, pid } = call;
        const indexBytes = new TextEncoder().encode(JSON.stringify(call.args)).length;
        await uses?.take({ task, pid }, { indexBytes }, "write to the wiki");
        return await binding.invoke(call, signal);
      },
    });

  return Object.freeze<WikiTools>({
    descriptors: binder.descriptors,
    of(task, request): TaskWiki | undefined {
      const memory = memoryOf(request);
      if (memory === undefined) return undefined;
      const { bindings, prepare, query } = binder.bind({
        ...{ memory, redeem, now },
        agent: memoryAgent(request),
        ask: async (op, body, options) => await holding(task, memory).ask(op, body, options),
      });
      return Object.freeze<TaskWiki>({
        bindings: bindings.map((each) => counting(reporting(each, memory.folder))),
        prepare,
        async query(...asked): ReturnType<TaskWiki["query"]> {
          const found = await query(...asked);
          const sources = found.hits.filter(({ colour }) => colour !== "BLUE").map(
            ({ file, colour, label }) => ({ source: `wiki ${file}`.slice(0, 512), colour, label }),
          );
          return { ...found, sources };
        },
      });
    },
    close(task): void {
      held.get(task)?.release();
      held.delete(task);
    },
  });
}

/** The same gate, which looks at a proposed page before it decides: the question then says what it changes. */
export function preparing(
  gate: Gate,
  { memory }: { readonly memory?: Pick<TaskWiki, "prepare"> },
  { task }: { readonly task: TaskId },
): Gate {
  if (memory === undefined) return gate;
  return Object.freeze<Gate>({
    advertise: gate.advertise,
    decide: gate.decide,
    withhold: gate.withhold,
    async call(...asked): ReturnType<Gate["call"]> {
      const [, call, , signal] = asked;
      await memory.prepare(call, task, signal);
      return await gate.call(...asked);
    },
  });
}

// What of a wiki a task holds: as its request says, narrowed by its agent and by who asked. Children
// hold no more, and nobody's notes about the person.

/** The most confidential that a profile's tasks see, whatever a request says. */
const MAX: Readonly<Record<Profile, Label>> = {
  operator: "secret",
  guest: "internal",
  anonymous: "public",
};
const ACCESS = ["read", "propose"] as const;
const USER = ["none", "read", "write"] as const;

/** What a request says of memory. */
export type MemoryRequest = Pick<TaskRequest, "memory" | "agent" | "profile">;

/** The memory of a task; undefined when it has none. */
export function memoryOf({ memory, agent, profile }: MemoryRequest): TaskMemory | undefined {
  const narrowed = agent?.memory ?? {};
  if (memory === undefined || narrowed.wiki === "none") return undefined;
  const clearances = [memory.clearance, narrowed.clearance ?? "secret", MAX[profile]] as const;
  return {
    ...memory,
    access: lower(ACCESS, memory.access, narrowed.wiki),
    // What an agent knows of the operator is not for guests.
    user: profile === "operator" ? lower(USER, memory.user, narrowed.user) : "none",
    clearance: clearances.reduce((a, b) => cleared(a, b) ? a : b),
  };
}

/** Whose notes about the person a task reads and writes. */
function memoryAgent({ agent }: Pick<TaskRequest, "agent">): string {
  return agent?.name ?? "agent";
}

/** The scopes of a task's memory. Paths: `wiki`, `log`, `user/AGENT`. */
export function memoryScopes(request: MemoryRequest): readonly Scope[] {
  const memory = memoryOf(request);
  if (memory === undefined) return [];
  const { access, user } = memory, own = `user/${memoryAgent(request)}`;
  const scope = (right: Scope["right"], path: string): Scope => ({
    resource: "memory",
    right,
    path,
  });
  return [
    scope("read", "wiki"),
    scope("read", "log"),
    ...(access === "propose" ? [scope("write", "wiki")] : []),
    ...(access === "propose" || user === "write" ? [scope("write", "log")] : []),
    ...(user === "none" ? [] : [scope("read", own)]),
    ...(user === "write" ? [scope("write", own)] : []),
  ];
}

/** Whether a child holds what its parent holds of a scope: notes about the person are the agent's alone. */
export function isInherited({ resource, path }: Scope): boolean {
  return resource !== "memory" || path !== "user" && !path.startsWith("user/");
}

function lower<T extends string>(order: readonly T[], have: T, wish: T | undefined): T {
  return wish !== undefined && order.indexOf(wish) < order.indexOf(have) ? wish : have;
}

// File tools, plugins and programs neither read nor write what is a wiki's own. A page that is read as a
// file would lose the colour and label that the wiki's store has for it; one that is written as a file
// would be taken for a person's hand.

/** What of a wiki's folder has colours and labels of its own. */
const OWN = ["raw", "pages", "index.md", "log.md"];
/** What is only read: how pages are made is for the operator to say. */
const READ_ONLY = ["AGENTS.md"];
/** Tools that change the one file that they name. */
const STAGING: ReadonlySet<string> = new Set(["file_edit", "file_write", "file_delete"]);

/** What is guarded: the task's mounts, and the folders of wikis, absolute and real. */
interface GuardedWikis {
  readonly mounts: readonly { readonly name: string; readonly dir: string }[];
  readonly wikis: readonly string[];
}

/** Paths `MOUNT/relative` that are a wiki's own. */
export interface WikiGuard {
  /** For the never-list of the task's processes. */
  readonly globs: readonly string[];
  /** The wiki's folder or file that a path is, or lies in; undefined when it is none. */
  ownOf(path: string): string | undefined;
  /** The same tool, which refuses what would touch a wiki. */
  guard(binding: ToolBinding): ToolBinding;
}

/** Makes the guard of a task. */
export function guardWikis({ mounts, wikis }: GuardedWikis): WikiGuard {
  const placed = (names: readonly string[]): readonly string[] =>
    mounts.flatMap(({ name, dir }) =>
      wikis.flatMap((folder) => names.flatMap((own) => placeIn(name, dir, `${folder}/${own}`)))
    );
  const own = placed(OWN), kept = placed([...OWN, ...READ_ONLY]);
  const among = (list: readonly string[], path: string): string | undefined =>
    list.find((each) => within(foldPath(path), foldPath(each)));

  const touched = (resolved: Resolved, tool: string): string | undefined => {
    for (const { resource, right, path } of resolved.scopes) {
      if (resource !== "mount") continue;
      // What is staged is not written yet: it is said at once all the same, not at the review.
      const writes = right === "write" || STAGING.has(tool);
      if (among(writes ? kept : own, path) !== undefined) return path;
      // A folder above is moved or removed with the wiki in it.
      if (writes && kept.some((each) => within(foldPath(each), foldPath(path)))) return path;
    }
    return resolved.changes?.find(({ path }) => among(kept, path) !== undefined)?.path;
  };

  return Object.freeze<WikiGuard>({
    globs: own,
    ownOf: (path) => among(own, path),
    guard: (binding) =>
      kept.length === 0 ? binding : Object.freeze<ToolBinding>({
        ...binding,
        resolve(args, caller): Resolved {
          const resolved = binding.resolve(args, caller);
          const path = touched(resolved, binding.descriptor.name);
          if (path === undefined) return resolved;
          throw new Fault(
            "refused",
            `Cannot touch ${
              JSON.stringify(path)
            }: it is a wiki's own; read it with wiki_read and ` +
              "propose pages with wiki_propose, in a task that holds the wiki (--wiki FOLDER)",
          );
        },
      }),
  });
}

/** Where a wiki's own lies in a mount; the mount itself where it lies within. */
function placeIn(name: string, dir: string, own: string): readonly string[] {
  if (within(foldPath(dir), foldPath(own))) return [name];
  if (!within(foldPath(own), foldPath(dir))) return [];
  const rest = own.slice(dir.replace(/\/+$/, "").length + 1);
  return [`${name}/${rest}`];
}

function within(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}
