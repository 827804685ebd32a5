/** Why a run does not begin, or does not go on. @module */
import { Fault, type Lease, type Leases } from "../../contracts/mod.ts";
import type { CommandRun } from "./run.ts";

/** What a refusal names of a run. */
type Named = Pick<CommandRun, "command">;
/** What leases are looked up for. */
type Leased = Pick<CommandRun, "command" | "pid" | "scopes">;

/** The call was cancelled, or its task ended. */
export function cancelled({ command }: Named): Fault {
  return new Fault("cancelled", `Cannot finish ${command.name}: cancelled`);
}

/** Nothing walls a program in on this machine. */
export function unavailable({ command }: Named, why: string): Fault {
  return new Fault("unavailable", `Cannot run ${command.name} on this machine: ${why}`);
}

/** The leases that cover a run. Throws the fault of the first scope without one. */
export function held(leases: Pick<Leases, "covering" | "dead">, run: Leased): readonly Lease[] {
  return run.scopes.map((scope) => {
    const lease = leases.covering(run.pid, scope);
    if (lease !== undefined) return lease;
    const dead = leases.dead(run.pid, scope);
    const what = `Cannot run ${run.command.name} on ${JSON.stringify(scope.path)}`;
    if (dead === "revoked") throw new Fault("leaseRevoked", `${what}: its lease was taken back`);
    if (dead === "expired") throw new Fault("leaseExpired", `${what}: its lease has expired`);
    throw new Fault("refused", `${what}: no lease of this process covers it`);
  });
}
