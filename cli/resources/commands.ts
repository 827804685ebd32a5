/** `resources …`: shows claims of tasks on shared resources, and carries out a person's decisions on conflicts. @module */
import { EXIT, Fault, toJson } from "../../contracts/base/mod.ts";
import {
  ConflictDecision,
  ConflictId,
  ConflictReport,
  ResourceLease,
  ResourceLeaseId,
  type ResourceOwner,
  ResourceRef,
  SharedResource,
} from "../../contracts/task/mod.ts";
import { displayText } from "../../text/mod.ts";
import { askKernel, type Command, commandText, idOf, printJson, printLines } from "../command.ts";
import { spanText } from "../terminal/span.ts";
import { tableLines } from "../terminal/table.ts";

/** Columns for text of models or strangers. */
const MAX_SCOPE = 120, MAX_TEXT = 2_000;

const safe = (text: string, max = MAX_SCOPE): string => displayText(text, { max });
const partOf = ({ resource, scope }: Pick<ResourceLease, "resource" | "scope">): string =>
  scope === "" ? resource : `${resource} ${safe(scope)}`;
const ownerText = ({ task, agent, child }: ResourceOwner): string =>
  `${task} ${safe(agent)}${child === undefined ? "" : ` (process ${child})`}`;

async function all(command: Command): Promise<readonly SharedResource[]> {
  return SharedResource.array().parse(await askKernel(command, "resources", { do: "list" }));
}

/** `resources list`. */
export async function resourcesList(command: Command): Promise<number> {
  const resources = await all(command);
  if (command.json) return printJson(command, toJson(resources));
  const { screen, environment } = command.powers, now = environment.now();
  const leases = resources.flatMap((each) => each.leases);
  const conflicts = resources.flatMap((each) => each.conflicts).filter(({ state }) =>
    state === "open"
  );
  const rows = leases.map((lease) => [
    ...[lease.id, partOf(lease), lease.mode, ownerText(lease.owner), lease.phase],
    `${spanText(Math.max(lease.expiresAt - now, 0))} left`,
  ]);
  const heads = ["CLAIM", "WORKS ON", "MODE", "TASK", "PHASE", "TIME"];
  printLines(command, [
    ...(tableLines(heads, rows, screen.outWidth ?? 200, "nobody has a claim")),
    ...resources.filter(({ items }) => items.length > 0).map(listLine),
    ...conflicts.flatMap((report) => ["", ...conflictLines(report)]),
  ]);
  if (conflicts.some(({ supervisor }) => supervisor === "host")) {
    const how = commandText(command, "resources decide CONFLICT share|release|refuse");
    screen.say(screen.paint.dim(`decide with: ${how}`));
  }
  return EXIT.success;
}

function listLine({ ref, items }: SharedResource): string {
  const count = (state: string): number => items.filter((item) => item.state === state).length;
  return `${ref}: ${count("open")} items open, ${count("claimed")} claimed, ${count("done")} done`;
}

function conflictLines(report: ConflictReport): readonly string[] {
  const { id, at, about, state, holder, claimant, mode, supervisor } = report;
  const { observed, current, decision, approver } = report;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["conflict", `${id}  ${state}${decision === undefined ? "" : `: ${decision}, by ${approver}`}`],
    [
      "about",
      about === "claim" ? `a claim of ${partOf(report)}` : `the version of ${partOf(report)}`,
    ],
    [
      "first",
      holder === undefined ? undefined : `${ownerText(holder)}  claim ${report.lease ?? "-"}`,
    ],
    ["second", `${ownerText(claimant)}  wants it ${mode}`],
    ["had read", observed === undefined ? undefined : `${observed.kind} ${safe(observed.value)}`],
    ["there is", current === undefined ? undefined : `${current.kind} ${safe(current.value)}`],
    ["decides", supervisor === "host" ? "you" : `task ${supervisor}`],
    ["trust", `${report.colour}, ${report.label}`],
    ["at", new Date(at).toISOString()],
  ];
  return rows.flatMap(([name, value]) => value === undefined ? [] : [`${name.padEnd(9)} ${value}`]);
}

function leaseLines(lease: ResourceLease): readonly string[] {
  const { id, mode, owner, phase, claimedAt, expiresAt, renewals, colour, label } = lease;
  return [
    `claim     ${id}  ${mode}`,
    `works on  ${partOf(lease)}`,
    `task      ${ownerText(owner)}  in phase ${phase}`,
    `since     ${new Date(claimedAt).toISOString()}`,
    `until     ${new Date(expiresAt).toISOString()}  renewed ${renewals} times`,
    `trust     ${colour}, ${label}`,
  ];
}

function resourceLines(resource: SharedResource): readonly string[] {
  const { ref, createdAt, leases, conflicts, watches, versions, items } = resource;
  return [
    `resource  ${ref}`,
    `since     ${new Date(createdAt).toISOString()}`,
    ...watches.map(({ task, scope }) => `watched   by task ${task} ${safe(scope)}`.trimEnd()),
    ...versions.map(({ scope, version }) =>
      `version   ${version.kind} ${safe(version.value)} of ${scope === "" ? "all" : safe(scope)}`
    ),
    ...items.map(({ number, state, generation, text, owner, colour }) =>
      `item ${number}  ${state}, generation ${generation}, ${colour}${
        owner === undefined ? "" : `, ${ownerText(owner)}`
      }: ${safe(text, MAX_TEXT)}`
    ),
    ...leases.flatMap((lease) => ["", ...leaseLines(lease)]),
    ...conflicts.flatMap((report) => ["", ...conflictLines(report)]),
  ];
}

/** `resources show ID`. */
export async function resourcesShow(command: Command): Promise<number> {
  const id = command.parsed.args[0] ?? "";
  const resources = await all(command);
  const lease = resources.flatMap((each) => each.leases).find((each) => each.id === id);
  const report = resources.flatMap((each) => each.conflicts).find((each) => each.id === id);
  const resource = resources.find(({ ref }) => ref === id);
  const found = lease ?? report ?? resource;
  if (found === undefined) {
    throw new Fault(
      "notFound",
      `Cannot find "${
        safe(id)
      }": no resource, claim or conflict that is under way has this name; see ${
        commandText(command, "resources list")
      }`,
    );
  }
  if (command.json) printJson(command, toJson(found));
  else if (lease !== undefined) printLines(command, leaseLines(lease));
  else if (report !== undefined) printLines(command, conflictLines(report));
  else if (resource !== undefined) printLines(command, resourceLines(resource));
  return EXIT.success;
}

/** `resources release CLAIM`. */
export async function resourcesRelease(command: Command): Promise<number> {
  const claim = idOf(ResourceLeaseId, command.parsed.args[0] ?? "", "claim");
  const lease = ResourceLease.parse(await askKernel(command, "resources", { do: "end", claim }));
  return command.json ? printJson(command, toJson(lease)) : printLines(command, [
    `${lease.id}  released: task ${lease.owner.task} is told to stop there`,
  ]);
}

/** `resources clear RESOURCE`. */
export async function resourcesClear(command: Command): Promise<number> {
  const resource = idOf(ResourceRef, command.parsed.args[0] ?? "", "resource: KIND:NAME");
  await askKernel(command, "resources", { do: "clear", resource });
  return command.json
    ? printJson(command, { cleared: resource })
    : printLines(command, [`${resource}  cleared: nothing is kept of it`]);
}

/** `resources decide CONFLICT share|release|refuse`. */
export async function resourcesDecide(command: Command): Promise<number> {
  const [id = "", word = ""] = command.parsed.args;
  const conflict = idOf(ConflictId, id, "conflict");
  const decision = idOf(ConflictDecision, word, "decision: share, release or refuse");
  const answer = await askKernel(command, "resources", { do: "decide", conflict, decision });
  const report = ConflictReport.parse(answer);
  return command.json
    ? printJson(command, toJson(report))
    : printLines(command, conflictLines(report));
}
