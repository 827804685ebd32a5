/** Chooses the wiki for a task, and the wikis whose files its tools must leave alone. @module */
import type { Label } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { TaskMemory } from "../../contracts/task/mod.ts";
import type { Mount } from "../../contracts/tool/mod.ts";
import type { Command } from "../command.ts";
import type { MergedMemory } from "../../config/memory.ts";
import { flag } from "../arguments/parse_arguments.ts";
import { absolute, within } from "../../launch/disk/places.ts";
import { knownWikis, resolveWiki } from "../wiki/place.ts";
import type { Basic } from "../powers.ts";

/** The inputs of the choice. */
export interface MemoryWish {
  readonly memory: MergedMemory;
  /** The folder of the remit.yaml: relative paths in it start there. */
  readonly folder: string;
  readonly mounts: readonly Mount[];
  /** What the task's models may read: the default clearance. */
  readonly clearance: Label;
  /** A story's wiki, in place of the configured one. */
  readonly own?: string | undefined;
}

/** The memory fields of a task's request. */
export interface ChosenMemory {
  readonly memory: TaskMemory | undefined;
  readonly wikis: readonly string[];
}

/**
 * Chooses `--wiki FOLDER`, else the wiki of remit.yaml, else none; builds the wiki's program where it is missing.
 *
 * @throws Fault `notFound` for a folder that is no wiki of this state; `refused` where remit.yaml gives no access
 */
export async function chooseMemory(
  command: Command<Basic | "wikis">,
  wish: MemoryWish,
): Promise<ChosenMemory> {
  const { powers } = command, { memory, mounts } = wish;
  const wikis = knownWikis(command).map(({ folder }) => folder).filter((folder) =>
    mounts.some(({ dir }) => within(dir, folder) || within(folder, dir))
  );
  const named = flag(command.parsed, "wiki") ?? wish.own;
  const path = named ??
    (memory.wiki === undefined ? undefined : absolute(
      { ...powers.environment, cwd: wish.folder, env: powers.environment.env },
      memory.wiki,
    ));
  if (path === undefined) return { memory: undefined, wikis };
  const { access = "propose", user = "write", review = [], clearance = wish.clearance } = memory;
  if (access === "none") {
    if (named === undefined) return { memory: undefined, wikis };
    throw new Fault(
      "refused",
      `Cannot hand over wiki "${path}": remit.yaml says "memory: { access: none }"`,
    );
  }
  const { folder, state } = resolveWiki(command, path);
  const days = memory.retention?.taskLog;
  await powers.wikis.ready();
  return {
    wikis,
    memory: {
      ...{ folder, access, user, clearance },
      stateFolder: powers.disk.real(state) ?? state,
      review: [...review],
      retention: days === undefined ? {} : { taskLog: days },
    },
  };
}
