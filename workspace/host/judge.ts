/**
 * Decides which path may be touched, and how: mounts, modes, the never-list, Remit's own files.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import type { HostMount } from "../../contracts/wire/wire_toolhost.ts";
import { makePathList } from "../../text/path_list.ts";
import { makeGlobs } from "../glob.ts";
import { checkWritableName, type NamedPath, parsePath } from "../path.ts";

/** A path that may be looked up. */
export interface Place {
  readonly path: NamedPath;
  readonly mount: HostMount;
  /** The path in this process's view of the file system. */
  readonly full: string;
}

/** Decisions about paths. All throw Fault `refused`, `notFound` or `invalidArguments`. */
export interface Judge {
  readonly mounts: readonly HostMount[];
  readable(path: NamedPath): Place;
  writable(path: NamedPath): Place;
  /** True for a path that no tool reads, writes or lists. */
  never(mount: string, parts: readonly string[]): boolean;
  /** Like `never`, for a path whose folder was judged before. */
  neverNext(mount: string, parts: readonly string[]): boolean;
  /** The mount path of a real path; undefined outside all mounts. */
  nameOf(full: string): NamedPath | undefined;
}

/** Names that no tool writes, in any mount, because they decide over later runs. */
const PROTECTED: readonly string[] = [
  "remit.yaml",
  "remit.yml",
  "remit.lock",
  "answers.json",
  ".git",
  "git~1",
];

/** Protected at the top of a mount only: elsewhere the name is harmless. */
const PROTECTED_AT_TOP: readonly string[] = [".remit"];

/** Makes the judge of one task's mounts. */
export function makeJudge(
  setup: { readonly mounts: readonly HostMount[]; readonly never: readonly string[] },
): Judge {
  const mounts = new Map(setup.mounts.map((mount) => [mount.name, mount]));
  const listed = makePathList(setup.never.map((glob) => ({ glob, at: "never" })));
  const kept = makeGlobs(PROTECTED, { anyCase: true });
  const atTop = makeGlobs(PROTECTED_AT_TOP, { anyCase: true });

  const never = (mount: string, parts: readonly string[]): boolean =>
    parts.length > 0 && listed.find([mount, ...parts].join("/")) !== undefined;

  const neverNext = (mount: string, parts: readonly string[]): boolean =>
    listed.findNext([mount, ...parts].join("/")) !== undefined;

  const place = (path: NamedPath, verb: string): Place => {
    const mount = mounts.get(path.mount);
    if (mount === undefined) {
      const names = [...mounts.keys()].join(", ") || "none";
      throw new Fault(
        "notFound",
        `Cannot ${verb} "${path.text}": no mount "${path.mount}" (there are: ${names})`,
      );
    }
    if (never(mount.name, path.parts)) {
      throw new Fault("refused", `Cannot ${verb} "${path.text}": it is on the never-list`);
    }
    return { path, mount, full: path.rel === "" ? mount.root : `${mount.root}/${path.rel}` };
  };

  const writable = (path: NamedPath): Place => {
    checkWritableName(path);
    const found = place(path, "write");
    if (found.mount.mode === "ro") {
      throw new Fault(
        "refused",
        `Cannot write "${path.text}": mount "${path.mount}" is read-only ` +
          `(ask the operator for --mount ${path.mount}=DIR:stage)`,
      );
    }
    if (kept.covers(path.parts) || atTop.covers(path.parts.slice(0, 1))) {
      throw new Fault(
        "refused",
        `Cannot write "${path.text}": no tool writes Remit's or git's own`,
      );
    }
    return found;
  };

  const nameOf = (full: string): NamedPath | undefined => {
    for (const mount of mounts.values()) {
      if (full === mount.root) return parsePath(mount.name);
      if (!full.startsWith(`${mount.root}/`)) continue;
      return parsePath(`${mount.name}/${full.slice(mount.root.length + 1)}`);
    }
    return undefined;
  };

  return Object.freeze({
    mounts: setup.mounts,
    readable: (path: NamedPath) => place(path, "read"),
    writable,
    never,
    neverNext,
    nameOf,
  });
}
