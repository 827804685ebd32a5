/**
 * Hard links: a second name of a never-listed file must not make the file readable. A file with one
 * name is safe. A file with more is read only when none of its names can be never-listed.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import {
  type HostCallAnswer,
  type HostMount,
  SECOND_NAMES,
} from "../../contracts/wire/wire_toolhost.ts";
import { text } from "./_args.ts";
import type { FileStat, ReadFiles } from "./files.ts";
import { FsTrouble } from "./files.ts";
import type { Judge, Place } from "./judge.ts";
import type { HostCall, HostState } from "./state.ts";

/** Judges hard links during one call. */
export interface LinkJudge {
  /**
   * Throws Fault `refused` unless the file is certainly no second name of a never-listed file; with
   * detail `{ secondNames: MOUNT }` where that is not surveyed yet.
   */
  check(place: Place, stat: FileStat): void;
}

/** The never-listed files of a mount that have several names. */
export interface SecondNames {
  /** `dev:ino` of each. */
  readonly inodes: ReadonlySet<string>;
  /** True if a never-listed file or a folder could not be read, or the walk was cut. */
  readonly open: boolean;
}

/** Maximum number of entries that one survey of a mount reads. */
const LINK_WALK = 2_000_000;

/** Reads the names in a mount and the particulars of never-listed files; opens no file. */
function survey(files: ReadFiles, judge: Judge, mount: HostMount): SecondNames {
  const inodes = new Set<string>();
  let open = false, left = LINK_WALK;
  const look = <T>(operation: () => T): T | undefined => {
    try {
      return operation();
    } catch (error) {
      if (!(error instanceof FsTrouble)) throw error;
      open = true;
      return undefined;
    }
  };
  const todo: { full: string; parts: readonly string[]; never: boolean }[] = [
    { full: mount.root, parts: [], never: false },
  ];
  for (let folder = todo.pop(); folder !== undefined; folder = todo.pop()) {
    const { full: above, parts: before, never: listed } = folder;
    const entries = look(() => files.list(above)) ?? [];
    left -= entries.length;
    if (left < 0) return { inodes, open: true };
    for (const { name, kind } of entries) {
      if (kind !== "folder" && kind !== "file") continue;
      const parts = [...before, name], full = `${above}/${name}`;
      const never = listed || judge.neverNext(mount.name, parts);
      if (kind === "folder") todo.push({ full, parts, never });
      if (kind === "folder" || !never) continue;
      const stat = look(() => files.stat(full));
      // A file with one name is no second name.
      if (stat !== undefined && stat.links > 1) inodes.add(`${stat.dev}:${stat.ino}`);
    }
  }
  return { inodes, open };
}

/** `host_survey`: surveys the mount `mount`. The kernel asks a separate process for it. */
export function hostSurvey(state: HostState, call: HostCall): HostCallAnswer {
  const name = text(call.args, "mount");
  const mount = state.judge.mounts.find((each) => each.name === name);
  if (mount === undefined) throw new Fault("notFound", `Cannot look at "${name}": no such mount`);
  const { inodes, open } = survey(state.files, state.judge, mount);
  const value = { inodes: [...inodes], open };
  return { content: "", colour: "BLUE", label: "public", sources: [], value };
}

/** The surveys that came with a call, by mount. TRUST: from the kernel. */
export function secondNamesIn(args: JsonObject): ReadonlyMap<string, SecondNames> {
  const sent = (args[SECOND_NAMES] ?? {}) as Readonly<
    Record<string, { readonly inodes: readonly string[]; readonly open: boolean }>
  >;
  return new Map(
    Object.entries(sent).map(([mount, { inodes, open }]) =>
      [mount, { inodes: new Set(inodes), open }] as const
    ),
  );
}

/** Makes a judge. Without `known` the judge surveys a mount at the first file that needs it. */
export function makeLinkJudge(
  files: ReadFiles,
  judge: Judge,
  known?: ReadonlyMap<string, SecondNames>,
): LinkJudge {
  const own = new Map<string, SecondNames>(known);
  return Object.freeze({
    check(place: Place, stat: FileStat): void {
      if (stat.links <= 1) return;
      const { mount, path } = place;
      const cannot = `Cannot read "${path.text}": it has ${stat.links} names (hard links)`;
      let names = own.get(mount.name);
      if (names === undefined && known !== undefined) {
        throw new Fault("refused", `${cannot}, and the others were not looked at`, {
          detail: { [SECOND_NAMES]: mount.name },
        });
      }
      if (names === undefined) own.set(mount.name, names = survey(files, judge, mount));
      if (names.inodes.has(`${stat.dev}:${stat.ino}`)) {
        throw new Fault("refused", `${cannot}, and one of them is on the never-list`);
      }
      if (!names.open) return;
      throw new Fault(
        "refused",
        `${cannot}, and not all of its mount can be looked at for never-listed ones: ` +
          "copy the file, or mount a smaller folder",
      );
    },
  });
}
