import assert from "node:assert/strict";
import fc from "fast-check";
import { SessionId, TaskId, ToolName } from "../../../contracts/authority/mod.ts";
import type { Fault } from "../../../contracts/base/mod.ts";
import { DEFAULT_LIMITS, type Limits, type ProcessRow } from "../../../contracts/task/mod.ts";
import { above, narrowed } from "./limits.ts";
import {
  type ChildProcess,
  makeProcessTable,
  type NewProcess,
  type ProcessTable,
} from "./table.ts";

const base: NewProcess = {
  task: TaskId.parse("t000000000000"),
  session: SessionId.parse("s000000000000"),
  conversation: "c",
  principal: "alice",
  profile: "operator",
  spec: "agent",
  mounts: [],
  limits: DEFAULT_LIMITS,
  onQuestion: "ask",
  phase: "work",
  colour: "BLUE",
  label: "public",
};

function family(limits: Partial<Limits> = {}): {
  table: ProcessTable;
  parent: ProcessRow;
} {
  const table = makeProcessTable({ now: () => 0 });
  const parent = table.add({ ...base, limits: { ...DEFAULT_LIMITS, ...limits } });
  return { table, parent };
}

const CHILD: ChildProcess = {
  spec: "child",
  conversation: "c/1",
  tools: new Set(["file_read"]),
  capabilities: [],
  limits: {},
};

const code = (expected: string) => (error: unknown): boolean => (error as Fault).code === expected;

Deno.test("process numbers start at 2 and are never used twice", () => {
  const { table, parent } = family();
  table.end(parent.pid, 0);
  table.forget(parent.pid);
  assert.equal(table.add(base).pid, 3);
});

Deno.test("a charge counts against every ancestor, and is refused whole when one of them has too little", () => {
  const { table, parent } = family({ money: 1 });
  const child = table.deriveChild(parent.pid, CHILD);
  table.charge(child.pid, { money: 0.6, call: "read" });
  assert.equal(parent.usage.money, 0.6);
  assert.equal(parent.usage.callsByEffect["read"], 1);
  assert.throws(() => table.charge(child.pid, { money: 0.6, resultBytes: 5 }), (error: Fault) => {
    assert.equal(error.detail?.["limit"], "money");
    return true;
  });
  assert.equal(child.usage.resultBytes, 0);
  assert.equal(parent.usage.money, 0.6);
  assert.equal(table.wouldExceed(child.pid, { money: 0.5 }), "money");
});

Deno.test("what was used is counted even when it passes the limit, and the limit is named", () => {
  const { table, parent } = family({ totalTokens: 100 });
  assert.equal(table.settle(parent.pid, { inputTokens: 90 }), undefined);
  assert.equal(table.settle(parent.pid, { outputTokens: 20 }), "totalTokens");
  assert.equal(parent.usage.outputTokens, 20);
});

Deno.test("calls are limited by effect class", () => {
  const { table, parent } = family({ callsByEffect: { destructive: 1 } });
  table.charge(parent.pid, { call: "destructive" });
  assert.equal(table.wouldExceed(parent.pid, { call: "destructive" }), "callsByEffect.destructive");
  assert.equal(table.wouldExceed(parent.pid, { call: "read" }), undefined);
});

Deno.test("model turns are counted for each message", () => {
  const { table, parent } = family({ iterations: 1 });
  table.charge(parent.pid, { iterations: 1 });
  assert.equal(table.wouldExceed(parent.pid, { iterations: 1 }), "iterations");
  table.setTurn(parent.pid, 1);
  assert.equal(table.wouldExceed(parent.pid, { iterations: 1 }), undefined);
});

Deno.test("mallory's child gets no tool, argument, mount, limit or depth beyond its parent's", () => {
  const { table, parent } = family({ money: 1, depth: 2 });
  const spawn = (tool: string, limits: Partial<Limits> = {}, mounts?: string[]): ProcessRow =>
    table.deriveChild(parent.pid, {
      ...CHILD,
      capabilities: [{ tool: ToolName.parse(tool) }],
      limits,
      ...(mounts === undefined ? {} : { mounts }),
    });
  assert.throws(() => spawn("http_fetch"), code("refused"));
  assert.throws(() => spawn("file_read", { money: 2 }), code("budgetExhausted"));
  assert.throws(() => spawn("file_read", {}, ["home"]), code("refused"));
  const child = spawn("file_read", { money: 0.5 });
  assert.equal(child.limits.money, 0.5);
  assert.equal(child.limits.toolCalls, parent.limits.toolCalls);
  assert.equal(parent.usage.children, 1);
  const grandchild = table.deriveChild(child.pid, CHILD);
  assert.throws(
    () => table.deriveChild(grandchild.pid, CHILD),
    code("budgetExhausted"),
  );
});

Deno.test("a child that leaves an argument open inherits its parent's filter", () => {
  const table = makeProcessTable({ now: () => 0 });
  const tool = ToolName.parse("file_read");
  const parent = table.add({ ...base, capabilities: [{ tool, where: { path: ["desk/notes/"] } }] });
  const spawn = (path?: string): ProcessRow =>
    table.deriveChild(parent.pid, {
      ...CHILD,
      capabilities: [path === undefined ? { tool } : { tool, where: { path: [path] } }],
    });
  assert.deepEqual(spawn().capabilities?.[0]?.where, { path: ["desk/notes/"] });
  assert.deepEqual(spawn("desk/notes/2026").capabilities?.[0]?.where, {
    path: ["desk/notes/2026"],
  });
  assert.throws(() => spawn("desk/"), code("refused"));
});

Deno.test("ending a process ends its subtree and cancels its calls", () => {
  const { table, parent } = family();
  const child = table.deriveChild(parent.pid, CHILD);
  const grandchild = table.deriveChild(child.pid, CHILD);
  const abort = new AbortController();
  grandchild.calls.set("1" as never, { tool: "file_read", since: 0, abort });
  assert.deepEqual(table.end(parent.pid, 1).map(({ pid }) => pid), [4, 3, 2]);
  assert.ok(abort.signal.aborted);
  assert.deepEqual(table.end(parent.pid, 1), []);
  assert.throws(() => table.charge(child.pid, { call: "read" }), code("gone"));
  assert.throws(() => table.add({ ...base, ppid: parent.pid }), code("gone"));
});

Deno.test("a child's limits are extended up to its parent's only", () => {
  const { table, parent } = family({ money: 1 });
  const child = table.deriveChild(parent.pid, {
    ...CHILD,
    limits: { money: 0.1 },
  });
  table.extend(child.pid, { money: 1 });
  assert.equal(child.limits.money, 1);
  assert.throws(() => table.extend(child.pid, { money: 2 }), code("refused"));
  table.extend(parent.pid, { money: 2 });
  table.extend(child.pid, { money: 2 });
});

Deno.test("colour falls, label rises, sources are remembered up to a hundred", () => {
  const { table, parent } = family();
  const source = (
    n: number,
  ) => ({ source: `mail ${n}`, colour: "RED", label: "internal" } as const);
  for (let n = 0; n < 120; n++) {
    table.taint(parent.pid, { colour: "RED", label: "internal", sources: [source(n)] });
  }
  table.taint(parent.pid, { colour: "BLUE", label: "public", sources: [] });
  assert.equal(parent.colour, "RED");
  assert.equal(parent.label, "internal");
  assert.equal(parent.sources.length, 100);
  assert.equal(parent.sources.at(-1)?.source, "mail 119");
  // A name that gives something better later was read all the same.
  table.taint(parent.pid, {
    ...{ colour: "BLUE", label: "public" },
    sources: [{ source: "mail 119", colour: "BLUE", label: "public" }],
  });
  assert.deepEqual(parent.sources.at(-1), source(119));
});

Deno.test("narrowed limits are never above either", () => {
  const some = fc.record({
    money: fc.double({ min: 0, max: 10, noNaN: true }),
    toolCalls: fc.nat(1000),
    callsByEffect: fc.dictionary(fc.constantFrom("read", "destructive"), fc.nat(100)),
  }, { requiredKeys: [] });
  fc.assert(fc.property(some, some, (held, asked) => {
    const parent: Limits = { ...DEFAULT_LIMITS, ...held as Partial<Limits> };
    const child = narrowed(parent, asked as Partial<Limits>);
    assert.equal(above(parent, child), undefined);
    if (asked.money !== undefined) assert.ok(child.money <= asked.money);
  }));
});
