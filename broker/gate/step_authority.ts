/** Gate step 5: capability held, leases alive, nothing on the never-list. @module */
import type { CapabilityGrant } from "../../contracts/policy/agent_spec.ts";
import type { EffectClass } from "../../contracts/authority/colour.ts";
import type { LeaseId } from "../../contracts/authority/ids.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import type { Scope } from "../../contracts/authority/lease.ts";
import type { ChargeableUsage, ProcessRow } from "../../contracts/task/process.ts";
import { type JudgeParts, type Known, quoted, type Read, type Refusal, refuse } from "./parts.ts";

/** The authority that a call would act under. */
interface Authority {
  readonly kind: "authority";
  readonly leases: readonly [LeaseId, ...LeaseId[]];
}

/** Finds the leases that permit a call: the intersection of the agent's and all its ancestors' rights. */
export function heldAuthority(
  parts: Pick<JudgeParts, "processes" | "leases" | "policy">,
  known: Known,
  read: Read,
): Authority | Refusal {
  return capabilityHeld(parts.processes, known, read) ?? neverTouched(parts.policy, known, read) ??
    leasesHeld(parts.leases, known, read);
}

function capabilityHeld(
  processes: JudgeParts["processes"],
  { process, tool }: Known,
  { args }: Read,
): Refusal | undefined {
  for (const holder of lineage(processes, process)) {
    if (holder.capabilities === undefined) continue;
    const why = lacks(holder.capabilities, tool, args);
    if (why === undefined) continue;
    return refuse(5, `Cannot call "${tool}": ${why}; ask whoever started this agent`, {
      rule: `built-in: capabilities of agent ${quoted(holder.spec)}`,
    });
  }
  return undefined;
}

const MAX_DEPTH = 1_000;

/** A process and its ancestors: a right is held only if all of them hold it. */
export function lineage(
  processes: JudgeParts["processes"],
  process: ProcessRow,
): readonly ProcessRow[] {
  const line = [process];
  for (let at = process.ppid; at !== undefined;) {
    const parent = processes.get(at);
    if (parent === undefined) break;
    if (line.push(parent) > MAX_DEPTH) throw new TypeError("Cannot follow parents: a circle");
    at = parent.ppid;
  }
  return line;
}

/** Whether a list of capabilities names a tool at all; absent means every tool. */
export function grantsTool(
  capabilities: readonly CapabilityGrant[] | undefined,
  tool: string,
): boolean {
  return capabilities === undefined || capabilities.some((grant) => grant.tool === tool);
}

function lacks(
  capabilities: readonly CapabilityGrant[],
  tool: string,
  args: JsonObject,
): string | undefined {
  const grants = capabilities.filter((grant) => grant.tool === tool);
  if (grants.length === 0) return "this agent was not handed it";
  let why: string | undefined;
  for (const grant of grants) {
    const outside = Object.entries(grant.where ?? {}).find(([name, prefixes]) =>
      !within(Object.hasOwn(args, name) ? args[name] : undefined, prefixes)
    );
    if (outside === undefined) return undefined;
    why ??= `this agent may call it only where ${quoted(outside[0])} begins with one of ` +
      outside[1].map(quoted).join(", ");
  }
  return why;
}

/** Whether an argument exists and all its strings begin with an allowed prefix. */
function within(value: JsonObject[string] | undefined, prefixes: readonly string[]): boolean {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.length > 0 &&
    values.every((item) =>
      typeof item === "string" && prefixes.some((prefix) => beginsWith(item, prefix))
    );
}

/** A prefix ends at a path component: `desk/notes` covers `desk/notes/a` and not `desk/notes2`. */
function beginsWith(value: string, prefix: string): boolean {
  if (/(^|[/\\])\.\.?([/\\]|$)|%2e|%2f|%5c/i.test(value.slice(prefix.length - 1))) return false;
  if (!value.startsWith(prefix)) return false;
  const next = value[prefix.length];
  return next === undefined || /[^0-9A-Za-z]$/.test(prefix) || /[/?#]/.test(next);
}

function neverTouched(
  policy: JudgeParts["policy"],
  { tool }: Known,
  { resolved }: Read,
): Refusal | undefined {
  for (const { resource, right, path } of resolved.scopes) {
    if (resource !== "mount") continue;
    const refusal = onList(policy, tool, { path, right: right === "write" ? "write" : "read" });
    if (refusal !== undefined) return refusal;
  }
  // Staging a single forbidden file would get the complete patch refused at the end of the turn.
  for (
    const path of [
      ...resolved.stages ?? [],
      ...(resolved.changes ?? []).map(({ path }) => path),
    ]
  ) {
    const refusal = onList(policy, tool, { path, right: "write" });
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function onList(
  policy: JudgeParts["policy"],
  tool: string,
  touched: { readonly path: string; readonly right: "read" | "write" },
): Refusal | undefined {
  const listed = policy.never(touched.path, touched.right);
  if (listed === undefined) return undefined;
  const does = touched.right === "write" ? "writes" : "reads";
  return refuse(
    5,
    `Cannot call "${tool}": ${
      quoted(touched.path)
    } matches "${listed.glob}", which no tool ${does}; ` +
      "no rule or answer lifts this, the operator can do it themselves",
    { rule: listed.at },
  );
}

function leasesHeld(
  leases: JudgeParts["leases"],
  { process, tool }: Known,
  { resolved }: Read,
): Authority | Refusal {
  const held: LeaseId[] = [];
  for (const scope of resolved.scopes) {
    const lease = leases.covering(process.pid, scope);
    if (lease === undefined) return noLease(leases, { process, tool, scope });
    held.push(lease.id);
  }
  const [first, ...rest] = held;
  if (first === undefined) {
    // Fail closed: a call that names no resource could not be revoked either.
    return refuse(5, `Cannot call "${tool}": it names no resource that a lease could cover`, {
      rule: "built-in: every call acts under a lease",
    });
  }
  return { kind: "authority", leases: [first, ...rest] };
}

function noLease(
  leases: JudgeParts["leases"],
  call: { readonly process: ProcessRow; readonly tool: string; readonly scope: Scope },
): Refusal {
  const { process, tool, scope } = call;
  const thing = `${scope.right} on ${scope.resource}${scope.path && ` ${quoted(scope.path)}`}`;
  const dead = leases.dead(process.pid, scope);
  const why = dead === undefined ? "this task holds no lease for" : `its lease was ${dead} for`;
  const code = dead === undefined
    ? "refused"
    : dead === "revoked"
    ? "leaseRevoked"
    : "leaseExpired";
  const how = dead === undefined
    ? "ask for a mount or a rule that grants it"
    : "ask the operator to grant it again";
  return refuse(5, `Cannot call "${tool}": ${why} ${thing}; ${how}`, {
    code,
    rule: "built-in: every call acts under a live lease",
  });
}

/** Refuses a call that would exceed a limit of the process or of an ancestor. Charges nothing. */
export function overBudget(
  processes: JudgeParts["processes"],
  known: Known,
  wants: { readonly read: Read; readonly effect: EffectClass; readonly question: boolean },
): Refusal | undefined {
  const { read, effect, question } = wants;
  const charge: Partial<ChargeableUsage> = {
    call: effect,
    // An estimate before writing: staged bytes come mostly from the arguments.
    ...(effect === "stage" ? { writtenBytes: read.argumentsText.length } : {}),
    ...(question ? { questions: 1 } : {}),
  };
  const limit = processes.wouldExceed(known.process.pid, charge);
  if (limit === undefined) return undefined;
  return refuse(
    6,
    `Cannot call "${known.tool}": the budget is used up (${limit}); a person can extend it`,
    { code: "budgetExhausted", rule: `built-in: limit ${limit}` },
  );
}
