/**
 * Scratch of finished tasks: it expires after a warning, unless a person keeps it. The clock starts
 * when a sweep first sees the scratch, so that the state of an earlier version gets the full time,
 * too. docs/shared_resources.md.
 * @module
 */
import * as z from "zod";
import { Fault } from "../../contracts/base/fault.ts";
import { type JsonObject, toJsonObject } from "../../contracts/base/json.ts";
import type { Label } from "../../contracts/authority/colour.ts";
import type { Colour } from "../../contracts/authority/mod.ts";
import { TaskId } from "../../contracts/authority/ids.ts";
import { AgentTask, isResumable, TASK_TRANSITIONS } from "../../contracts/task/task.ts";
import type { DocumentWrite, EventLog, Store } from "../../contracts/task/store.ts";
import type { NewEvent } from "../../contracts/task/event.ts";
import { StagedChange } from "../../contracts/tool/workspace.ts";
import type { Powers } from "../../contracts/task/process.ts";

const DAY = 24 * 60 * 60_000;
/** Milliseconds that scratch stays after its task, and between the warning and the removal. */
const KEPT_MS = 30 * DAY, WARNING_MS = 3 * DAY;
const KIND = "workspace";
const Scratch = z.array(StagedChange);

const Row = z.object({
  /** Start of the clock, milliseconds since 1970. */
  since: z.number(),
  /** A person keeps it. */
  kept: z.boolean(),
  warnedAt: z.number().optional(),
  goneAt: z.number().optional(),
  promotedAt: z.number().optional(),
}).strict();
type Row = z.infer<typeof Row>;

/** Body of the operation `workspaces`. */
export const WorkspaceBody = z.discriminatedUnion("do", [
  z.object({ do: z.literal("list") }).strict(),
  z.object({ do: z.literal("files"), task: TaskId }).strict(),
  z.object({ do: z.enum(["keep", "release", "promoted"]), task: TaskId }).strict(),
]);

/** See {@link WorkspaceBody}. */
export type WorkspaceBody = z.infer<typeof WorkspaceBody>;

/** Scratch of one finished task. */
export interface WorkspaceStanding {
  readonly task: TaskId;
  readonly objective: string;
  /** Absolute. */
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
  readonly colour: Colour;
  readonly label: Label;
  /** Milliseconds since 1970; absent where a person keeps it. */
  readonly expiresAt?: number;
  readonly warned: boolean;
  readonly promoted: boolean;
}

/** One file of scratch: its content is stored under its digest, its name in the log. */
export interface ScratchFile {
  /** Relative to scratch. */
  readonly path: string;
  /** Absolute. */
  readonly file: string;
  readonly bytes: number;
  readonly colour: Colour;
  readonly label: Label;
}

/** The log, the disk, and the tasks' states. */
export interface WorkspacesParts {
  readonly store: Pick<Store, "document">;
  readonly log: Pick<EventLog, "append">;
  readonly powers: Pick<Powers, "now" | "after">;
  /** The folder of all tasks' folders, absolute. */
  readonly work: string;
  readonly disk: {
    /** Names in a folder; empty where there is none. */
    list(path: string): Promise<readonly string[]>;
    /** Counts files beneath a folder; files that vanish meanwhile are not counted. */
    weigh(path: string): Promise<{ readonly files: number; readonly bytes: number }>;
    remove(path: string): Promise<void>;
  };
  /** The `record` parts of a task's outcomes, in order. */
  records(task: TaskId): Promise<readonly JsonObject[]>;
  /** Milliseconds by which the clock may be ahead of the truth. */
  ahead(): number;
  /** True where a person named the task's conversation. */
  named(task: TaskId): boolean;
  /** True while a question of the task is open. */
  asks(task: TaskId): boolean;
  note(line: string): void;
}

/** The scratch of finished tasks. */
export interface Workspaces {
  list(): Promise<readonly WorkspaceStanding[]>;
  /** The files of one task, by name. Throws `notFound`. */
  files(task: TaskId): Promise<readonly ScratchFile[]>;
  /** Takes a person's decision: keep the scratch, restart its clock, or mark it as promoted. Throws `notFound`, `conflict`. */
  decide(task: TaskId, how: "keep" | "release" | "promoted"): Promise<WorkspaceStanding>;
  /** Starts clocks, warns, and removes expired scratch; repeats every day. */
  sweep(): Promise<void>;
  close(): void;
}

interface Found {
  readonly task: AgentTask;
  readonly folder: string;
  readonly row: Row | undefined;
  readonly version: number;
}

/** The moment of removal: never without a warning some days before. */
function expiryOf({ since, warnedAt }: Row): number {
  return Math.max(since + KEPT_MS, warnedAt === undefined ? 0 : warnedAt + WARNING_MS);
}

/** Makes the workspaces; no folder is read yet. */
export function makeWorkspaces(parts: WorkspacesParts): Workspaces {
  const { store, log, powers, disk, work } = parts;
  let cancel = (): void => undefined;
  let closed = false;
  let turn: Promise<unknown> = Promise.resolve();
  /** Runs one step at a time, so that a sweep cannot remove scratch that a person decides to keep meanwhile. */
  const inTurn = <T>(step: () => Promise<T>): Promise<T> => {
    const done = turn.then(step);
    turn = done.catch(() => undefined);
    return done;
  };

  const find = async (id: TaskId): Promise<Found | undefined> => {
    const { data: task } = AgentTask.safeParse((await store.document("task", id))?.body);
    if (task === undefined) return undefined;
    const found = await store.document(KIND, id);
    const row = found === undefined ? undefined : Row.parse(found.body);
    return { task, folder: `${work}/${id}/scratch`, row, version: found?.version ?? 0 };
  };
  /** Tells whether nothing can continue the task: it has ended, cannot be resumed, has no open question and no named conversation. */
  const isOver = ({ task }: Found): boolean =>
    TASK_TRANSITIONS[task.status].length === 0 && !isResumable(task) && !parts.asks(task.id) &&
    !parts.named(task.id);

  async function* all(): AsyncGenerator<Found> {
    for (const name of await disk.list(work)) {
      const { data: id } = TaskId.safeParse(name);
      if (id === undefined || (await disk.list(`${work}/${id}/scratch`)).length === 0) continue;
      const found = await find(id);
      if (found !== undefined && isOver(found)) yield found;
    }
  }
  const write = async (
    { task, version }: Pick<Found, "task" | "version">,
    row: Row,
    body: NewEvent["body"] | undefined,
  ): Promise<void> => {
    const events = body === undefined ? [] : [{ kind: "workspace" as const, body }];
    const document: DocumentWrite = {
      ...{ kind: KIND, id: task.id, task: task.id, expect: version },
      body: toJsonObject(row),
    };
    await log.append(task.id, events, [document]);
  };
  const standing = async (
    { task, folder }: Pick<Found, "task" | "folder">,
    row: Row,
  ): Promise<WorkspaceStanding> => ({
    ...{ task: task.id, objective: task.objective, folder },
    ...await disk.weigh(folder),
    ...{ colour: task.colour, label: task.label },
    ...(row.kept ? {} : { expiresAt: expiryOf(row) }),
    ...{ warned: row.warnedAt !== undefined, promoted: row.promotedAt !== undefined },
  });

  const look = async (found: Found, now: number): Promise<void> => {
    const { row, folder, task } = found;
    if (row === undefined) return await write(found, { since: now, kept: false }, undefined);
    // A kernel was killed between the event and the removal.
    if (row.goneAt !== undefined) return await disk.remove(folder);
    if (row.kept) return;
    const expiresAt = expiryOf(row);
    if (row.warnedAt === undefined) {
      if (now < expiresAt - WARNING_MS) return;
      const warned = { ...row, warnedAt: now };
      return await write(found, warned, { state: "warned", expiresAt: expiryOf(warned) });
    }
    if (now < expiresAt) return;
    const weighed = await disk.weigh(folder);
    await write(found, { ...row, goneAt: now }, { state: "expired", ...weighed });
    await disk.remove(folder);
    parts.note(`Scratch of task ${task.id} expired: ${weighed.files} files`);
  };
  const sweepOnce = async (): Promise<void> => {
    const now = powers.now() - parts.ahead();
    for await (const found of all()) {
      if (closed) return;
      try {
        await inTurn(async () => {
          // Read again, because a person may have decided meanwhile.
          const again = await find(found.task.id);
          if (again !== undefined && isOver(again)) await look(again, now);
        });
      } catch (error) {
        parts.note(`Scratch of task ${found.task.id} was not looked at: ${String(error)}`);
      }
    }
  };

  const sweep = async (): Promise<void> => {
    await sweepOnce();
    if (closed) return;
    cancel = powers.after(DAY, () => {
      sweep().catch((error: unknown) =>
        parts.note(`Workspaces were not looked at: ${String(error)}`)
      );
    });
  };

  return Object.freeze<Workspaces>({
    async list(): Promise<readonly WorkspaceStanding[]> {
      const listed: WorkspaceStanding[] = [];
      for await (const found of all()) {
        const row = found.row ?? { since: powers.now(), kept: false };
        if (row.goneAt === undefined) listed.push(await standing(found, row));
      }
      return listed.sort((a, b) => (a.expiresAt ?? Infinity) - (b.expiresAt ?? Infinity));
    },
    async files(task): Promise<readonly ScratchFile[]> {
      const found = await find(task);
      if (found === undefined) {
        throw new Fault("notFound", `Cannot list the scratch of task ${task}`);
      }
      const held = new Set(await disk.list(found.folder));
      const named = new Map<string, StagedChange>();
      for (const { scratch } of await parts.records(task)) {
        for (const change of Scratch.parse(scratch ?? [])) named.set(change.path, change);
      }
      return [...named.values()].flatMap(({ path, next = "", bytes, colour, label }) =>
        held.has(next)
          ? [{
            ...{ path: path.slice(path.indexOf("/") + 1), file: `${found.folder}/${next}` },
            ...{ bytes, colour, label },
          }]
          : []
      );
    },
    decide: (task, how) =>
      inTurn(async () => {
        const found = await find(task);
        if (found === undefined) {
          throw new Fault("notFound", `Cannot ${how} the scratch of task ${task}: no such task`);
        }
        const files = await disk.list(found.folder);
        if (files.length === 0 || found.row?.goneAt !== undefined) {
          throw new Fault(
            "notFound",
            `Cannot ${how} the scratch of task ${task}: it holds no file`,
          );
        }
        const now = powers.now(), { since = now, promotedAt } = found.row ?? {};
        const row: Row = how === "keep"
          ? { since, kept: true, ...(promotedAt === undefined ? {} : { promotedAt }) }
          : how === "release"
          ? { since: now, kept: false }
          : { since, kept: found.row?.kept ?? false, promotedAt: now };
        await write(found, row, { state: how, by: "operator" });
        return await standing(found, row);
      }),
    sweep,
    close(): void {
      closed = true;
      cancel();
    },
  });
}

/** Answers the control operation `workspaces`. */
export async function answerWorkspaces(
  workspaces: Pick<Workspaces, "list" | "files" | "decide">,
  body: WorkspaceBody,
): Promise<readonly (WorkspaceStanding | ScratchFile)[]> {
  if (body.do === "list") return await workspaces.list();
  if (body.do === "files") return await workspaces.files(body.task);
  return [await workspaces.decide(body.task, body.do)];
}
