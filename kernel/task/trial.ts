/**
 * `remit can`: the gate's decision and rule for a call, without a process or an effect. Wired in
 * kernel/main_work.ts.
 * @module
 */
import { DEFAULT_LIMITS } from "../../contracts/task/budget.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { CallId, LeaseId, SessionId, TaskId } from "../../contracts/authority/ids.ts";
import type { Decision, Gate, Leases } from "../../contracts/authority/gate.ts";
import type { Lease, Scope } from "../../contracts/authority/lease.ts";
import type { ImportedServer } from "../../contracts/exchange/mcp.ts";
import type { ToolBinding } from "../../contracts/task/power.ts";
import type { Powers, ProcessRow } from "../../contracts/task/process.ts";
import type { Profile, TaskMemory } from "../../contracts/task/task.ts";
import type { Mount } from "../../contracts/tool/workspace.ts";
import { covers } from "../core/lease/scope.ts";
import { makeProcessTable, type ProcessTable } from "../core/process/table.ts";
import { grantedScopes } from "./granted_scopes.ts";
import type { ToolRequest } from "./task_tools.ts";

/** The kernel's gate and tools, for trials. */
export interface TrialParts {
  readonly powers: Powers;
  /** The kernel's gate over another process table, lease table and set of tools. */
  gateOver(parts: {
    readonly processes: ProcessTable;
    readonly leases: Leases;
    tools(process: ProcessRow): ReadonlyMap<string, ToolBinding>;
  }): Gate;
  tools(task: TaskId, request: ToolRequest): ReadonlyMap<string, ToolBinding>;
  readonly granting: Parameters<typeof grantedScopes>[1];
}

/** A question to `remit can`. */
export interface TrialQuery {
  readonly agent: string;
  readonly tool: string;
  /** JSON text. */
  readonly arguments: string;
  readonly profile: Profile;
  readonly mounts?: readonly Mount[] | undefined;
  readonly memory?: TaskMemory | undefined;
  readonly mcp?: readonly ImportedServer[] | undefined;
}

const TASK = TaskId.parse("t000000000000");

/** Makes the trial, which judges a fresh BLUE process at the operator's terminal. */
export function makeTrial(parts: TrialParts): (query: TrialQuery) => Promise<Decision> {
  return (query) => {
    const mounts = query.mounts ?? [];
    const processes = makeProcessTable(parts.powers);
    const row = processes.add({
      task: TASK,
      session: SessionId.parse("s000000000000"),
      conversation: TASK,
      principal: "operator",
      profile: query.profile,
      spec: query.agent,
      mounts,
      limits: DEFAULT_LIMITS,
      depth: 0,
      onQuestion: "queue",
      phase: "work",
      colour: "BLUE",
      label: "public",
    });
    const { profile, memory, mcp = [] } = query;
    const request = {
      ...{ mounts: [...mounts], profile, mcp: [...mcp] },
      ...(memory === undefined ? {} : { memory }),
    };
    const tools = parts.tools(TASK, request);
    const gate = parts.gateOver({
      processes,
      leases: staticLeases(row, grantedScopes(request, parts.granting)),
      tools: () => tools,
    });
    const snapshot = gate.advertise(row.pid);
    const call = { id: CallId.parse("can"), name: query.tool, arguments: query.arguments };
    return Promise.resolve(gate.decide(row.pid, call, snapshot.id));
  };
}

/** Leases that are always alive and cannot change. */
function staticLeases(row: ProcessRow, scopes: readonly Scope[]): Leases {
  const leases = scopes.map((scope, i): Lease => ({
    id: LeaseId.parse(`l${String(i).padStart(12, "0")}`),
    task: row.task,
    pid: row.pid,
    scope,
    grantedAt: 0,
    expiresAt: Number.MAX_SAFE_INTEGER,
    reason: "trial",
  }));
  const fixed = (): never => {
    throw new Fault("unavailable", "Cannot change leases: this is a trial");
  };
  return Object.freeze({
    grant: fixed,
    derive: fixed,
    revoke: fixed,
    alive: (id: LeaseId) => leases.some((lease) => lease.id === id),
    get: (id: LeaseId) => leases.find((lease) => lease.id === id),
    covering: (_pid: unknown, scope: Scope) => leases.find((lease) => covers(lease.scope, scope)),
    dead: () => undefined,
    list: () => leases,
    onEnd: () => () => undefined,
  });
}
