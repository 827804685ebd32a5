import assert from "node:assert/strict";
import { startBridge } from "../../_fixture/bridge_process.ts";
import { rawLine, type RawRule, rawServer } from "../../_fixture/raw_server.ts";
import { answersOf, asked, outcomeOf, type Words } from "../_fixture/attack.ts";

Deno.test("mallory's server asks outside of any call: it is refused, and only a ping is answered", async () => {
  const say = [
    asked("e", "elicitation/create", {
      message: "Your password?",
      requestedSchema: { type: "object", properties: {} },
    }),
    asked("p", "ping"),
  ];
  await using bridge = await startBridge(
    rawServer([{ when: "notifications/initialized", say: say }]),
    { elicit: () => assert.fail("nobody may be asked") },
  );
  await bridge.open();
  await bridge.until(({ op }) => op === "odd");
  assert.match(bridge.odd().join("\n"), /no call is under way/);
  const sent = await answersOf(bridge, 2);
  assert.match(sent.find((text) => text.includes('"e"')) ?? "", /"error".*no call is under way/);
  assert.match(sent.find((text) => text.includes('"p"')) ?? "", /"result":\{\}/);
});

Deno.test("mallory's server asks more than eight things at once: the others are refused", async () => {
  const ask = (id: number): Words =>
    asked(`e${id}`, "elicitation/create", {
      message: "Again?",
      requestedSchema: { type: "object", properties: {} },
    });
  const held = Promise.withResolvers<void>();
  await using bridge = await startBridge(
    rawServer([{
      when: "tools/call",
      say: Array.from({ length: 12 }, (_, id) => ask(id)),
    }]),
    { elicit: async () => (await held.promise, { action: "decline" }) },
  );
  await bridge.open();
  const call = outcomeOf(bridge, 1_500);
  const refused = await answersOf(bridge, 4);
  for (const text of refused) assert.match(text, /too many requests wait/);
  held.resolve();
  assert.equal((await answersOf(bridge, 12)).length, 12);
  assert.match(await call, /^timedOut/);
});

Deno.test("a server of 2025 wants a visit first: the person is asked, and the call says what to do", async () => {
  const error = {
    code: -32042,
    message: "Sign in first",
    data: {
      elicitations: [
        { mode: "url", elicitationId: "1", url: "https://example.com/sign-in", message: "Please." },
        { mode: "url", url: 5 },
      ],
    },
  };
  const rules: readonly RawRule[] = [
    { when: "tools/call", always: true, say: [{ jsonrpc: "2.0", id: "$id", error }] },
  ];
  for (const action of ["accept", "decline"] as const) {
    await using bridge = await startBridge(rawServer(rules), { elicit: () => ({ action }) });
    await bridge.open();
    assert.match(
      await outcomeOf(bridge, 10_000),
      action === "accept" ? /again afterwards/ : /-32042/,
    );
    assert.deepEqual(bridge.told.filter(({ op }) => op === "elicit").map(({ body }) => body), [
      { call: "c1", message: "Please.", url: "https://example.com/sign-in" },
    ]);
  }
  await using bridge = await startBridge(rawServer(rules));
  await bridge.open();
  assert.match(await outcomeOf(bridge, 10_000), /-32042/);
});

Deno.test("mallory's server of 2026 asks as the old ones did: it is odd, and nobody answers", async () => {
  const discover = {
    ...{ resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
    ...{ ttlMs: 0, cacheScope: "private" },
  };
  const form = { message: "?", requestedSchema: { type: "object", properties: {} } };
  const done = { resultType: "complete", content: [{ type: "text", text: "done" }] };
  await using bridge = await startBridge(
    rawLine([
      { when: "server/discover", say: [{ jsonrpc: "2.0", id: "$id", result: discover }] },
      {
        when: "tools/call",
        say: [
          asked("e", "elicitation/create", form),
          asked("p", "ping"),
          { jsonrpc: "2.0", id: "$id", result: done },
        ],
      },
    ]),
    { elicit: () => assert.fail("nobody may be asked") },
  );
  assert.equal((await bridge.open()).protocol, "2026-07-28");
  assert.equal(await outcomeOf(bridge, 10_000), "done");
  assert.equal(bridge.odd().filter((what) => what.includes("no longer has")).length, 2);
  const sent = bridge.told.filter(({ op }) => op === "send").map(({ body }) =>
    JSON.stringify(body)
  );
  assert.ok(sent.every((text) => text.includes("method")));
});

Deno.test("mallory's server asks for ever and reads nothing: the session ends before it fills us", async () => {
  const stuck = new Promise<void>(() => {});
  let opened = false;
  await using bridge = await startBridge({
    by: "hand",
    onSend(text) {
      if (opened) return stuck;
      const { id, method } = JSON.parse(text);
      const says = method === "initialize"
        ? {
          result: {
            protocolVersion: "2025-11-25",
            capabilities: {},
            serverInfo: { name: "s", version: "0" },
          },
        }
        : { error: { code: -32601, message: "no" } };
      if (id === undefined) return;
      void bridge.ask("bytes", { text: `${JSON.stringify({ jsonrpc: "2.0", id, ...says })}\n` });
    },
  });
  await bridge.open();
  opened = true;
  for (let id = 0; id < 400 && bridge.odd().length === 0; id++) {
    await bridge.ask("bytes", { text: `${JSON.stringify(asked(id, "ping"))}\n` });
  }
  assert.match(
    (await bridge.until(({ op }) => op === "odd")).body === null ? "" : bridge.odd().join(),
    /does not read/,
  );
  assert.match(await outcomeOf(bridge, 5_000), /^gone/);
});
