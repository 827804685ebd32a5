/** Keeps a task's leases as long as the task may work. Used by kernel/task/task_host.ts and hosted_task.ts. @module */
import type { LeaseId, Scope } from "../../../contracts/authority/mod.ts";
import type { ProcessRow } from "../../../contracts/task/mod.ts";
import type { LeaseTable } from "./leases.ts";

/** The lease table, a clock and the task's limits. */
export interface TaskTimeParts {
  readonly leases: Pick<LeaseTable, "grantAll" | "renew" | "get">;
  /** Milliseconds since 1970. */
  now(): number;
  /** The task's first process. */
  readonly row: Pick<ProcessRow, "task" | "pid" | "limits">;
  /** An interactive session: each of the person's turns has the whole wall clock. */
  readonly session: boolean;
}

/** The lifetime of one task's leases. */
export interface TaskTime {
  /** Grants the scopes of the task's request. */
  begin(scopes: readonly Scope[]): Promise<void>;
  /** Called when a person's message begins a turn. */
  turn(): Promise<void>;
  /** Called when a person raised the task's wall clock. */
  extended(): Promise<void>;
}

/** Leases of a session hold for two turns, so that few turns renew them. */
export function makeTaskTime({ leases, now, row, session }: TaskTimeParts): TaskTime {
  let began = now();
  let until = 0;
  let held: readonly LeaseId[] = [];
  const end = (): number => began + row.limits.wallClockMs * (session ? 2 : 1);

  const grant = async (scopes: readonly Scope[]): Promise<readonly LeaseId[]> => {
    const { task, pid } = row;
    const granted = await leases.grantAll(
      scopes.map((scope) => ({ task, pid, scope, expiresAt: until, reason: "the task's request" })),
    );
    return granted.map(({ id }) => id);
  };

  /** Renews living leases and grants expired ones anew; revoked ones stay revoked. */
  const hold = async (): Promise<void> => {
    if (end() <= until) return;
    until = end();
    const known = held.flatMap((id) => leases.get(id) ?? [])
      .filter(({ revokedAt }) => revokedAt === undefined);
    const alive = known.filter(({ expiresAt }) => expiresAt > now());
    await leases.renew(alive.map(({ id }) => id), until);
    const again = await grant(
      known.filter((each) => !alive.includes(each)).map(({ scope }) => scope),
    );
    held = [...alive.map(({ id }) => id), ...again];
  };

  return Object.freeze({
    async begin(scopes: readonly Scope[]): Promise<void> {
      began = now();
      until = end();
      held = await grant(scopes);
    },
    async turn(): Promise<void> {
      if (!session) return;
      began = now();
      if (until - began < row.limits.wallClockMs) await hold();
    },
    extended: hold,
  });
}
