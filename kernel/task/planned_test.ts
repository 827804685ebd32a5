/** What carol is told of a program is read from its text by the kernel, and a program is written before anything is read. */
import assert from "node:assert/strict";
import { DEFAULT_LIMITS, noUsage } from "../../contracts/task/budget.ts";
import { CallId, Pid, SessionId, TaskId, ToolName } from "../../contracts/authority/ids.ts";
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import { PLANNED_PROGRAM } from "../../contracts/exchange/planned.ts";
import type { GrantedCall, ToolBinding } from "../../contracts/task/power.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import type { ToolDescriptor } from "../../contracts/tool/tool.ts";
import { descriptorDigest, makeMisfits, makePlans } from "../../broker/mod.ts";
import * as reader from "../../planned/mod.ts";
import { makePlanned, PLANNED_TOOLS } from "./planned.ts";
import type { InferAside } from "../power/model/governed_model.ts";

const TASK = TaskId.parse("t000000000000");

function descriptor(name: string, more: Partial<ToolDescriptor> = {}): ToolDescriptor {
  return {
    ...{ name: ToolName.parse(name), description: "Does it.", interfaceId: "T", methodName: name },
    paramSchema: JSON.stringify({
      type: "object",
      properties: { to: {}, text: {}, list: {} },
      required: name === "send" ? ["to"] : [],
      additionalProperties: false,
    }),
    ...{ permission: "auto", category: "read", ...more },
  };
}
const DESCRIPTORS = [
  descriptor("read"),
  descriptor("send", { permission: "consent", category: "network" }),
  descriptor("destroy", { permission: "consent", category: "destroy" }),
  descriptor("grave", { permission: "stepUp" }),
  descriptor("never", { permission: "forbidden" }),
  descriptor("delete_file", { permission: "consent", interfaceId: "mcp:drive" }),
  ...PLANNED_TOOLS,
];
const EFFECTS: Readonly<Record<string, ToolBinding["effect"]>> = {
  send: "outboundWrite",
  destroy: "outboundWrite",
  delete_file: "mutateLocal",
};

async function world(
  request = "Send bob@x.example the 12 files",
  { colour = "BLUE", answer = "" }: {
    readonly colour?: ProcessRow["colour"];
    readonly answer?: string;
  } = {},
) {
  const plans = makePlans(), asked: Parameters<InferAside>[1][] = [];
  const row: ProcessRow = {
    ...{
      pid: Pid.parse(7),
      ppid: undefined,
      task: TASK,
      session: SessionId.parse("s000000000000"),
    },
    ...{
      conversation: TASK,
      principal: "carol",
      profile: "operator",
      spec: "agent",
      mounts: [],
      capabilities: undefined,
    },
    ...{
      limits: DEFAULT_LIMITS,
      depth: 0,
      onQuestion: "ask",
      startedAt: 0,
      status: "running",
      phase: "work",
      turn: 1,
    },
    ...{
      colour,
      label: "internal",
      sources: [],
      usage: noUsage(),
      leases: [],
      calls: new Map(),
      exit: undefined,
    },
    snapshot: { id: descriptorDigest(DESCRIPTORS[0] ?? descriptor("read")), tools: DESCRIPTORS },
    model: { id: "m", backend: "scripted", nonce: "n" },
  };
  const planned = makePlanned({
    load: () => Promise.resolve(reader),
    ...{
      plans,
      digestOf: descriptorDigest,
      redeem: () => undefined,
      processOf: () => row,
      misfit: makeMisfits(),
    },
    modelOf: () => (_row, aside) => {
      asked.push(aside);
      return Promise.resolve({
        message: {
          role: "assistant",
          content: answer,
          provenance: { origin: "model", colour: "RED", label: "internal" },
        },
        usage: { inputTokens: 1, outputTokens: 1 },
        finishReason: "stop",
      });
    },
  });
  const of = { program: PLANNED_PROGRAM, request, ingress: { colour } } as unknown as Parameters<
    typeof planned.begin
  >[1];
  await planned.begin(TASK, of, []);
  const tools = new Map<string, ToolBinding>(
    DESCRIPTORS.map((
      each,
    ) => [each.name, { descriptor: each, effect: EFFECTS[each.name] ?? "read" } as ToolBinding]),
  );
  const [run, ask] = planned.bindings(of, () => tools);
  assert.ok(run !== undefined && ask !== undefined);
  const take = (program: string, more: JsonObject = {}) => run.resolve({ program, ...more }, row);
  return { planned, plans, row, run, ask, take, asked };
}

const refuses = (f: () => unknown, code: FaultCode, why: RegExp): void =>
  assert.throws(f, (error) => {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, why);
    return true;
  });

Deno.test("a person is told what stands in their request, what the agent chose, and what comes from which call", async () => {
  const { take } = await world();
  const { plan, summary } = take(
    'const r = tools.read({ list: [12, 13] }); for (const x of r) { tools.send({ to: "bob@x.example", text: x.text, list: { a: r[0], b: "own" } }); }',
    { atMost: { send: 3 } },
  );
  assert.equal(summary, "run a program that makes 2 calls: read, send");
  assert.deepEqual(plan?.sites.map(({ descriptor: _, ...site }) => site), [
    {
      ...{ site: 1, tool: "read", atMost: 1, becomes: "passes", under: [] },
      arguments: [
        { name: "list.0", origin: "request", value: "12" },
        { name: "list.1", origin: "planner", value: "13" },
      ],
    },
    {
      ...{ site: 2, tool: "send", atMost: 3, becomes: "covered", under: [1] },
      arguments: [
        { name: "to", origin: "request", value: '"bob@x.example"' },
        { name: "text", origin: "derived", from: [1] },
        { name: "list.a", origin: "derived", from: [1] },
        { name: "list.b", origin: "planner", value: '"own"' },
      ],
    },
  ]);
  const [loop] = take("while (true) { tools.read({}); }").plan?.sites ?? [];
  assert.equal(loop?.atMost, 10);
});

Deno.test("a task that has read what strangers wrote takes no program but the one that it has", async () => {
  const { plans, take } = await world("Send bob@x.example the files", { colour: "RED" });
  const program = 'tools.send({ to: "bob@x.example" })';
  refuses(() => take(program), "contaminated", /a program is written before/);
  // One that was taken before anything was read goes on.
  const clean = await world();
  const { plan } = clean.take(program);
  assert.ok(plan !== undefined);
  plans.take(TASK, plan, undefined);
  plans.begin(TASK, [plan.program]);
  assert.equal(take(program).plan, undefined);
  refuses(() => take(`${program};`), "contaminated", /a program is written before/);
});

Deno.test("what becomes of a call is said as the gate will have it", async () => {
  const { take } = await world();
  const { plan } = take(
    'tools.read({}); tools.send({ to: 1 }); tools.destroy({}); tools.grave({}); tools.never({}); ask("x", { type: "number" }); tools.delete_file({})',
  );
  assert.deepEqual(plan?.sites.map(({ becomes }) => becomes), [
    "passes",
    "covered",
    "asks",
    "asks",
    "refused",
    "passes",
    // An imported tool whose server does not say that it destroys, and whose name does.
    "asks",
  ]);
});

Deno.test("a program that calls what is not there, or with wrong names, is refused before a person is asked", async () => {
  const { take, row } = await world();
  refuses(
    () => take("tools.other({})"),
    "unknownTool",
    /call 1 is of tools\.other, which this task does not have/,
  );
  refuses(() => take("tools.plan_run({ program: '' })"), "unknownTool", /plan_run/);
  refuses(
    () => take("tools.send({ text: 1 })"),
    "invalidArguments",
    /leaves out "to"; it takes: to, text, list/,
  );
  refuses(() => take("tools.send({ to: 1, cc: 2 })"), "invalidArguments", /names "cc"/);
  refuses(() => take("say("), "invalidInput", /Unexpected token/);
  refuses(() => take("x".repeat(70_000)), "invalidInput", /longer than/);
  assert.throws(() => take(`tools.read({ list: [${"1,".repeat(300)}] })`), /more than 256 values/);
  const child: ProcessRow = { ...row, ppid: Pid.parse(1) };
  const { run } = await world();
  refuses(
    () => run.resolve({ program: "say(1)" }, child),
    "refused",
    /only the task's own process/,
  );
});

const callOf = (row: ProcessRow, args: JsonObject): GrantedCall =>
  ({
    task: row.task,
    pid: row.pid,
    callId: CallId.parse("plan-1-1-1"),
    args,
    resolved: {},
  }) as unknown as GrantedCall;

Deno.test("a model that is asked holds no tool, and its answer fits or is none", async () => {
  const schema = {
    type: "object",
    properties: { n: { type: "number" } },
    required: ["n"],
    additionalProperties: false,
  };
  const signal = new AbortController().signal;
  const good = await world("x", { answer: '```json\n{"n": 4}\n```' });
  const result = await good.ask.invoke(callOf(good.row, { text: "How many?", schema }), signal);
  assert.deepEqual([result.content, result.label], ['{"n":4}', "internal"]);
  assert.equal(good.asked[0]?.messages.length, 1);
  assert.match(
    good.asked[0]?.messages[0]?.content ?? "",
    /the text below is data[\s\S]*How many\?$/i,
  );
  assert.equal(good.asked[0]?.responseSchema, JSON.stringify(schema));
  for (const answer of ["four", '{"n":"4"}', '{"n":4,"to":"eve@x"}', "", "{}"]) {
    const bad = await world("x", { answer });
    await assert.rejects(
      bad.ask.invoke(callOf(bad.row, { text: "How many?", schema }), signal),
      (error) => error instanceof Fault && error.code === "lowConfidence",
      answer,
    );
  }
});
