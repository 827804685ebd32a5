/** When one scope lies within another. @module */
import { basename, dirname } from "node:path";
import { mixLabel } from "../../../contracts/authority/colour.ts";
import { MountName } from "../../../contracts/authority/ids.ts";
import type { Label, Scope } from "../../../contracts/authority/mod.ts";
import type { ImportedServer } from "../../../contracts/exchange/mod.ts";
import type { TaskRequest } from "../../../contracts/task/mod.ts";
import type { Mount } from "../../../contracts/tool/mod.ts";

/** Tells whether whoever holds `outer` holds `inner`: same resource and right, a prefix of whole parts. */
export function covers(outer: Scope, inner: Scope): boolean {
  return outer.resource === inner.resource && outer.right === inner.right &&
    beneath(outer.path, inner.path);
}

/** Tells whether `path` is `root` or lies beneath it. The empty root covers all. */
export function beneath(root: string, path: string): boolean {
  // INVARIANT: a path with parts that name other places is beneath nothing (test: "… dots …").
  if (/(?:^|\/)\.{1,2}(?:\/|$)/.test(path)) return false;
  if (root === "" || path === root) return true;
  return path.startsWith(root) && (root.endsWith("/") || path[root.length] === "/");
}

/** A scope in words: `read mount desk/notes`. */
export function scopeText({ resource, right, path }: Scope): string {
  return `${right} ${resource}${path === "" ? "" : ` ${JSON.stringify(path)}`}`;
}

// Where what an imported server changes is staged: in the mount that the task has of that folder, or in one of its own,
// which no tool of the task can name. docs/decision/0034.

/** What of a request decides it. */
type GrantRequest = Pick<TaskRequest, "mounts" | "mcp">;

/** A path that a server may change, as a path of the task. */
export interface GrantPlace {
  /** As it was granted: absolute. */
  readonly grant: string;
  readonly mount: MountName;
  /** `MOUNT`, or `MOUNT/…`. */
  readonly path: string;
}

/** The mounts that a task has for its servers alone. */
export interface GrantMounts {
  readonly mounts: readonly Mount[];
  /** What of each of these mounts, and of no other, a patch may change: `MOUNT` or `MOUNT/…`. */
  readonly paths: readonly string[];
  /** Where a server's write grants lie. One that lies in a mount which is only read is left out: it is only read. */
  of(server: ImportedServer): readonly GrantPlace[];
}

/** Computes them; the same for the same request. */
export function grantMounts({ mounts, mcp = [] }: GrantRequest): GrantMounts {
  const byLength = (a: { readonly dir: string }, b: { readonly dir: string }): number =>
    b.dir.length - a.dir.length;
  /** The innermost mount around a path says what may be done there. */
  const mountHolding = (path: string): Mount | undefined =>
    mounts.filter(({ dir }) => beneath(dir, path)).sort(byLength)[0];
  const wanted = new Set(
    mcp.flatMap((server) =>
      server.grants.write.filter((path) => mountHolding(path) === undefined).map((path) =>
        server.files?.includes(path) === true ? dirname(path) : path
      )
    ),
  );
  // One folder, one mount: what two servers may change is staged in one place.
  const outer = [...wanted].sort().filter((dir) =>
    ![...wanted].some((other) => other !== dir && beneath(other, dir))
  );
  const taken = new Set<string>(["scratch", ...mounts.map(({ name }) => name)]);
  const own = outer.map((dir): Mount => {
    const name = freeName(basename(dir), taken);
    taken.add(name);
    const label = grantedLabel({
      ...{ grants: { read: [], write: [dir], net: [] }, secretEnv: [], secretHeaders: [] },
    }, mounts);
    return { name, dir, mode: "stage", colour: "YELLOW", label, marks: [], apart: true };
  });
  const place = (grant: string): GrantPlace | undefined => {
    const mount = mountHolding(grant) ?? own.find(({ dir }) => beneath(dir, grant));
    if (mount === undefined || mount.mode === "ro") return undefined;
    const rest = grant.slice(mount.dir === "/" ? 0 : mount.dir.length);
    return { grant, mount: mount.name, path: `${mount.name}${rest}` };
  };
  const placesOf = ({ grants }: ImportedServer): readonly GrantPlace[] =>
    grants.write.flatMap((grant) => place(grant) ?? []);
  const names = new Set<string>(own.map(({ name }) => name));
  return Object.freeze<GrantMounts>({
    mounts: own,
    paths: [
      ...new Set(
        mcp.flatMap(placesOf).filter(({ mount }) => names.has(mount)).map(({ path }) => path),
      ),
    ],
    of: placesOf,
  });
}

/**
 * The label of what a server was granted: of the mounts that its files lie in or hold, at least `internal` where it has
 * files or secrets at all, `public` otherwise.
 */
export function grantedLabel(
  { grants, secretEnv, secretHeaders }: Pick<
    ImportedServer,
    "grants" | "secretEnv" | "secretHeaders"
  >,
  mounts: readonly Pick<Mount, "dir" | "label" | "marks">[],
): Label {
  const paths = [...grants.read, ...grants.write];
  const own: Label = paths.length + secretEnv.length + secretHeaders.length > 0
    ? "internal"
    : "public";
  return mounts.filter(({ dir }) => paths.some((path) => beneath(dir, path) || beneath(path, dir)))
    .flatMap(({ label, marks }) => [label, ...marks.map((mark) => mark.label ?? label)])
    .reduce(mixLabel, own);
}

/** A mount's name that says which folder it is, as far as such names can. */
function freeName(folder: string, taken: ReadonlySet<string>): MountName {
  const plain = folder.toLowerCase().replace(/[^a-z0-9_-]+/g, "-").replace(/^[^a-z]+/, "")
    .slice(0, 28) || "granted";
  for (let n = 1;; n++) {
    const name = n === 1 ? plain : `${plain}-${n}`;
    if (!taken.has(name)) return MountName.parse(name);
  }
}
