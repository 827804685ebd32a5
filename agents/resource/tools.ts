/**
 * The tools `resource_claim`, `resource_release`, `resource_status` and `task_list` of one task.
 * Answers contain ids, times and the caller's own text; only `resource_status` and `task_list` show
 * texts of others, with their colour and label. Wired in kernel/main_tools.ts.
 * @module
 */
import { mixTaints, type Taint } from "../../contracts/authority/colour.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type { Pid } from "../../contracts/authority/ids.ts";
import { type Json, type JsonObject, toJson } from "../../contracts/base/mod.ts";
import type { EffectClass } from "../../contracts/authority/mod.ts";
import {
  type Claimant,
  ConflictDecision,
  ConflictId,
  type ConflictReport,
  type ListItem,
  overlaps,
  type ResourceLease,
  ResourceLeaseId,
  ResourceRef,
  ResourceScope,
  type SharedResource,
} from "../../contracts/task/resources.ts";
import type {
  GrantedCall,
  PowerResult,
  ProcessRow,
  Resolved,
  ToolBinding,
} from "../../contracts/task/mod.ts";
import type { ToolDescriptor } from "../../contracts/tool/mod.ts";
import { displayText } from "../../text/mod.ts";
import { CLAIM, RELEASE, STATUS, TASK_LIST } from "./descriptors.ts";
import { takesPart } from "./fold.ts";
import type { Resources } from "./registry.ts";
import type { ItemOutcome } from "./task_list.ts";

/** The parts of {@link resourceBindings}. */
export interface ResourceToolParts {
  /** The registry: read at each call, because tools are wired before it. */
  resources(): Pick<
    Resources,
    | "claim"
    | "release"
    | "decide"
    | "get"
    | "list"
    | "watch"
    | "addItem"
    | "claimItem"
    | "finishItem"
  >;
  processOf(pid: Pid): ProcessRow | undefined;
  /** Milliseconds since 1970. */
  now(): number;
  /** Redeems the call's token. Throws if that fails. */
  redeem(call: GrantedCall): void;
}

/** Maximum items shown at once, and columns of a text in a list and alone. */
const MAX_SHOWN = 100, MAX_COLUMNS = 400, MAX_WHOLE = 2_000;
/** Maximum columns of a scope. */
const MAX_SCOPE = 200;

type Act = (call: GrantedCall, by: Claimant) => Promise<PowerResult>;

/** The tools of one task. */
export function resourceBindings(parts: ResourceToolParts): readonly ToolBinding[] {
  const { processOf, redeem } = parts;
  const untilOf = ({ minutes }: JsonObject): { readonly until?: number } =>
    typeof minutes === "number" ? { until: parts.now() + minutes * 60_000 } : {};

  const bound = (
    descriptor: ToolDescriptor,
    act: Act,
    pathOf: (args: JsonObject) => string,
  ): ToolBinding => {
    const effectOf = (args: JsonObject): EffectClass =>
      (descriptor === STATUS && args["watch"] !== true) || args["action"] === "list"
        ? "read"
        : "stage";
    return Object.freeze<ToolBinding>({
      ...{ descriptor, effect: "read", deadlineMs: 10_000, resultBytes: 65_536 },
      resolve: (args): Resolved => ({
        scopes: [{ resource: "agent", right: "use", path: pathOf(args) }],
        ...{ effect: effectOf(args), digests: {}, summary: `shared work: ${descriptor.name}` },
        // A repeated claim is a renewal, a repeated text the same item, and a repeated end is refused without harm.
        idempotent: true,
      }),
      async invoke(call): Promise<PowerResult> {
        redeem(call);
        const row = processOf(call.pid);
        if (row === undefined) {
          throw new Fault("gone", `Cannot call "${call.tool}": its process ended`);
        }
        return await act(call, claimantOf(row));
      },
    });
  };

  const claim: Act = async ({ args }, by) => {
    const outcome = await parts.resources().claim({
      ...{ resource: refOf(args), scope: scopeOf(args) },
      mode: args["mode"] === "shared" ? "shared" : "exclusive",
      ...untilOf(args),
    }, by);
    return outcome.kind === "conflict"
      ? refused(outcome.report)
      : told({ held: true, ...claimOf(outcome.lease), renewed: outcome.renewed });
  };

  const release: Act = async ({ args }, by) => {
    const { claim: given, conflict, decision } = args;
    if (conflict === undefined) {
      const lease = await parts.resources().release(
        idIn(ResourceLeaseId, given, "claim"),
        by.owner,
      );
      return told({ released: lease.id });
    }
    if (by.owner.child !== undefined) {
      throw new Fault("refused", "Cannot decide a conflict: the agent that started you does");
    }
    const word = idIn(ConflictDecision, decision, "decision");
    const report = await parts.resources().decide(
      idIn(ConflictId, conflict, "conflict"),
      word,
      by.owner.task,
    );
    return told({ conflict: report.id, decision: word });
  };

  const status: Act = async ({ args }, by) => {
    const { task } = by.owner, scope = scopeOf(args);
    if (args["resource"] === undefined) {
      const all = await parts.resources().list();
      return shown(all.filter((each) => takesPart(each, task)), scope);
    }
    const ref = refOf(args);
    if (args["watch"] === true) {
      await parts.resources().watch({ resource: ref, scope, once: false }, by);
    }
    const found = await parts.resources().get(ref);
    return shown(found === undefined ? [] : [found], scope);
  };

  const list: Act = async ({ args }, by) => {
    const resource = listOf(args);
    const number = Number(args["item"] ?? 0), generation = Number(args["generation"] ?? 0);
    const needed = args["action"] === "add"
      ? ["text"]
      : args["action"] === "list"
      ? []
      : ["item", "generation"];
    for (const name of needed) {
      if (args[name] !== undefined) continue;
      throw new Fault("invalidArguments", `Cannot ${String(args["action"])}: give "${name}"`);
    }
    switch (args["action"]) {
      case "add": {
        const item = await parts.resources().addItem(resource, String(args["text"]), by);
        return { ...told(itemOf(item)), written: "1" };
      }
      case "claim":
        return changed(
          await parts.resources().claimItem({ resource, number, generation, ...untilOf(args) }, by),
          generation,
        );
      case "done":
        return changed(
          await parts.resources().finishItem({ resource, number, generation }, by),
          generation,
        );
      default:
        return items((await parts.resources().get(resource))?.items ?? [], number);
    }
  };

  // The call's scope names the part.
  const named = (args: JsonObject): string => {
    if (args["resource"] === undefined) return "";
    const scope = scopeOf(args);
    return scope === "" ? refOf(args) : `${refOf(args)}/${scope}`;
  };
  return Object.freeze([
    bound(CLAIM, claim, named),
    bound(RELEASE, release, () => ""),
    bound(STATUS, status, named),
    bound(
      TASK_LIST,
      list,
      (args) =>
        args["item"] === undefined ? listOf(args) : `${listOf(args)}/items/${Number(args["item"])}`,
    ),
  ]);
}

/** The claimant for a process. */
export function claimantOf(row: ProcessRow): Claimant {
  const { task, spec, ppid, pid, phase, colour, label } = row;
  const child = ppid === undefined ? {} : { child: pid };
  return { owner: { task, agent: spec.slice(0, 64), ...child }, phase, colour, label };
}

function told(value: Readonly<Record<string, Json>>): PowerResult {
  return { content: JSON.stringify(value), colour: "BLUE", label: "public", sources: [], value };
}

function changed(outcome: ItemOutcome, generation: number): PowerResult {
  if (outcome.kind === "conflict") {
    return { ...refused(outcome.report), observed: `${generation}` };
  }
  const { item } = outcome;
  return { ...told(itemOf(item)), observed: `${generation}`, written: `${item.generation}` };
}

const isoOf = (at: number): string => new Date(at).toISOString();

function claimOf({ id, expiresAt }: ResourceLease): Readonly<Record<string, Json>> {
  return { claim: id, until: isoOf(expiresAt) };
}

/** The claimant's view of a conflict, without text of the holder. */
function refused(report: ConflictReport): PowerResult {
  const { id, about, resource, scope, holder, supervisor, observed, current } = report;
  const who = supervisor === "host" ? "the person" : `task ${supervisor}`;
  const value = {
    conflict: {
      ...{ id, about, resource, scope },
      ...(holder === undefined ? {} : { holder: toJson(holder) }),
      ...(observed === undefined ? {} : { observed: observed.value }),
      ...(current === undefined ? {} : { current: current.value }),
    },
    next: about === "version"
      ? "it changed meanwhile: list it again, and decide anew"
      : `do something else; ${who} was asked, and a message comes when it is decided or free`,
  };
  const failed = about === "version"
    ? "Cannot change it: it is not as you saw it"
    : `Cannot claim it: task ${holder?.task} has a claim on it`;
  return { ...told(value), failed };
}

function itemOf({ number, state, generation }: ListItem): Readonly<Record<string, Json>> {
  return { item: number, state, generation };
}

function items(all: readonly ListItem[], number: number): PowerResult {
  const open = all.filter(({ state }) => state !== "done");
  const chosen = number === 0
    ? open.slice(0, MAX_SHOWN)
    : all.filter((each) => each.number === number);
  const max = number === 0 ? MAX_COLUMNS : MAX_WHOLE;
  const value = {
    items: chosen.map((item) => ({
      ...itemOf(item),
      text: displayText(item.text, { max }),
      author: item.author.task,
      ...(item.owner === undefined ? {} : { owner: item.owner.task }),
    })),
    ...{ open: open.length, done: all.length - open.length },
  };
  return { ...told(value), ...taintOf(chosen, "items of a task list") };
}

/** Colour and label of texts of others, for the reader. */
function taintOf(
  written: readonly Taint[],
  source: string,
): Pick<PowerResult, "colour" | "label" | "sources"> {
  const taint = mixTaints(...written);
  return { ...taint, sources: written.length === 0 ? [] : [{ source, ...taint }] };
}

function shown(all: readonly SharedResource[], scope: ResourceScope): PowerResult {
  const leases = all.flatMap((each) => each.leases).filter((each) => overlaps(each.scope, scope));
  const conflicts = all.flatMap((each) => each.conflicts).filter((each) =>
    each.state === "open" && overlaps(each.scope, scope)
  );
  const value = {
    claims: leases.slice(0, MAX_SHOWN).map((lease) => ({
      ...{ ...claimOf(lease), resource: lease.resource, mode: lease.mode },
      ...{ scope: displayText(lease.scope, { max: MAX_SCOPE }), owner: toJson(lease.owner) },
    })),
    conflicts: conflicts.slice(0, MAX_SHOWN).map(({ id, resource, scope, claimant, holder }) => ({
      ...{ conflict: id, resource, scope: displayText(scope, { max: MAX_SCOPE }) },
      ...{
        claimant: toJson(claimant),
        ...(holder === undefined ? {} : { holder: toJson(holder) }),
      },
    })),
  };
  return { ...told(value), ...taintOf([...leases, ...conflicts], "claims of other agents") };
}

function refOf(args: JsonObject): ResourceRef {
  return idIn(ResourceRef, args["resource"], "resource");
}

function listOf(args: JsonObject): ResourceRef {
  return idIn(ResourceRef, `taskList:${String(args["list"])}`, "list");
}

function scopeOf(args: JsonObject): ResourceScope {
  return idIn(ResourceScope, args["scope"] ?? "", "scope");
}

/** Parses an argument. @throws Fault `invalidArguments` naming the argument */
function idIn<T>(
  schema: {
    safeParse(value: unknown): {
      readonly data?: T | undefined;
      readonly error?: { readonly issues: readonly { readonly message: string }[] } | undefined;
    };
  },
  value: Json | undefined,
  name: string,
): T {
  const { data, error } = schema.safeParse(value);
  if (data !== undefined) return data;
  const why = value === undefined ? "it is missing" : error?.issues[0]?.message;
  throw new Fault("invalidArguments", `Cannot use the argument "${name}": ${why}`);
}
