/** What a task is granted at its start. DESIGN section 2, step 3. @module */
import type { Scope, TaskRequest } from "../contracts/mod.ts";
import type { Replay } from "./replay.ts";

/** The scopes that a task's first process is granted. */
export function grantedScopes(request: Pick<TaskRequest, "mounts">): readonly Scope[] {
  const scopes: Scope[] = [
    { resource: "model", right: "use", path: "" },
    { resource: "agent", right: "use", path: "" },
    { resource: "scratch", right: "read", path: "" },
    { resource: "scratch", right: "write", path: "" },
    { resource: "outbox", right: "write", path: "" },
  ];
  for (const mount of request.mounts) {
    scopes.push({ resource: "mount", right: "read", path: mount.name });
    if (mount.mode !== "ro") scopes.push({ resource: "mount", right: "write", path: mount.name });
  }
  return scopes;
}

/** What a person took back stays taken back: a crash gives no rights. */
export function isRevoked(replay: Replay | undefined, scope: Scope): boolean {
  return replay?.revoked.some(({ resource, right, path }) =>
    resource === scope.resource && right === scope.right && path === scope.path
  ) ?? false;
}
