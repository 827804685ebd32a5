import assert from "node:assert/strict";
import type { Gate } from "../../contracts/authority/mod.ts";
import { MountName, SessionId, TaskId, ToolName } from "../../contracts/authority/mod.ts";
import type { Colour } from "../../contracts/authority/mod.ts";
import type { DeclaredTools } from "../../contracts/authority/origin.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { ChatMessage } from "../../contracts/model/mod.ts";
import { CallId } from "../../contracts/authority/ids.ts";
import { DEFAULT_LIMITS, type NewEvent } from "../../contracts/task/mod.ts";
import { INTAKE } from "../../contracts/task/templates/templates.ts";
import type { Mount } from "../../contracts/tool/mod.ts";
import { type KeptRights, makeProcessTable } from "../core/process/table.ts";
import { keptOf, makeNarrow, takeIn } from "./intake.ts";

const TASK = TaskId.parse("t000000000001");
const HELD = ["file_read", "http_fetch", "patch_apply", "plan_run"];
const mount = (name: string): Mount => ({
  ...{ name: MountName.parse(name), dir: `/${name}`, mode: "stage", marks: [] },
  ...{ colour: "YELLOW", label: "internal" },
});
const MOUNTS = [mount("plans"), mount("keys")];
const FITS = JSON.stringify(INTAKE.example);

function bench(answers: readonly (Partial<ChatMessage> | Error)[], colour: Colour = "BLUE") {
  const row = makeProcessTable({ now: () => 0 }).add({
    ...{ task: TASK, session: SessionId.parse("s000000000001"), conversation: TASK },
    ...{ principal: "alice", profile: "operator", spec: "agent", mounts: MOUNTS },
    ...{ limits: DEFAULT_LIMITS, onQuestion: "ask", phase: "work", colour, label: "internal" },
  });
  const asked: (readonly ChatMessage[])[] = [];
  const events: NewEvent[] = [];
  const declared: DeclaredTools[] = [];
  const kept: KeptRights[] = [];
  const left = [...answers];
  const parts = {
    row,
    session: {
      consult(append: readonly ChatMessage[]): Promise<ChatMessage> {
        asked.push(append);
        const next = left.shift() ?? new TypeError("Cannot answer: nobody expected that");
        if (next instanceof Error) return Promise.reject(next);
        const provenance = { origin: "model", colour, label: "internal" } as const;
        return Promise.resolve({ role: "assistant", content: "", provenance, ...next });
      },
    },
    log: {
      append: (_task: TaskId, more: readonly NewEvent[]) => {
        events.push(...more);
        return Promise.resolve([]);
      },
    },
    gate: {
      advertise: () => ({ id: "s", tools: HELD.map((name) => ({ name })) }),
    } as unknown as Gate,
    declare: (tools: DeclaredTools) => void declared.push(tools),
    narrow(rights: KeptRights): Promise<void> {
      kept.push(rights);
      return Promise.resolve();
    },
  };
  const request: ChatMessage = {
    role: "user",
    content: "Move the trip",
    provenance: { origin: "operator", colour, label: "internal" },
  };
  return { asked, events, declared, kept, take: () => takeIn(parts, request) };
}

Deno.test("an intake that fits is on record and declares the tools that the process holds, and no others; a stranger's request declares none", async () => {
  const own = bench([{ content: FITS }]);
  assert.equal(await own.take(), undefined);
  assert.deepEqual(own.declared, [[{ tool: "file_read", max: 1 }]]);
  assert.deepEqual(own.events.map(({ kind, body }) => [kind, body["risk"], body["colour"]]), [
    ["taskIntake", "low", "BLUE"],
  ]);
  assert.deepEqual(own.events[0]?.private, INTAKE.example);
  const red = bench([{ content: FITS }], "RED");
  assert.equal(await red.take(), undefined);
  assert.deepEqual(red.declared, []);
  assert.equal(red.events[0]?.body["colour"], "RED");
  // What the kernel asks is as coloured as the request that it quotes, and is not the person's.
  assert.deepEqual(red.asked[0]?.map(({ provenance }) => [provenance.origin, provenance.colour]), [
    ["kernel", "RED"],
  ]);
});

Deno.test("a call in place of an intake is answered as refused before the model is asked again", async () => {
  const id = CallId.parse("c1");
  const toolCalls = [{ id, name: ToolName.parse("file_read"), arguments: "{}" }];
  const { take, asked, events } = bench([{ content: FITS, toolCalls }, { content: FITS }]);
  assert.equal(await take(), undefined);
  assert.deepEqual(asked[1]?.map(({ role, toolCallId }) => [role, toolCallId]), [
    ["tool", "c1"],
    ["user", undefined],
  ]);
  assert.match(asked[1]?.[0]?.content ?? "", /^refusedByPolicy: /);
  assert.deepEqual(events.map(({ body }) => body["misfit"]), [true, undefined]);
});

Deno.test("after three answers that do not fit the turn ends as one whose model failed, and says why", async () => {
  const { take, asked, events } = bench([{ content: "no" }, { content: "{}" }, { content: "[]" }]);
  const end = await take();
  assert.equal(end?.stop, "upstream");
  assert.match(end?.text ?? "", /^Cannot begin the task: 3 answers .* intake@2, the last because /);
  assert.deepEqual([asked.length, events.length], [3, 3]);
});

Deno.test("what keeps the model from answering ends the turn as it ends any other; a bug does not pass for that", async () => {
  const question = "q000000000001";
  for (
    const [fault, stop] of [
      [new Fault("cancelled", "x"), "cancelled"],
      [new Fault("budgetExhausted", "x"), "budget"],
      [new Fault("budgetExhausted", "x", { detail: { brake: true } }), "brake"],
      [new Fault("timedOut", "x"), "upstream"],
      [new Fault("contextOverflow", "x"), "contextOverflow"],
      [new Fault("needsApproval", "x", { detail: { question } }), "waiting"],
    ] as const
  ) {
    assert.equal((await bench([fault]).take())?.stop, stop, fault.code);
  }
  await assert.rejects(bench([new Fault("refused", "no")]).take(), Fault);
  await assert.rejects(bench([new RangeError("bug")]).take(), RangeError);
});

Deno.test("what the intake does not name is given up, whatever the request's colour, and what is named and not held is no right", async () => {
  for (const colour of ["BLUE", "RED"] as const) {
    const { take, kept, events } = bench([{ content: FITS }], colour);
    assert.equal(await take(), undefined);
    // The example names file_edit, too, which this process does not hold.
    // Without plan_run a planned program could not begin.
    const tools = ["file_read", "patch_apply", "plan_run"];
    assert.deepEqual(kept, [{ tools, mounts: ["plans"] }]);
    assert.deepEqual(events[0]?.body["kept"], kept[0]);
    assert.deepEqual(events[0]?.body["givenUp"], { tools: 1, mounts: ["keys"] });
    assert.deepEqual(keptOf({ records: events.map(({ body }) => body) }), kept[0]);
  }
});

Deno.test("a process that gave a mount up loses its leases on it and no others; it never holds more than before", async () => {
  const table = makeProcessTable({ now: () => 0 });
  const row = table.add({
    ...{ task: TASK, session: SessionId.parse("s000000000001"), conversation: TASK },
    ...{ principal: "alice", profile: "operator", spec: "scout", mounts: MOUNTS },
    ...{ limits: DEFAULT_LIMITS, onQuestion: "ask", phase: "work", colour: "BLUE" },
    ...{ label: "internal" },
    capabilities: [{ tool: ToolName.parse("file_read"), where: { path: ["plans/"] } }],
  });
  const lease = (id: string, pid: number, resource: string, path: string) => ({
    ...{ id, pid, scope: { resource, right: "read", path } },
  });
  const revoked: string[] = [];
  const leases = {
    list: () => [
      lease("l1", row.pid, "mount", "plans"),
      lease("l2", row.pid, "mount", "keys"),
      lease("l3", row.pid, "mount", "keys/deep"),
      lease("l4", row.pid, "scratch", ""),
      lease("l5", 99, "mount", "keys"),
      // What an imported server may write lies in no mount of the task.
      lease("l6", row.pid, "mount", "out"),
    ],
    revoke(id: string): Promise<readonly []> {
      revoked.push(id);
      return Promise.resolve([]);
    },
  } as unknown as Parameters<typeof makeNarrow>[0]["leases"];
  const narrow = makeNarrow({ processes: table, leases, row });
  await narrow({ tools: ["file_read", "http_fetch"], mounts: ["plans", "elsewhere"] });
  assert.deepEqual(revoked, ["l2", "l3"]);
  assert.deepEqual(row.mounts.map(({ name }) => name), ["plans"]);
  assert.deepEqual(row.capabilities, [{ tool: "file_read", where: { path: ["plans/"] } }]);
});
