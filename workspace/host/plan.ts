/** Examines one file of a patch before anything is changed. Used by apply.ts. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { StagedChange } from "../../contracts/tool/workspace.ts";
import { parsePath } from "../path.ts";
import { about } from "./_trouble.ts";
import { digestBytes } from "./content.ts";
import type { FileStat } from "./files.ts";
import type { Place } from "./judge.ts";
import { openJudged, readAll } from "./open.ts";
import { type HostState, linksOf } from "./state.ts";
import { WHOLE_LIMIT } from "./view.ts";

/** The plan for one file. */
export interface PlannedFile {
  readonly change: StagedChange;
  readonly place: Place;
  readonly folder: string;
  /** Temporary file for the new content, named by job and number: a re-run finds leftovers. */
  readonly fresh: string;
  /** Temporary name for a deleted file until the job is complete. */
  readonly aside: string;
  readonly found: FileStat | undefined;
  /** False while a folder above the file is missing. */
  readonly reachable: boolean;
  /** Digest of the current content. */
  readonly digest: string | undefined;
  /** Digest that the patch expects. */
  readonly wanted: string | undefined;
  readonly done: boolean;
  readonly conflict: boolean;
}

/** The reason for a conflict. */
export function whyConflict({ found, change }: PlannedFile): string {
  if (found === undefined) return "it is gone";
  return change.base === undefined ? "another file is there now" : "changed since";
}

/** Examines the target of a change. Throws Fault `refused` where no tool may write. */
export async function planFile(
  state: HostState,
  what: {
    readonly change: StagedChange;
    readonly id: string;
    readonly index: number;
    /** A missing file may be created again, since nothing is overwritten. */
    readonly restores?: boolean | undefined;
  },
): Promise<PlannedFile> {
  const { change } = what;
  const path = parsePath(change.path);
  const place = state.judge.writable(path);
  const folder = place.full.slice(0, place.full.lastIndexOf("/"));
  const stem = `${folder}/.remit-${what.id.slice(0, 16)}-${what.index}`;
  const reachable = checkParents(state, place);
  const found = reachable
    ? about("apply", path.text, () => state.files.stat(place.full))
    : undefined;
  let digest: string | undefined;
  if (found !== undefined) {
    if (found.kind !== "file") {
      throw new Fault(
        "refused",
        `Cannot apply "${path.text}": something else than a file is there`,
      );
    }
    const opened = openJudged({ ...state, links: linksOf(state) }, path);
    try {
      digest = found.bytes > WHOLE_LIMIT
        ? `${found.bytes}:${found.modifiedMs}`
        : await digestBytes(state.sha256, readAll(opened, path.text, WHOLE_LIMIT));
    } finally {
      opened.file.close();
    }
  }
  const done = digest === change.next;
  return {
    change,
    place,
    folder,
    fresh: `${stem}.new`,
    aside: `${stem}.old`,
    found,
    reachable,
    digest,
    wanted: change.base,
    done,
    conflict: !done && digest !== change.base && !(what.restores === true && digest === undefined),
  };
}

/**
 * Checks that every folder between the mount and the file is a folder, not a link, or missing. The
 * check goes top down and skips the mount itself, because a call may hold no lease for the whole
 * mount.
 */
function checkParents(state: HostState, { path, mount }: Place): boolean {
  for (let depth = 1; depth < path.parts.length; depth++) {
    const folder = `${mount.root}/${path.parts.slice(0, depth).join("/")}`;
    const kind = about("apply", path.text, () => state.files.stat(folder))?.kind;
    if (kind === undefined) return false;
    if (kind === "folder") continue;
    const why = kind === "link" ? "links are not written through" : "a file is in its way";
    throw new Fault("refused", `Cannot apply "${path.text}": ${why}`);
  }
  return true;
}

/** Removes temporary files that this job left beside a file, in this run or an earlier one. */
export function sweep(state: HostState, plan: PlannedFile): void {
  for (const path of [plan.fresh, plan.aside]) {
    about("apply", plan.change.path, () => {
      if (state.files.stat(path)?.kind === "file") state.files.remove(path);
    });
  }
}
