import assert from "node:assert/strict";
import { ServerListing } from "../../../contracts/exchange/mcp.ts";
import { McpCallResult, McpReady } from "../../../contracts/wire/wire_mcp.ts";
import { type BridgeProcess, type KernelAnswers, startBridge } from "../_fixture/bridge_process.ts";
import { httpEcho, type RunningServer, stdioEcho } from "../_fixture/servers.ts";

/** The same server, in each of the forms that a bridge meets. */
const FORMS: Readonly<Record<string, () => RunningServer | Promise<RunningServer>>> = {
  "stdio, 2026-07-28": () => stdioEcho(false),
  "stdio, 2025-11-25": () => stdioEcho(true),
  "HTTP, 2026-07-28": () => httpEcho(false),
  "HTTP, 2025-11-25": () => httpEcho(true),
};

/** Carol answers what is asked of her; a model thinks. */
const ANSWERS: KernelAnswers = {
  elicit: ({ url }) => ({
    action: "accept",
    ...(url === undefined ? { content: '{"name":"carol"}' } : {}),
  }),
  sample: ({ messages }) => ({
    model: "thinker",
    text: `${messages.length} thought`,
    stop: "endTurn",
  }),
};
const ROOTS = [{ uri: "file:///desk", name: "desk" }];

async function textOf(
  bridge: BridgeProcess,
  tool: string,
  args: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const { parts } = McpCallResult.parse(await bridge.call(tool, args));
  return parts.map((part) => part.kind === "text" ? part.text : part.kind).join();
}

for (const [form, start] of Object.entries(FORMS)) {
  const test = (
    claim: string,
    run: (bridge: BridgeProcess, running: RunningServer) => Promise<void>,
  ): void =>
    Deno.test(`alice (${form}) ${claim}`, async () => {
      await using running = await start();
      await using bridge = await startBridge(running.server, ANSWERS);
      const ready = McpReady.parse(await bridge.open({ roots: ROOTS }));
      assert.deepEqual(ready.server, { name: "echo", version: "1.2.3" });
      assert.equal(ready.protocol, form.slice(-10));
      await run(bridge, running);
      assert.deepEqual(bridge.odd(), []);
    });

  test("reads everything that the server says of itself", async (bridge) => {
    const words = ServerListing.parse(await bridge.words());
    assert.equal(words.instructions, "Say it, and hear it.");
    assert.ok(words.capabilities.includes("completions"));
    const echo = words.tools.find(({ name }) => name === "echo");
    assert.equal(echo?.title, "Echo");
    assert.deepEqual(echo?.annotations, { readOnlyHint: true, idempotentHint: true });
    assert.ok(words.tools.find(({ name }) => name === "add")?.outputSchema !== undefined);
    assert.deepEqual(words.resources.map(({ uri }) => uri), ["echo://note", "echo://bytes"]);
    assert.equal(words.templates[0]?.uriTemplate, "echo://item/{number}");
    assert.deepEqual(words.prompts.map(({ name, arguments: given }) => [name, given]), [
      ["greet", [{ name: "name", description: "Whom", required: true }]],
    ]);
    assert.deepEqual(words.left, []);
  });

  test("calls tools: texts, structured results, failures, parts of each kind", async (bridge) => {
    assert.equal(await textOf(bridge, "echo", { text: "hello" }), "hello");
    const resultSchema = '{"type":"object","properties":{"sum":{"type":"number"}}}';
    const sum = await bridge.call("add", { a: 1, b: 2 }, { resultSchema });
    assert.equal(sum.structured, '{"sum":3}');
    assert.equal((await bridge.call("fail")).isError, true);
    const { parts } = await bridge.call("picture");
    assert.deepEqual(parts.map(({ kind }) => kind), [
      ...["text", "blob", "blob", "resource", "blob", "link"],
    ]);
    await assert.rejects(bridge.call("absent"), { code: "upstream", message: /-32602/ });
  });

  test("makes many calls at once, and each has its own answer", async (bridge) => {
    const said = await Promise.all(
      Array.from({ length: 50 }, (_, index) => textOf(bridge, "echo", { text: `${index}` })),
    );
    assert.deepEqual(said, Array.from({ length: 50 }, (_, index) => `${index}`));
  });

  test("hears of progress under her call's own id", async (bridge) => {
    await bridge.call("steps", { count: 3 }, { id: "mine" });
    const steps = bridge.told.filter(({ op }) => op === "progress").map(({ body }) => body);
    assert.deepEqual(
      steps,
      [1, 2, 3].map((step) => ({ id: "mine", progress: step, total: 3, message: `step ${step}` })),
    );
  });

  test("is asked, as a person, for a form and for a visit", async (bridge) => {
    assert.equal(await textOf(bridge, "ask"), '{"name":"carol"}');
    assert.match(await textOf(bridge, "visit"), /"action":"accept"/);
    const asked = bridge.told.filter(({ op }) => op === "elicit").map(({ body }) =>
      body as Record<string, string>
    );
    assert.deepEqual(asked.map(({ message, url }) => [message, url]), [
      ["Who are you?", undefined],
      ["Please sign in.", "https://example.com/sign-in"],
    ]);
    assert.ok(asked.every(({ call }) => call?.startsWith("c")));
  });

  test("lends a model, and names her folders", async (bridge) => {
    assert.match(await textOf(bridge, "think"), /1 thought/);
    assert.match(await textOf(bridge, "roots"), /file:\/\/\/desk/);
    const [asked] = bridge.told.filter(({ op }) => op === "sample");
    assert.deepEqual(asked?.body, {
      call: "c1",
      system: "Be short.",
      messages: [{ role: "user", text: "What is it?" }],
      maxTokens: 100,
    });
  });

  test("reads resources, gets prompts, completes arguments", async (bridge) => {
    const deadlineMs = 100_000;
    const ask = (op: string, body: object): Promise<unknown> =>
      bridge.ask(op, { id: op, deadlineMs, ...body });
    assert.deepEqual(await ask("read", { uri: "echo://bytes" }), {
      isError: false,
      parts: [{
        ...{ kind: "blob", what: "resource", mimeType: "application/x-bytes", data: "AAEC" },
        uri: "echo://bytes",
      }],
      cutBytes: 0,
    });
    await assert.rejects(ask("read", { uri: "echo://absent" }), { code: "upstream" });
    const prompt = McpCallResult.parse(
      await ask("prompt", { name: "greet", args: { name: "bob" } }),
    );
    assert.deepEqual(prompt.parts.map((part) => part.kind === "text" && part.text), [
      ...["user:", "Greet bob.", "assistant:", "Hello, bob."],
    ]);
    const complete = { argument: "name", value: "al", ref: { prompt: "greet" } };
    assert.deepEqual(await ask("complete", complete), { values: ["alice", "alan"] });
    const number = { argument: "number", value: "12", ref: { template: "echo://item/{number}" } };
    assert.deepEqual(await ask("complete", number), { values: ["12", "123"] });
  });

  test("hears the log at the level that she wishes", async (bridge) => {
    bridge.tell("level", { level: "error" });
    await bridge.call("log", { text: "unheard" });
    bridge.tell("level", { level: "debug" });
    await bridge.call("log", { text: "heard" });
    const said = await bridge.until(({ op }) => op === "log");
    assert.deepEqual(said.body, { level: "warning", text: "echo: heard" });
  });

  test("cancels a call, and the server hears of it", async (bridge, running) => {
    const call = bridge.call("wait", {}, { id: "mine" });
    await bridge.until(({ op }) => op === "progress");
    bridge.tell("cancel", { id: "mine" });
    await assert.rejects(call, { code: "cancelled" });
    await until(() => `${bridge.errors()}${running.errors()}`.includes("cancelled"), bridge);
    assert.equal(await textOf(bridge, "echo", { text: "after" }), "after");
  });

  test("has a call end at its deadline", async (bridge) => {
    await assert.rejects(bridge.call("wait", {}, { deadlineMs: 200 }), { code: "timedOut" });
  });

  // Over HTTP, 2026-07-28, each request has a server of its own: none grows.
  if (form !== "HTTP, 2026-07-28") {
    test("is told when the server's tools change", async (bridge) => {
      await bridge.call("grow");
      assert.deepEqual((await bridge.until(({ op }) => op === "changed")).body, { what: "tools" });
      assert.ok((await bridge.words()).tools.some(({ name }) => name === "grown"));
    });
  }
}

Deno.test("alice changes her folders: an old server is told, and asks", async () => {
  await using running = stdioEcho(true);
  await using bridge = await startBridge(running.server, ANSWERS);
  await bridge.open({ roots: ROOTS });
  bridge.tell("roots", []);
  assert.equal(await textOf(bridge, "roots"), '{"kind":"roots","roots":[]}');
  assert.ok(
    bridge.told.some(({ op, body }) =>
      op === "send" && JSON.stringify(body).includes("notifications/roots/list_changed")
    ),
  );
});

Deno.test("mallory gets neither a person nor a model where none was allowed", async () => {
  for (const old of [false, true]) {
    await using running = stdioEcho(old);
    await using bridge = await startBridge(running.server);
    await bridge.open();
    for (const tool of ["ask", "think"]) {
      const outcome = await textOf(bridge, tool).catch(({ code }) => code);
      assert.doesNotMatch(outcome, /"carol"|1 thought/);
    }
    assert.ok(!bridge.told.some(({ op }) => op === "elicit" || op === "sample"));
  }
});

Deno.test("a bridge of the pool has warmed itself, and serves as any other", async () => {
  await using running = stdioEcho(false);
  await using bridge = await startBridge(running.server, ANSWERS, { pooled: true });
  await bridge.open();
  assert.equal(await textOf(bridge, "echo", { text: "warm" }), "warm");
});

Deno.test("a bridge is opened once", async () => {
  await using running = stdioEcho(false);
  await using bridge = await startBridge(running.server);
  await assert.rejects(bridge.words(), { code: "gone" });
  await bridge.open();
  await assert.rejects(bridge.open(), { code: "conflict" });
  await assert.rejects(bridge.ask("pwn", null), { code: "invalidInput" });
});

/** Waits for something that the bridge does not tell: at most so many round trips. */
async function until(done: () => boolean, bridge: BridgeProcess): Promise<void> {
  for (let trips = 0; !done(); trips++) {
    assert.ok(trips < 200, "it never came");
    await bridge.words();
  }
}
