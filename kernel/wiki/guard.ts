/**
 * File tools, plugins and programs neither read nor write what is a wiki's own. A page that is read as a
 * file would lose the colour and label that the wiki's store has for it; one that is written as a file
 * would be taken for a person's hand.
 * @module
 */
import { Fault, type Resolved, type ToolBinding } from "../../contracts/mod.ts";
import { foldPath } from "../../text/path_list.ts";

/** What of a wiki's folder has colours and labels of its own. */
const OWN = ["raw", "pages", "index.md", "log.md"];
/** What is only read: how pages are made is for the operator to say. */
const READ_ONLY = ["AGENTS.md"];
/** Tools that change the one file that they name. */
const STAGING: ReadonlySet<string> = new Set(["file_edit", "file_write", "file_delete"]);

/** What is guarded: the task's mounts, and the folders of wikis, absolute and real. */
export interface GuardedWikis {
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
