/** What a copy service is set up with, and what of its answer holds when it comes. @module */
import {
  type Collected,
  mixColour,
  mixLabel,
  type Prepared,
  type SetupBody,
} from "../../contracts/mod.ts";
import { COPY_PLACES } from "../start/command_line.ts";
import type { CommandRan, CommandRun } from "./run.ts";
import { hostMount } from "../toolhost/host_mount.ts";
import type { TaskFolders } from "../toolhost/toolhosts.ts";

/** What the program changed, without what another tool staged meanwhile. */
export function kept(
  { staged, unstaged, left }: Collected,
  before: ReadonlyMap<string, { readonly next?: string | undefined }>,
  folders: Pick<TaskFolders, "overlay">,
): Pick<CommandRan, "staged" | "unstaged" | "left" | "writtenBytes"> {
  const now = new Map(folders.overlay().map((change) => [change.path, change]));
  const same = (path: string): boolean => {
    const [then, since] = [before.get(path), now.get(path)];
    return (then === undefined) === (since === undefined) && then?.next === since?.next;
  };
  const lost = [...staged.map(({ path }) => path), ...unstaged].filter((path) => !same(path));
  const mine = staged.filter(({ path }) => same(path));
  return {
    staged: mine,
    unstaged: unstaged.filter(same),
    left: [...left, ...lost.map((path) => `${path}: it was staged by another call meanwhile`)],
    writtenBytes: mine.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Colour and label of what a run read, and of its caller. */
export function mixed(
  run: Pick<CommandRun, "colour" | "label">,
  read: Prepared,
): Pick<CommandRan, "colour" | "label" | "withheld"> {
  return {
    colour: mixColour(run.colour, read.colour),
    label: mixLabel(run.label, read.label),
    withheld: read.withheld,
  };
}

/** What a copy service is told of a task. */
export function setup(folders: TaskFolders, mounts: readonly string[]): SetupBody {
  return {
    mounts: folders.mounts.filter(({ name }) => mounts.includes(name)).map((each) =>
      hostMount(each, `${COPY_PLACES.mounts}/${each.name}`)
    ),
    content: COPY_PLACES.content,
    scratch: COPY_PLACES.content,
    never: folders.never,
    overlay: folders.overlay().filter(({ path }) => mounts.includes(path.split("/", 1)[0] ?? "")),
    scratchQuota: 0,
  };
}
