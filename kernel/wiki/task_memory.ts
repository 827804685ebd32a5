/**
 * What of a wiki a task holds: as its request says, narrowed by its agent and by who asked. Children
 * hold no more, and nobody's notes about the person.
 * @module
 */
import {
  cleared,
  type Label,
  type Profile,
  type Scope,
  type TaskMemory,
  type TaskRequest,
} from "../../contracts/mod.ts";

/** The most confidential that a profile's tasks see, whatever a request says. */
const MOST: Readonly<Record<Profile, Label>> = {
  operator: "secret",
  guest: "internal",
  anonymous: "public",
};
const ACCESS = ["read", "propose"] as const;
const USER = ["none", "read", "write"] as const;

/** What a request says of memory. */
export type MemoryRequest = Pick<TaskRequest, "memory" | "agent" | "profile">;

/** The memory of a task; undefined when it has none. */
export function memoryOf({ memory, agent, profile }: MemoryRequest): TaskMemory | undefined {
  const narrowed = agent?.memory ?? {};
  if (memory === undefined || narrowed.wiki === "none") return undefined;
  const clearances = [memory.clearance, narrowed.clearance ?? "secret", MOST[profile]] as const;
  return {
    ...memory,
    access: lower(ACCESS, memory.access, narrowed.wiki),
    // What an agent knows of the operator is not for guests.
    user: profile === "operator" ? lower(USER, memory.user, narrowed.user) : "none",
    clearance: clearances.reduce((a, b) => cleared(a, b) ? a : b),
  };
}

/** Whose notes about the person a task reads and writes. */
export function memoryAgent({ agent }: Pick<TaskRequest, "agent">): string {
  return agent?.name ?? "agent";
}

/** The scopes of a task's memory. Paths: `wiki`, `log`, `user/AGENT`. */
export function memoryScopes(request: MemoryRequest): readonly Scope[] {
  const memory = memoryOf(request);
  if (memory === undefined) return [];
  const { access, user } = memory, own = `user/${memoryAgent(request)}`;
  const scope = (right: Scope["right"], path: string): Scope => ({
    resource: "memory",
    right,
    path,
  });
  return [
    scope("read", "wiki"),
    scope("read", "log"),
    ...(access === "propose" ? [scope("write", "wiki")] : []),
    ...(access === "propose" || user === "write" ? [scope("write", "log")] : []),
    ...(user === "none" ? [] : [scope("read", own)]),
    ...(user === "write" ? [scope("write", own)] : []),
  ];
}

/** Whether a child holds what its parent holds of a scope: notes about the person are the agent's alone. */
export function isInherited({ resource, path }: Scope): boolean {
  return resource !== "memory" || path !== "user" && !path.startsWith("user/");
}

function lower<T extends string>(order: readonly T[], have: T, wish: T | undefined): T {
  return wish !== undefined && order.indexOf(wish) < order.indexOf(have) ? wish : have;
}
