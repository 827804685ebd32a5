/** The rights and the row of a task's first process, and what a person revoked of them. Used by task_host.ts and trial.ts. @module */
import { noUsage } from "../../contracts/task/budget.ts";
import { mcpScopes } from "../../contracts/exchange/mcp.ts";
import type { Scope } from "../../contracts/authority/mod.ts";
import type { PolicyRule } from "../../contracts/policy/mod.ts";
import type { AgentTask, TaskRequest } from "../../contracts/task/mod.ts";
import { grantMounts } from "../core/lease/scope.ts";
import type { Replay } from "./replay.ts";
import type { NewProcess } from "../core/process/table.ts";
import { type MemoryRequest, memoryScopes } from "../power/wiki/wiki_tools.ts";

/** The parts of a rule that decide whether it opens the network. */
type NetRule = Pick<PolicyRule, "mode" | "destination" | "tool" | "category" | "effect">;

/**
 * The scopes that a task's first process is granted. The network is leased as far as rules open it
 * for the tools in `network`: an origin that a rule names exactly as its own scope, since the
 * operator means that very machine, and anything wider as one scope for the whole network.
 */
export function grantedScopes(
  request:
    & Pick<TaskRequest, "mounts" | "mcp">
    & MemoryRequest
    & Partial<Pick<TaskRequest, "ingress">>,
  policy: { readonly rules: readonly NetRule[]; readonly network: ReadonlySet<string> },
): readonly Scope[] {
  // An empty path is the whole resource.
  const scopes: Scope[] = [
    { resource: "model", right: "use", path: "" },
    { resource: "agent", right: "use", path: "" },
    { resource: "plugin", right: "use", path: "" },
    { resource: "command", right: "use", path: "" },
    ...netScopes(policy),
    { resource: "scratch", right: "read", path: "" },
    { resource: "scratch", right: "write", path: "" },
    { resource: "outbox", right: "write", path: "" },
  ];
  scopes.push(...memoryScopes(request), ...(request.mcp ?? []).flatMap(mcpScopes));
  // Incoming files are read under a lease of their own, which can be revoked alone.
  if ((request.mcp ?? []).length > 0 || peerOf(request.ingress) !== undefined) {
    scopes.push({ resource: "inbox", right: "read", path: "" });
  }
  // Servers' changes are staged in, and applied from, mounts that no tool can name.
  for (const path of grantMounts(request).paths) {
    for (const right of ["read", "write"] as const) scopes.push({ resource: "mount", right, path });
  }
  const peer = peerOf(request.ingress);
  if (peer !== undefined) scopes.push({ resource: "peer", right: "use", path: peer });
  for (const mount of request.mounts) {
    scopes.push({ resource: "mount", right: "read", path: mount.name });
    if (mount.mode !== "ro") scopes.push({ resource: "mount", right: "write", path: mount.name });
  }
  return scopes;
}

/** The peer whose message the task handles. */
function peerOf(ingress: TaskRequest["ingress"] | undefined): string | undefined {
  const { channel, principal = "" } = ingress ?? {};
  return channel === "a2a" ? /^peer:([a-z][a-z0-9]{0,23})$/.exec(principal)?.[1] : undefined;
}

/** An origin without a wildcard. */
const ORIGIN = /^https?:\/\/[^*?/\s]+$/;

function netScopes(
  { rules, network }: { readonly rules: readonly NetRule[]; readonly network: ReadonlySet<string> },
): readonly Scope[] {
  const paths = new Set<string>();
  for (const rule of rules) {
    if (!opensNetwork(rule, network)) continue;
    const named = [rule.destination ?? "*"].flat();
    for (const each of named) paths.add(ORIGIN.test(each) ? each : "");
  }
  // Named origins first, so that the most exact lease for a request is found first.
  return [...paths].sort().reverse().map((path) => ({ resource: "net", right: "use", path }));
}

function opensNetwork(rule: NetRule, network: ReadonlySet<string>): boolean {
  if (rule.mode === "forbidden" || rule.mode === "suppress") return false;
  const { tool, category, effect, destination } = rule;
  if ([destination ?? ""].flat().every((one) => /^(?:memory|mcp):/.test(one))) return false;
  // Imported tools have leases of their own, so a rule for them opens the network to no other tool.
  if (tool !== undefined && [tool].flat().every((one) => one.startsWith("mcp_"))) return false;
  const fits = (of: string | readonly string[] | undefined, test: (one: string) => boolean) =>
    of === undefined || [of].flat().some(test);
  return (tool ?? category ?? effect ?? destination) !== undefined &&
    fits(tool, (one) => one.includes("*") || network.has(one)) &&
    fits(category, (one) => one === "network" || one.includes("*")) &&
    fits(effect, (one) => one.startsWith("outbound"));
}

/** Tells whether a person revoked a scope under an earlier kernel: a crash gives no right back. */
export function isRevoked(replay: Replay | undefined, scope: Scope): boolean {
  return replay?.revoked.some(({ resource, right, path }) =>
    resource === scope.resource && right === scope.right && path === scope.path
  ) ?? false;
}

/** The task's first process. Usage, colour, label and sources of an earlier kernel stay. */
export function newRoot(
  task: AgentTask,
  request: TaskRequest,
  replay: Replay | undefined,
  /** The current phase, which may have changed while the task waited for its place. */
  phase = task.phase,
): NewProcess {
  const { session, ingress, profile, mounts, onQuestion } = request;
  return {
    task: task.id,
    session,
    conversation: task.id,
    principal: ingress.principal,
    profile,
    spec: request.agent?.name ?? "agent",
    ...(request.agent?.capabilities === undefined
      ? {}
      : { capabilities: request.agent.capabilities }),
    mounts,
    limits: task.limits,
    depth: 0,
    onQuestion,
    phase,
    colour: replay?.colour ?? ingress.colour,
    label: replay?.label ?? ingress.label,
    sources: [...replay?.sources ?? []],
    turn: replay?.turn ?? 0,
    usage: { ...noUsage(), ...replay?.spent },
  };
}
