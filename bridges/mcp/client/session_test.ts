import assert from "node:assert/strict";
import { startBridge } from "../_fixture/bridge_process.ts";
import { handshake, rawLine, rawServer } from "../_fixture/raw_server.ts";
import { attack, outcomeOf } from "./_fixture/attack.ts";

Deno.test("mallory's server never answers: the call ends at its deadline and is cancelled", async () => {
  const { line } = rawServer([{ when: "tools/call", say: [] }]);
  await using bridge = await startBridge({ line });
  await bridge.open();
  assert.match(await outcomeOf(bridge, 300), /^timedOut: .*within 300 ms/);
  const sent = bridge.told.flatMap(({ op, body }) =>
    op === "send" ? [(body as { text: string }).text] : []
  );
  assert.match(sent.at(-1) ?? "", /notifications\/cancelled/);
});

Deno.test("mallory's server answers after the cancellation: that is odd, and no other call gets it", async () => {
  const late = {
    when: "notifications/cancelled",
    say: [{ jsonrpc: "2.0", id: 1, result: { content: [] } }],
  };
  const found = await attack([], { deadlineMs: 300, more: [late] });
  assert.match(found.outcome, /^timedOut/);
  assert.equal(found.after, "done");
  assert.match(found.odd.join("\n"), /request that was cancelled/);
});

Deno.test("alice cancels a call: it ends as cancelled, and the server is told", async () => {
  await using bridge = await startBridge(rawServer([{ when: "tools/call", say: [] }]));
  await bridge.open();
  const call = bridge.call("x", {}, { id: "mine" });
  bridge.tell("cancel", { id: "mine" });
  await assert.rejects(call, { code: "cancelled" });
});

Deno.test("mallory's server writes a line without an end: the session ends as gone", async () => {
  const found = await attack([{ spin: 17 * 1_048_576 }]);
  assert.match(found.outcome, /^gone/);
  assert.match(found.after, /^gone/);
  assert.match(found.odd.join("\n"), /a line of more than/);
});

Deno.test("a server that ends in the middle of a call: the call is gone, and so is the next", async () => {
  const found = await attack([{ exit: 3 }]);
  assert.match(found.outcome, /^gone: .*it exited with 3/);
  assert.match(found.after, /^gone/);
});

Deno.test("a server that ends when it is asked for its revisions: the fault says so, and the old way works", async () => {
  const rules = [{ when: "server/discover", say: [{ exit: 0 }] }, ...handshake()];
  {
    await using bridge = await startBridge(rawLine(rules));
    await assert.rejects(bridge.open(), { code: "gone", detail: { probed: true } });
  }
  await using bridge = await startBridge(rawLine(rules));
  assert.deepEqual((await bridge.open({ old: true })).protocol, "2025-11-25");
});

Deno.test("a server that is silent about its revisions is started anew, and asked the old way on a fresh pipe", async () => {
  const rules = handshake().filter(({ when }) => when !== "server/discover");
  {
    await using bridge = await startBridge(rawLine(rules));
    await assert.rejects(bridge.open({ deadlineMs: 2_000 }), {
      code: "gone",
      detail: { probed: true },
    });
  }
  await using bridge = await startBridge(rawLine(rules));
  assert.equal((await bridge.open({ old: true })).protocol, "2025-11-25");
});

Deno.test("a server that never shakes hands: opening ends at its deadline", async () => {
  await using bridge = await startBridge(rawLine([]));
  await assert.rejects(bridge.open({ deadlineMs: 400, old: true }), { code: "timedOut" });
});

Deno.test("alice reads the words twice at once: one after the other", async () => {
  const list = { jsonrpc: "2.0", id: "$id", result: { tools: [] } };
  await using bridge = await startBridge(
    rawServer([{ when: "tools/list", always: true, say: [list] }]),
  );
  await bridge.open();
  const both = await Promise.all([bridge.words(), bridge.words()]);
  assert.deepEqual(both.map(({ left }) => left), [[], []]);
});
