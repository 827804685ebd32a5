/** The process table: the only writer of process rows. @module */
import { mixColour, mixLabel } from "../../../contracts/authority/colour.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { Pid, ToolName } from "../../../contracts/authority/ids.ts";
import type { CapabilityGrant } from "../../../contracts/policy/agent_spec.ts";
import { type Limits, noUsage, type Usage } from "../../../contracts/task/budget.ts";
import type {
  Powers,
  ProcessKeeper,
  ProcessRow,
  ProcessStatus,
  Taint,
} from "../../../contracts/task/process.ts";
import type { Source } from "../../../contracts/authority/question.ts";
import type { OnQuestion, Phase } from "../../../contracts/task/task.ts";
import type { ToolSnapshot } from "../../../contracts/tool/tool.ts";
import type { Mount } from "../../../contracts/tool/workspace.ts";
import { above, type Charge, count, inherited, narrowed, passes } from "./limits.ts";

/** What a new process is made of; the table adds its number and its start. */
export interface NewProcess extends
  Pick<
    ProcessRow,
    | "task"
    | "session"
    | "conversation"
    | "principal"
    | "profile"
    | "spec"
    | "mounts"
    | "limits"
    | "onQuestion"
    | "phase"
    | "colour"
    | "label"
  > {
  readonly ppid?: Pid;
  /** Absent: every tool that the policy advertises. */
  readonly capabilities?: readonly CapabilityGrant[];
  readonly depth?: number;
  readonly turn?: number;
  readonly sources?: readonly Source[];
  /** What an earlier kernel had counted. */
  readonly usage?: Partial<Usage>;
}

/** What a parent asks for a child of its own. */
export interface ChildProcess extends ChildRequest {
  readonly spec: string;
  readonly conversation: string;
  /** Tools that the parent is advertised now. */
  readonly tools: ReadonlySet<string>;
}

/** Names of what a process keeps of what it holds; others are no rights. */
export interface KeptRights {
  readonly tools: readonly string[];
  readonly mounts: readonly string[];
}

/** The table as the kernel holds it: gate and broker see {@link ProcessKeeper} only. */
export interface ProcessTable extends ProcessKeeper {
  /** Throws `gone` for a parent that has ended. */
  add(process: NewProcess): ProcessRow;
  /**
   * Adds a child with at most its parent's tools, mounts and limits, of its parent's colour and
   * label, and charges the parent. Throws as `deriveChild` does, and `gone` for an ended parent.
   */
  deriveChild(parent: Pid, child: ChildProcess): ProcessRow;
  /** Ends a process and every descendant; returns those that ended now, children first. */
  end(pid: Pid, exit: number): readonly ProcessRow[];
  setStatus(pid: Pid, status: ProcessStatus): void;
  /** Whether questions from now on wait for a person, are queued or denied. */
  setOnQuestion(pid: Pid, onQuestion: OnQuestion): void;
  setPhase(pid: Pid, phase: Phase): void;
  /** Keeps of its tools and mounts those that are named; the arguments of tools stay as narrow as they were. */
  narrow(pid: Pid, kept: KeptRights): void;
  /** The inference that proposes the calls from now on. */
  setModel(pid: Pid, model: ProcessRow["model"]): void;
  /** Begins a turn: model turns are counted for each message, so their count starts anew. */
  setTurn(pid: Pid, turn: number): void;
  /** Raises limits, as a person decided; throws `refused` above an ancestor's. */
  extend(pid: Pid, limits: Partial<Limits>): void;
  /** Counts what was used whether or not it fits; the limit that is passed, if one is. */
  settle(pid: Pid, charge: Charge): string | undefined;
  /** Descendants, nearest first. */
  descendants(pid: Pid): readonly ProcessRow[];
  /** Forgets an ended process. Does nothing for a live one. */
  forget(pid: Pid): void;
}

/** Most untrusted sources that a process remembers. */
const SOURCES = 100;
/** Process 1 is the kernel itself. */
const FIRST = 2;

/** Makes an empty table. */
export function makeProcessTable(powers: Pick<Powers, "now">): ProcessTable {
  const rows = new Map<Pid, { -readonly [K in keyof ProcessRow]: ProcessRow[K] }>();
  let next = FIRST;

  const live = (pid: Pid) => {
    const row = rows.get(pid);
    if (row === undefined || row.status === "ended") {
      throw new Fault("gone", `Cannot change process ${pid}: it has ended`);
    }
    return row;
  };
  /** The process, then its ancestors, with what each is charged. */
  const bearers = (pid: Pid, charge: Charge): readonly (readonly [ProcessRow, Charge])[] => {
    const list: [ProcessRow, Charge][] = [[live(pid), charge]];
    const shared = inherited(charge);
    for (let at = rows.get(pid)?.ppid; at !== undefined;) {
      const row = rows.get(at);
      if (row === undefined) break;
      list.push([row, shared]);
      at = row.ppid;
    }
    return list;
  };
  const over = (pid: Pid, charge: Charge): string | undefined => {
    for (const [row, part] of bearers(pid, charge)) {
      const limit = passes(row.usage, row.limits, part);
      if (limit !== undefined) return row.pid === pid ? limit : `${limit} of process ${row.pid}`;
    }
    return undefined;
  };
  const spend = (pid: Pid, charge: Charge): void => {
    for (const [row, part] of bearers(pid, charge)) count(row.usage, part);
  };
  const descendants = (pid: Pid): readonly ProcessRow[] => {
    const found: ProcessRow[] = [];
    const pids = new Set([pid]);
    // A child has a higher number than its parent and comes after it.
    for (const row of rows.values()) {
      if (row.ppid === undefined || !pids.has(row.ppid)) continue;
      pids.add(row.pid);
      found.push(row);
    }
    return found;
  };

  const add = (process: NewProcess): ProcessRow => {
    if (process.ppid !== undefined) live(process.ppid);
    const row = {
      ...process,
      pid: Pid.parse(next++),
      ppid: process.ppid,
      capabilities: process.capabilities,
      depth: process.depth ?? 0,
      startedAt: powers.now(),
      status: "running" as const,
      turn: process.turn ?? 0,
      sources: [...process.sources ?? []],
      usage: { ...noUsage(), ...process.usage },
      leases: [],
      snapshot: undefined,
      model: { id: "", backend: "", nonce: "" },
      calls: new Map(),
      exit: undefined,
    };
    rows.set(row.pid, row);
    return row;
  };
  const charge = (pid: Pid, cost: Charge): void => {
    const limit = over(pid, cost);
    if (limit !== undefined) {
      throw new Fault("budgetExhausted", `Cannot go on: limit "${limit}" is used up`, {
        detail: { limit },
      });
    }
    spend(pid, cost);
  };

  return Object.freeze({
    get: (pid: Pid) => rows.get(pid),
    list: () => [...rows.values()],
    add,
    deriveChild(parent: Pid, child: ChildProcess): ProcessRow {
      const from = live(parent);
      const rights = deriveChild(from, child, child.tools);
      charge(parent, { children: 1 });
      const { task, session, principal, profile, onQuestion, phase, colour, label, sources } = from;
      return add({
        ...rights,
        ...{ task, session, principal, profile, onQuestion, phase, colour, label, sources },
        ppid: parent,
        spec: child.spec,
        conversation: child.conversation,
      });
    },
    end(pid: Pid, exit: number): readonly ProcessRow[] {
      const row = rows.get(pid);
      if (row === undefined) return [];
      const ending = [row, ...descendants(pid)].filter(({ status }) => status !== "ended")
        .reverse();
      for (const each of ending) {
        const own = rows.get(each.pid);
        if (own === undefined) continue;
        own.status = "ended";
        own.exit = exit;
        for (const call of own.calls.values()) call.abort.abort();
      }
      return ending;
    },
    setStatus(pid: Pid, status: ProcessStatus): void {
      live(pid).status = status;
    },
    narrow(pid: Pid, { tools, mounts }: KeptRights): void {
      const row = live(pid);
      const { capabilities = tools.map((tool) => ({ tool: ToolName.parse(tool) })) } = row;
      row.capabilities = capabilities.filter(({ tool }) => tools.includes(tool));
      row.mounts = row.mounts.filter(({ name }) => mounts.includes(name));
    },
    setModel(pid: Pid, model: ProcessRow["model"]): void {
      live(pid).model = model;
    },
    setOnQuestion(pid: Pid, onQuestion: OnQuestion): void {
      // Somebody who no longer looks may leave after the process has ended.
      const row = rows.get(pid);
      if (row !== undefined) row.onQuestion = onQuestion;
    },
    setPhase(pid: Pid, phase: Phase): void {
      const row = rows.get(pid);
      if (row !== undefined) row.phase = phase;
    },
    setTurn(pid: Pid, turn: number): void {
      const row = live(pid);
      row.turn = turn;
      row.usage.iterations = 0;
    },
    extend(pid: Pid, limits: Partial<Limits>): void {
      const row = live(pid);
      const parent = row.ppid === undefined ? undefined : rows.get(row.ppid);
      const limit = parent === undefined ? undefined : above(parent.limits, limits);
      if (limit !== undefined) {
        throw new Fault(
          "refused",
          `Cannot extend "${limit}" of process ${pid}: above its parent's`,
        );
      }
      row.limits = {
        ...row.limits,
        ...limits,
        callsByEffect: { ...row.limits.callsByEffect, ...limits.callsByEffect },
      };
    },
    settle(pid: Pid, charge: Charge): string | undefined {
      const limit = over(pid, charge);
      spend(pid, charge);
      return limit;
    },
    descendants,
    forget(pid: Pid): void {
      if (rows.get(pid)?.status === "ended") rows.delete(pid);
    },
    taint(pid: Pid, { colour, label, sources }: Taint): void {
      const row = live(pid);
      row.colour = mixColour(row.colour, colour);
      row.label = mixLabel(row.label, label);
      // What was read once stays read, also where the same name gives something better later.
      const had = new Map(row.sources.map((each) => [each.source, each]));
      const known = new Set(sources.map(({ source }) => source));
      const kept: Source[] = row.sources.filter(({ source }) => !known.has(source));
      const worse = sources.map((each) => {
        const was = had.get(each.source) ?? each;
        const { colour, label } = each;
        return {
          ...each,
          colour: mixColour(was.colour, colour),
          label: mixLabel(was.label, label),
        };
      });
      row.sources = [...kept, ...worse].slice(-SOURCES);
    },
    advertise(pid: Pid, snapshot: ToolSnapshot): void {
      live(pid).snapshot = snapshot;
    },
    charge,
    wouldExceed: over,
  });
}

// What a child process holds: never more than its parent.

/** What a parent asks for. */
interface ChildRequest {
  /** Tools, each among the parent's and with at most its arguments. */
  readonly capabilities: readonly CapabilityGrant[];
  /** Names of the parent's mounts; absent means all. */
  readonly mounts?: readonly string[];
  readonly limits: Partial<Limits>;
}

/** What the child gets. */
interface ChildRights {
  readonly capabilities: readonly CapabilityGrant[];
  readonly mounts: readonly Mount[];
  readonly limits: Limits;
  readonly depth: number;
}

/** What of a parent decides. */
type ParentRights = Pick<
  ProcessRow,
  "capabilities" | "mounts" | "limits" | "depth" | "usage"
>;

/**
 * Checks a request against its parent. `tools` are the tools that the parent is advertised now.
 * Throws `refused` for a tool, argument or mount that the parent has not, `budgetExhausted` for a
 * limit above the parent's or a depth or number of children that is used up.
 */
function deriveChild(
  parent: ParentRights,
  asked: ChildRequest,
  tools: ReadonlySet<string>,
): ChildRights {
  if (parent.depth + 1 > parent.limits.depth) {
    throw new Fault("budgetExhausted", `Cannot spawn: limit "depth" (${parent.limits.depth})`);
  }
  if (parent.usage.children + 1 > parent.limits.children) {
    throw new Fault(
      "budgetExhausted",
      `Cannot spawn: limit "children" (${parent.limits.children})`,
    );
  }
  const over = above(parent.limits, asked.limits);
  if (over !== undefined) {
    throw new Fault("budgetExhausted", `Cannot spawn: limit "${over}" is above the parent's`);
  }
  return Object.freeze({
    capabilities: asked.capabilities.map((grant) => within(parent.capabilities, grant, tools)),
    mounts: mountsOf(parent.mounts, asked.mounts),
    limits: narrowed(parent.limits, asked.limits),
    depth: parent.depth + 1,
  });
}

function within(
  held: readonly CapabilityGrant[] | undefined,
  asked: CapabilityGrant,
  tools: ReadonlySet<string>,
): CapabilityGrant {
  if (!tools.has(asked.tool)) throw refused(asked.tool, "the parent does not have it");
  if (held === undefined) return asked;
  const grants = held.filter(({ tool }) => tool === asked.tool);
  if (grants.length === 0) throw refused(asked.tool, "the parent does not have it");
  const fit = grants.find((grant) => narrower(grant, asked));
  if (fit === undefined) throw refused(asked.tool, "its arguments go beyond the parent's");
  // What the child left open stays as narrow as the parent's.
  return { tool: asked.tool, where: { ...fit.where, ...asked.where } };
}

/** Each argument that the parent is limited in is free of choice for the child only within it. */
function narrower(held: CapabilityGrant, asked: CapabilityGrant): boolean {
  return Object.entries(held.where ?? {}).every(([argument, prefixes]) =>
    (asked.where?.[argument] ?? prefixes).every((wanted) =>
      prefixes.some((prefix) => wanted.startsWith(prefix))
    )
  );
}

function mountsOf(held: readonly Mount[], names: readonly string[] | undefined): readonly Mount[] {
  if (names === undefined) return held;
  return names.map((name) => {
    const mount = held.find((each) => each.name === name);
    if (mount === undefined) {
      throw new Fault("refused", `Cannot spawn with mount "${name}": the parent does not have it`);
    }
    return mount;
  });
}

function refused(tool: string, why: string): Fault {
  return new Fault("refused", `Cannot spawn with tool "${tool}": ${why}`);
}
