/** One file of a patch, looked at before anything is changed. @module */
import { Fault } from "../../contracts/fault.ts";
import type { StagedChange } from "../../contracts/workspace.ts";
import { parsePath } from "../path.ts";
import { about } from "./_trouble.ts";
import { digestBytes } from "./content.ts";
import type { FileStat } from "./files.ts";
import type { Place } from "./judge.ts";
import { openJudged, readAll } from "./open.ts";
import { type HostState, linksOf } from "./state.ts";
import { WHOLE_LIMIT } from "./view.ts";

/** What is to be done about one file. */
export interface PlannedFile {
  readonly change: StagedChange;
  readonly place: Place;
  readonly folder: string;
  /** The new content waits here. Named by job and number, so that a re-run finds leftovers. */
  readonly fresh: string;
  /** A deleted file waits here until all is done. */
  readonly aside: string;
  readonly found: FileStat | undefined;
  /** Digest of what is there. */
  readonly digest: string | undefined;
  /** Digest that should be there. */
  readonly wanted: string | undefined;
  readonly done: boolean;
  readonly conflict: boolean;
}

/** Looks at the target of a change. Throws Fault `refused` where no tool may write. */
export async function planFile(
  state: HostState,
  what: { readonly change: StagedChange; readonly id: string; readonly index: number },
): Promise<PlannedFile> {
  const { change } = what;
  const path = parsePath(change.path);
  const place = state.judge.writable(path);
  const folder = place.full.slice(0, place.full.lastIndexOf("/"));
  const stem = `${folder}/.remit-${what.id.slice(0, 16)}-${what.index}`;
  const found = about("apply", path.text, () => state.files.stat(place.full));
  checkParents(state, place);
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
    digest,
    wanted: change.base,
    done,
    conflict: !done && digest !== change.base,
  };
}

/** The nearest folder above that exists must be reached without a link. */
function checkParents(state: HostState, place: Place): void {
  const { root } = place.mount;
  let folder = place.full;
  while (folder !== root) {
    folder = folder.slice(0, folder.lastIndexOf("/"));
    const at = folder;
    const real = about("apply", place.path.text, () => state.files.real(at));
    if (real === folder) return;
    const linked = real !== undefined ||
      about("apply", place.path.text, () => state.files.stat(at)) !== undefined;
    if (!linked) continue;
    throw new Fault("refused", `Cannot apply "${place.path.text}": links are not written through`);
  }
}

/** Takes away what this job left beside a file in an earlier run, or in this one. */
export function sweep(state: HostState, plan: PlannedFile): void {
  for (const path of [plan.fresh, plan.aside]) {
    about("apply", plan.change.path, () => {
      if (state.files.stat(path)?.kind === "file") state.files.remove(path);
    });
  }
}
