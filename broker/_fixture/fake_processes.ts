/** Processes as the gate sees them, in memory. @module */
import { type Colour, type Label, Pid, SessionId, TaskId } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import {
  type ChargeableUsage,
  DEFAULT_LIMITS,
  noUsage,
  type ProcessKeeper,
  type ProcessRow,
} from "../../contracts/task/mod.ts";

/** Best first. */
export const COLOURS: readonly Colour[] = ["BLUE", "YELLOW", "RED"];
/** Lowest first. */
export const LABELS: readonly Label[] = ["public", "internal", "secret"];

/** A process table whose rows tests change at will. */
export interface FakeProcesses extends ProcessKeeper {
  readonly rows: Map<number, ProcessRow>;
  readonly charges: Partial<ChargeableUsage>[];
  limit: ((charge: Partial<ChargeableUsage>) => string | undefined) | undefined;
}

/** Makes an empty table. */
export function fakeProcesses(): FakeProcesses {
  const rows = new Map<number, ProcessRow>();
  const table: FakeProcesses = {
    rows,
    charges: [],
    limit: undefined,
    get: (pid) => rows.get(pid),
    list: () => [...rows.values()],
    taint: (pid, taint) => {
      const row = rows.get(pid);
      if (row === undefined) return;
      if (COLOURS.indexOf(taint.colour) > COLOURS.indexOf(row.colour)) row.colour = taint.colour;
      if (LABELS.indexOf(taint.label) > LABELS.indexOf(row.label)) row.label = taint.label;
      row.sources.push(...taint.sources);
    },
    advertise: (pid, snapshot) => {
      const row = rows.get(pid);
      if (row !== undefined) row.snapshot = snapshot;
    },
    charge: (pid, charge) => {
      const limit = table.limit?.(charge);
      if (limit !== undefined) throw new Fault("budgetExhausted", `Cannot charge: ${limit}`);
      table.charges.push(charge);
      const row = rows.get(pid);
      if (row !== undefined) row.usage.questions += charge.questions ?? 0;
    },
    wouldExceed: (_pid, charge) => table.limit?.(charge),
  };
  return table;
}

let tasks = 0;

/** A running process of a task of its own, BLUE and public. */
export function makeRow(change: Partial<ProcessRow> = {}): ProcessRow {
  return {
    pid: Pid.parse(2),
    ppid: undefined,
    task: TaskId.parse(`t${(++tasks).toString(36).padStart(12, "0")}`),
    session: SessionId.parse("s000000000001"),
    conversation: "main",
    principal: "alice",
    profile: "operator",
    spec: "agent",
    mounts: [],
    capabilities: undefined,
    limits: DEFAULT_LIMITS,
    depth: 0,
    onQuestion: "ask",
    startedAt: 0,
    status: "running",
    phase: "work",
    turn: 1,
    colour: "BLUE",
    label: "public",
    sources: [],
    usage: noUsage(),
    leases: [],
    snapshot: undefined,
    model: { id: "scripted:test", backend: "scripted", nonce: "n" },
    calls: new Map(),
    exit: undefined,
    ...change,
  };
}
