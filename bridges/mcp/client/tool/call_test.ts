import assert from "node:assert/strict";
import { startBridge } from "../../_fixture/bridge_process.ts";
import { ANSWER, type RawRule, rawServer } from "../../_fixture/raw_server.ts";

const CAPABILITIES = { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } };
const says = (result: object): RawRule["say"] => [{ jsonrpc: "2.0", id: "$id", result }];
const task = (status: string): object => ({
  ...{ taskId: "t1", status, ttl: 60_000, pollInterval: 1 },
  ...{ createdAt: "2026-01-01T00:00:00Z", lastUpdatedAt: "2026-01-01T00:00:00Z" },
});
const LIST: RawRule = {
  when: "tools/list",
  always: true,
  say: says({
    tools: [
      { name: "long", inputSchema: { type: "object" }, execution: { taskSupport: "required" } },
      { name: "short", inputSchema: { type: "object" }, execution: { taskSupport: "optional" } },
    ],
  }),
};

Deno.test("a tool that must run as a task is polled to its end, also when nobody read the list before", async () => {
  await using bridge = await startBridge(rawServer([
    LIST,
    { when: "tools/call", say: says({ task: task("working") }) },
    { when: "tasks/get", say: says(task("working")) },
    { when: "tasks/get", say: says(task("completed")) },
    { when: "tasks/result", say: says({ content: [{ type: "text", text: "at last" }] }) },
  ], CAPABILITIES));
  await bridge.open();
  const { parts } = await bridge.call("long", {}, { deadlineMs: 90_000 });
  assert.deepEqual(parts, [{ kind: "text", text: "at last" }]);
  const sent = bridge.told.flatMap(({ op, body }) =>
    op === "send" ? [JSON.parse((body as { text: string }).text)] : []
  );
  const call = sent.find(({ method }) => method === "tools/call");
  assert.deepEqual(call.params.task, { ttl: 90_000 });
  assert.equal(sent.filter(({ method }) => method === "tasks/get").length, 2);
});

Deno.test("a tool that may run as a task does not", async () => {
  await using bridge = await startBridge(
    rawServer([LIST, { when: "tools/call", say: [ANSWER] }], CAPABILITIES),
  );
  await bridge.open();
  await bridge.words();
  assert.deepEqual((await bridge.call("short")).parts, [{ kind: "text", text: "done" }]);
});

Deno.test("a task that never ends is cancelled at the call's deadline", async () => {
  await using bridge = await startBridge(rawServer([
    LIST,
    { when: "tools/call", say: says({ task: task("working") }) },
    { when: "tasks/get", always: true, say: says(task("working")) },
    { when: "tasks/cancel", say: says(task("cancelled")) },
  ], CAPABILITIES));
  await bridge.open();
  await bridge.words();
  await assert.rejects(bridge.call("long", {}, { deadlineMs: 3_000 }), { code: "timedOut" });
  await bridge.ask("bytes", { text: "" });
  const sent = bridge.told.map(({ body }) => JSON.stringify(body)).join("\n");
  assert.match(sent, /tasks\/cancel[^]*t1/);
});

Deno.test("mallory's task without a name is a fault", async () => {
  await using bridge = await startBridge(rawServer([
    LIST,
    { when: "tools/call", say: says({ task: { status: "working", taskId: 5 } }) },
  ], CAPABILITIES));
  await bridge.open();
  await assert.rejects(bridge.call("long"), { code: "upstream", message: /no proper task/ });
});
