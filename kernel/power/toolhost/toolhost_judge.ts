/** Decides a toolhost's file accesses against the calls in flight and their leases. @module */
import { EXPORT_LIST } from "../../../contracts/authority/export_claims.ts";
import type { LeaseId, Scope } from "../../../contracts/authority/mod.ts";
import { beneath, covers } from "../../core/lease/scope.ts";
import type { Judge, Verdict } from "../../core/child/permission_line.ts";
import type { SpawnPowers } from "../../core/start/spawn.ts";
import type { Roots } from "../../core/start/start_line.ts";

/** One scope of a call in flight, with the lease that it was let through under. */
export interface OpenGrant {
  readonly scope: Scope;
  readonly lease: LeaseId;
}

/** What {@link makeToolhostJudge} is handed. */
export interface JudgeParts {
  /** Where the toolhost finds its folders; they are known once it is started. */
  roots(): Roots;
  /** What the calls in flight at this moment may touch. */
  grants(): Iterable<OpenGrant>;
  alive(lease: LeaseId): boolean;
  /** The rule that keeps every tool from a path `MOUNT/relative`; undefined when there is none. */
  never(path: string, right: "read" | "write"): string | undefined;
  /** Resolves links where no namespace does. */
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

/** The list of an export says how far the files beneath it are trusted: whoever reads one is held to it. */
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

/** Where a path leads: itself in a namespace; else its real place, as far as there is one. */
function settled(path: string, links: JudgeParts["links"]): string | undefined {
  if (links === undefined) return path;
  // Beneath a folder that does not exist no link can hide: what is missing is taken as it is named.
  for (let at = path, missing = "";;) {
    const real = links.realPath(at);
    if (real !== undefined) return (real === "/" ? "" : real) + missing || "/";
    // A link that leads nowhere yet would be followed by whoever writes to it.
    if (at === "" || links.isLink(at)) return undefined;
    const cut = at.lastIndexOf("/");
    missing = at.slice(cut) + missing;
    at = at.slice(0, cut) || "/";
  }
}

function refuse(right: string, what: string | null, why: string): Verdict {
  return { allow: false, reason: `Cannot ${right} ${JSON.stringify(what)}: ${why}` };
}
