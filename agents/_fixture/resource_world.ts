/** A registry of shared resources over a log in memory, with inboxes and a clock turned by hand. */
import { Pid, type TaskId } from "../../contracts/authority/mod.ts";
import type { InboxEntry } from "../../contracts/exchange/mod.ts";
import {
  type Claimant,
  type ResourceChange,
  ResourceRef,
  ResourceScope,
} from "../../contracts/task/mod.ts";
import { isFinal } from "../task/fold.ts";
import { makeNotices } from "../resource/notices.ts";
import { openResources, type Resources } from "../resource/registry.ts";
import { type InboxWorld, inboxWorld } from "./inbox_world.ts";

/** The repository that the workers share. */
export const SITE = ResourceRef.parse("gitRepository:site");
/** The list that the workers share. */
export const CHORES = ResourceRef.parse("taskList:chores");

/** A registry with its surroundings. */
export interface ResourceWorld extends InboxWorld {
  resources: Resources;
  readonly notes: string[];
  /** The registry of a kernel that starts again, over the same log. */
  restart(): Promise<Resources>;
  /** Resolves when all notices are in the inboxes. */
  told(): Promise<readonly InboxEntry[]>;
  /** Changes in the log, in order. */
  changes(): readonly ResourceChange[];
}

/** Makes a resource world. */
export async function resourceWorld(keeps = 256): Promise<ResourceWorld> {
  const base = await inboxWorld();
  const notes: string[] = [];
  const note = (line: string): void => void notes.push(line);
  const over = (task: TaskId): boolean => {
    const known = base.tasks.get(task);
    return known !== undefined && isFinal(known.status);
  };
  const open = async (): Promise<Resources> => {
    const opened = await openResources({
      ...{ store: base.log.store, log: base.log, powers: base.powers, note, isOver: over, keeps },
      hasLog: (task) => base.tasks.get(task)?.purged === false,
      ...makeNotices({
        ...{ inbox: base.inbox, note },
        listens: (task) => base.tasks.has(task) && !over(task),
      }),
    });
    await opened.recover();
    return opened;
  };
  const world: ResourceWorld = {
    ...{ ...base, notes },
    resources: await open(),
    async restart(): Promise<Resources> {
      world.resources.close();
      // What the earlier kernel had begun is in the log, or never will be.
      await world.told();
      world.resources = await open();
      return world.resources;
    },
    async told(): Promise<readonly InboxEntry[]> {
      // A message passes a few promises: each has run after these turns.
      for (let n = 0; n < 50; n++) await Promise.resolve();
      return base.inbox.list({});
    },
    changes: () =>
      base.log.events.filter(({ event }) => event.kind === "resource").map(({ event }) =>
        event.private?.["change"] as unknown as ResourceChange
      ),
  };
  return world;
}

/** A worker: the first process of a task, or a child of it. */
export function worker(
  task: TaskId,
  more: Partial<Claimant> & { readonly child?: number } = {},
): Claimant {
  const { child, ...rest } = more;
  return {
    owner: { task, agent: "coder", ...(child === undefined ? {} : { child: Pid.parse(child) }) },
    ...{ phase: "work", colour: "BLUE", label: "internal" },
    ...rest,
  };
}

/** A part of a resource. */
export function part(path: string): ResourceScope {
  return ResourceScope.parse(path);
}
