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

/** A new process; the table adds its pid and start time. */
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
  /** Usage that an earlier kernel counted. */
  readonly usage?: Partial<Usage>;
}

/** A parent's request for a child. */
export interface ChildProcess extends ChildRequest {
  readonly spec: string;
  readonly conversation: string;
  /** Tools advertised to the parent now. */
  readonly tools: ReadonlySet<string>;
}

/** Names of the tools and mounts that a process keeps; unknown names give nothing. */
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
  /** Sets whether later questions wait for a person, are queued or denied. */
  setOnQuestion(pid: Pid, onQuestion: OnQuestion): void;
  setPhase(pid: Pid, phase: Phase): void;
  /** Drops all tools and mounts but the named ones; the tools' arguments stay as narrow as before. */
  narrow(pid: Pid, kept: KeptRights): void;
  /** Sets the inference that proposes later calls. */
  setModel(pid: Pid, model: ProcessRow["model"]): void;
  /** Begins a turn and resets the count of model turns, which is kept for each message. */
  setTurn(pid: Pid, turn: number): void;
  /** Raises limits, by a person's decision; throws `refused` above the parent's. */
  extend(pid: Pid, limits: Partial<Limits>): void;
  /** Counts usage even beyond a limit; returns the name of the exceeded limit. */
  settle(pid: Pid, charge: Charge): string | undefined;
  /** Descendants, nearest first. */
  descendants(pid: Pid): readonly ProcessRow[];
  /** Removes the row of an ended process; no effect on a live one. */
  forget(pid: Pid): void;
}

/** Untrusted sources that a process remembers. */
const MAX_SOURCES = 100;
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
  /** The process and its ancestors, each with its part of the charge. */
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
      // A watcher may leave after the process has ended.
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
      // A source keeps its worst colour and label, even when the same name gives better content later.
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
      row.sources = [...kept, ...worse].slice(-MAX_SOURCES);
    },
    advertise(pid: Pid, snapshot: ToolSnapshot): void {
      live(pid).snapshot = snapshot;
    },
    charge,
    wouldExceed: over,
  });
}

// The rights of a child process: never more than its parent's.

/** A parent's request for a child's rights. */
interface ChildRequest {
  /** Tools, each among the parent's and with at most its arguments. */
  readonly capabilities: readonly CapabilityGrant[];
  /** Names of the parent's mounts; absent means all. */
  readonly mounts?: readonly string[];
  readonly limits: Partial<Limits>;
}

/** The rights of a new child. */
interface ChildRights {
  readonly capabilities: readonly CapabilityGrant[];
  readonly mounts: readonly Mount[];
  readonly limits: Limits;
  readonly depth: number;
}

/** The parent's rights and usage. */
type ParentRights = Pick<
  ProcessRow,
  "capabilities" | "mounts" | "limits" | "depth" | "usage"
>;

/**
 * Checks a request against its parent. `tools` are the tools advertised to the parent now. Throws
 * `refused` for a tool, argument or mount that the parent lacks, `budgetExhausted` for a limit
 * above the parent's or an exhausted depth or number of children.
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
  // Arguments that the child left open stay as narrow as the parent's.
  return { tool: asked.tool, where: { ...fit.where, ...asked.where } };
}

/** Tells whether each argument that limits the parent limits the child at least as much. */
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
