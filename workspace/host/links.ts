/**
 * Hard links: a second name of a never-listed file must not make it readable. A file with one
 * name is fine. One with more is read only when it is sure that none of them is never-listed.
 * @module
 */
import { Fault } from "../../contracts/fault.ts";
import type { HostMount } from "../../contracts/wire_toolhost.ts";
import type { FileStat, ReadFiles } from "./files.ts";
import { FsTrouble } from "./files.ts";
import type { Judge, Place } from "./judge.ts";

/** Judges hard links for the time of one call. */
export interface LinkJudge {
  /** Throws Fault `refused` unless the file is surely no other name of a never-listed one. */
  check(place: Place, stat: FileStat): void;
}

/** Most entries looked at to know a mount's never-listed files. */
const LINK_WALK = 100_000;

interface Known {
  readonly inodes: ReadonlySet<string>;
  /** Some never-listed file could not be looked at, or the walk was cut. */
  readonly open: boolean;
}

/** Makes a judge; it walks a mount once, at the first file that needs it. */
export function makeLinkJudge(files: ReadFiles, judge: Judge): LinkJudge {
  const known = new Map<string, Known>();

  const survey = (mount: HostMount): Known => {
    const inodes = new Set<string>();
    let open = false, left = LINK_WALK;
    const note = (full: string): void => {
      try {
        const stat = files.stat(full);
        if (stat !== undefined) inodes.add(`${stat.dev}:${stat.ino}`);
      } catch (error) {
        if (!(error instanceof FsTrouble)) throw error;
        open = true;
      }
    };
    const todo: { full: string; parts: readonly string[]; never: boolean }[] = [
      { full: mount.root, parts: [], never: false },
    ];
    for (let folder = todo.pop(); folder !== undefined; folder = todo.pop()) {
      let entries;
      try {
        entries = files.list(folder.full);
      } catch (error) {
        if (!(error instanceof FsTrouble)) throw error;
        open = true;
        continue;
      }
      left -= entries.length;
      if (left < 0) return { inodes, open: true };
      for (const entry of entries) {
        const parts = [...folder.parts, entry.name], full = `${folder.full}/${entry.name}`;
        const never = folder.never || judge.neverNext(mount.name, parts);
        if (entry.kind === "folder") todo.push({ full, parts, never });
        else if (entry.kind === "file" && never) note(full);
      }
    }
    return { inodes, open };
  };

  return Object.freeze({
    check(place: Place, stat: FileStat): void {
      if (stat.links <= 1) return;
      let mount = known.get(place.mount.name);
      if (mount === undefined) known.set(place.mount.name, mount = survey(place.mount));
      if (mount.inodes.has(`${stat.dev}:${stat.ino}`)) {
        throw new Fault(
          "refused",
          `Cannot read "${place.path.text}": it is a second name of a file on the never-list`,
        );
      }
      if (!mount.open) return;
      throw new Fault(
        "refused",
        `Cannot read "${place.path.text}": it has ${stat.links} hard links, and never-listed ` +
          `files in its mount cannot be compared with it`,
      );
    },
  });
}
