/**
 * Decides a toolhost's file accesses by the running calls and their leases. Used by toolhosts.ts
 * and toolhost.ts.
 * @module
 */
import { refuse } from "../../core/child/permission_line.ts";
import { EXPORT_LIST } from "../../../contracts/authority/export_claims.ts";
import type { LeaseId, Scope } from "../../../contracts/authority/mod.ts";
import { beneath, covers } from "../../core/lease/scope.ts";
import type { Judge, Verdict } from "../../core/child/permission_line.ts";
import type { SpawnPowers } from "../../core/start/spawn.ts";
import type { Roots } from "../../core/start/start_line.ts";

/** One scope of a running call, with its lease. */
export interface OpenGrant {
  readonly scope: Scope;
  readonly lease: LeaseId;
}

/** The folders and the running calls of a toolhost. */
export interface JudgeParts {
  /** The toolhost's folders, known once it has started. */
  roots(): Roots;
  /** The grants of the running calls. */
  grants(): Iterable<OpenGrant>;
  alive(lease: LeaseId): boolean;
  /** The never-list's rule for a path `MOUNT/relative`; undefined where there is none. */
  never(path: string, right: "read" | "write"): string | undefined;
  /** Resolves links, where no namespace does. */
  readonly links?: Pick<SpawnPowers, "realPath" | "isLink">;
}

const ALLOW: Verdict = Object.freeze({ allow: true });

/** Makes the judge of one toolhost. */
export function makeToolhostJudge(parts: JudgeParts): Judge {
  return (permission, value) => {
    const roots = parts.roots();
    const right = permission === "write" ? "write" : "read";
    const place = value === null ? undefined : settled(value, parts.links);
    if (place === undefined) return refuse(right, value, "it leads nowhere");
    if (beneath(roots.content, place) || beneath(roots.scratch, place)) return ALLOW;
    const path = nameOf(place, roots);
    if (path === undefined) return refuse(right, value, "it lies in no mount");
    const rule = parts.never(path, right);
    if (rule !== undefined) return refuse(right, path, `it is on the never-list (${rule})`);
    return leased(parts, { resource: "mount", right, path });
  };
}

function leased(parts: JudgeParts, wanted: Scope): Verdict {
  let dead = false;
  for (const { scope, lease } of parts.grants()) {
    if (!covers(scope, wanted) && !isListAbove(scope, wanted)) continue;
    if (parts.alive(lease)) return ALLOW;
    dead = true;
  }
  const why = dead
    ? "its lease was taken back or has expired"
    : "no call under way has a lease for it";
  return refuse(wanted.right, wanted.path, why);
}

/** Tells whether a path is the list of an export above a granted file: the list says how far the file is trusted, so it must be readable. */
function isListAbove(scope: Scope, { resource, right, path }: Scope): boolean {
  const end = `/${EXPORT_LIST}`;
  return scope.resource === resource && scope.right === right && right === "read" &&
    path.endsWith(end) && beneath(path.slice(0, -end.length), scope.path);
}

/** `MOUNT/relative` for a path within a mount. */
function nameOf(place: string, { mounts }: Roots): string | undefined {
  for (const { name, root } of mounts) {
    if (beneath(root, place)) return name + place.slice(root.length);
  }
  return undefined;
}

/** Resolves a path: in a namespace the path itself, else its real path as far as it exists. Undefined for a dangling link. */
function settled(path: string, links: JudgeParts["links"]): string | undefined {
  if (links === undefined) return path;
  // Beneath a missing folder there can be no link, so the missing part is taken literally.
  for (let at = path, missing = "";;) {
    const real = links.realPath(at);
    if (real !== undefined) return (real === "/" ? "" : real) + missing || "/";
    // A write would follow a dangling link.
    if (at === "" || links.isLink(at)) return undefined;
    const cut = at.lastIndexOf("/");
    missing = at.slice(cut) + missing;
    at = at.slice(0, cut) || "/";
  }
}
