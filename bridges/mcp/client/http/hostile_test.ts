import assert from "node:assert/strict";
import type { McpHttp } from "../../../../contracts/wire/wire_mcp.ts";
import {
  type BridgeProcess,
  type KernelAnswers,
  startBridge,
} from "../../_fixture/bridge_process.ts";
import { httpEcho } from "../../_fixture/servers.ts";

/** What mallory's server answers to `tools/call`, the id of which is given. */
type Attack = (id: number, request: Request) => Response | Promise<Response>;

const JSON_TYPE = { "content-type": "application/json" };
const SSE_TYPE = { "content-type": "text/event-stream" };
const result = (text: string): object => ({ content: [{ type: "text", text }] });
const answer = (id: unknown, text = "done"): string =>
  JSON.stringify({ jsonrpc: "2.0", id, result: result(text) });

/** A server of 2025-11-25 that shakes hands honestly; an address, until it is disposed of. */
function serve(attack: Attack): AsyncDisposable & { readonly url: string } {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    if (request.method === "GET") return new Response(null, { status: 405 });
    const { id, method } = JSON.parse(await request.text() || "{}");
    if (method === "tools/call") return await attack(id, request);
    if (id === undefined) return new Response(null, { status: 202 });
    const says = method === "initialize"
      ? {
        result: {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "mallory", version: "0" },
        },
      }
      : { error: { code: -32601, message: "Method not found" } };
    return new Response(JSON.stringify({ jsonrpc: "2.0", id, ...says }), { headers: JSON_TYPE });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/mcp`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function outcomeOf(bridge: BridgeProcess, deadlineMs = 100_000): Promise<string> {
  try {
    const { parts } = await bridge.call("x", {}, { deadlineMs });
    return parts.map((part) => part.kind === "text" ? part.text : part.kind).join();
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code}: ${message}`;
  }
}

async function attacked(
  attack: Attack,
  answers: KernelAnswers = {},
): Promise<{ readonly outcome: string; readonly odd: string; readonly after: string }> {
  let calls = 0;
  await using server = serve((id, request) =>
    ++calls === 1 ? attack(id, request) : new Response(answer(id), { headers: JSON_TYPE })
  );
  await using bridge = await startBridge(server, answers);
  await bridge.open();
  const outcome = await outcomeOf(bridge);
  const after = await outcomeOf(bridge);
  return { outcome, odd: bridge.odd().join("\n"), after };
}

const json = (text: string): Attack => () => new Response(text, { headers: JSON_TYPE });
const events = (text: (id: number) => string): Attack => (id) =>
  new Response(text(id), { headers: SSE_TYPE });

const forbidden = (scope: string): Response => {
  const challenge = `Bearer error="insufficient_scope", scope="${scope}"`;
  return new Response(null, { status: 403, headers: { "www-authenticate": challenge } });
};

const ATTACKS: Readonly<Record<string, readonly [Attack, RegExp, RegExp]>> = {
  "a batch": [
    (id) => new Response(`[${answer(id, "forged")}]`, { headers: JSON_TYPE }),
    /^upstream: .*batch/,
    /batch/,
  ],
  "a member twice": [
    (id) => new Response(answer(id).replace("{", '{"id":5,'), { headers: JSON_TYPE }),
    /^upstream: .*repeats a key/,
    /repeats a key/,
  ],
  "no JSON": [json("<html>"), /^upstream/, /syntax error/],
  "another type": [() => new Response("hello"), /^upstream: .*content type/, /.*/],
  "a batch in an event, then the answer": [
    events((id) => `data: [${answer(id, "forged")}]\n\ndata: ${answer(id)}\n\n`),
    /^done$/,
    /batch/,
  ],
  "a broken answer in an event": [
    events((id) => `data: {"jsonrpc":"2.0","id":${id},"result":7}\n\n`),
    /^upstream: .*no object/,
    /no object/,
  ],
  "the answer to another request in an event": [
    events((id) => `data: ${answer(id + 1, "forged")}\n\ndata: ${answer(id)}\n\n`),
    /^done$/,
    /nobody made/,
  ],
  "a redirect to another origin": [
    () => new Response(null, { status: 307, headers: { location: "http://169.254.169.254/" } }),
    /^upstream: .*HTTP 307/,
    /.*/,
  ],
  "a wish for more scopes": [
    () => forbidden("files:read mail.send"),
    /^upstream: .*`remit mcp login NAME --scope "files:read mail\.send"`/,
    /.*/,
  ],
  "a wish for scopes that a shell would run": [
    () => forbidden("$(rm -rf ~)"),
    /^upstream: .*`remit mcp login NAME` asks for them$/,
    /.*/,
  ],
  "a failure with a long text": [
    () => new Response("x".repeat(1_000_000), { status: 500 }),
    /^upstream: .{0,2100}$/,
    /.*/,
  ],
  "a list of tools in place of a result": [
    (id) =>
      new Response(JSON.stringify({ jsonrpc: "2.0", id, result: { tools: [] } }), {
        headers: JSON_TYPE,
      }),
    /^upstream: .*answered something else/,
    /.*/,
  ],
  "a result whose content is no list": [
    (id) =>
      new Response(JSON.stringify({ jsonrpc: "2.0", id, result: { content: "done" } }), {
        headers: JSON_TYPE,
      }),
    /^upstream: .*answered something else/,
    /.*/,
  ],
  "a session of seven thousand characters": [
    (id) =>
      new Response(answer(id), {
        headers: { ...JSON_TYPE, "mcp-session-id": "s".repeat(7_000) },
      }),
    /^upstream: .*id of its session/,
    /session an id of 7000 characters/,
  ],
  "a failure that says its session is gone": [
    () => new Response("no such session", { status: 404 }),
    /^upstream: .*HTTP 404/,
    /.*/,
  ],
};

for (const [what, [attack, outcome, odd]] of Object.entries(ATTACKS)) {
  Deno.test(`mallory's server at a URL answers with ${what}: the call ends so, and the next is served`, async () => {
    const found = await attacked(attack);
    assert.match(found.outcome, outcome);
    assert.match(found.odd, odd);
    assert.equal(found.after, "done");
  });
}

Deno.test("mallory's answer is longer than a message may be: the call ends, and nothing more is read", async () => {
  let sent = 0;
  const endless = (): ReadableStream<Uint8Array> =>
    new ReadableStream({
      pull(controller) {
        sent += 1_048_576;
        controller.enqueue(new Uint8Array(1_048_576).fill(120));
      },
    });
  for (const headers of [JSON_TYPE, SSE_TYPE]) {
    sent = 0;
    await using server = serve(() => new Response(endless(), { headers }));
    await using bridge = await startBridge(server);
    await bridge.open();
    assert.match(await outcomeOf(bridge, 60_000), /^(tooLarge|upstream)/);
    assert.ok(sent < 64 * 1_048_576, `${sent} bytes were read`);
    assert.match(bridge.odd().join("\n"), /more than a message may hold|event that is too long/);
  }
});

Deno.test("mallory's server never answers: the call ends at its deadline, and the request with it", async () => {
  const held = Promise.withResolvers<Response>();
  await using server = serve(() => held.promise);
  await using bridge = await startBridge(server);
  await bridge.open();
  assert.match(await outcomeOf(bridge, 300), /^timedOut/);
  held.resolve(new Response());
});

Deno.test("a server asks for a login: the fault says what alice can do, and with the token it works", async () => {
  await using running = await httpEcho(true, "sesame");
  {
    await using bridge = await startBridge(running.server);
    await assert.rejects(bridge.open({ name: "mail" }), {
      code: "upstream",
      message: /`remit mcp login mail`/,
      detail: { status: 401 },
    });
  }
  await using bridge = await startBridge(running.server, {
    headers: { authorization: "Bearer sesame" },
  });
  await bridge.open({ name: "mail" });
  assert.equal((await bridge.call("echo", { text: "in" })).parts.length, 1);
});

Deno.test("the bridge asks nothing but the server's own origin, and closes its session", async () => {
  await using running = await httpEcho(true);
  const asked: McpHttp[] = [];
  await using bridge = await startBridge(running.server, {
    onHttp: (request) => asked.push(request),
  });
  await bridge.open();
  await bridge.call("echo", { text: "a" });
  await bridge.ask("close", null);
  const { url } = running.server as { readonly url: string };
  assert.ok(asked.every((request) => request.url === url));
  const last = asked.at(-1);
  assert.equal(last?.method, "DELETE");
  assert.ok(last?.headers["mcp-session-id"] !== undefined);
  assert.ok(asked.every(({ headers }) => headers["authorization"] === undefined));
  await assert.rejects(bridge.call("echo", { text: "b" }), { code: "gone" });
});

Deno.test("a stream that breaks off is taken up where it ended", async () => {
  let broken = false;
  const seen: (string | null)[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    if (request.method === "GET") {
      const after = request.headers.get("last-event-id");
      if (after === null) return new Response(null, { status: 405 });
      seen.push(after);
      return new Response(`id: 8\ndata: ${answer(1)}\n\n`, { headers: SSE_TYPE });
    }
    const { id, method } = JSON.parse(await request.text());
    if (id === undefined) return new Response(null, { status: 202 });
    if (method === "tools/call") {
      broken = true;
      return new Response("id: 7\nretry: 100\ndata: \n\n", { headers: SSE_TYPE });
    }
    const says = method === "initialize"
      ? {
        result: {
          protocolVersion: "2025-11-25",
          capabilities: {},
          serverInfo: { name: "s", version: "0" },
        },
      }
      : { error: { code: -32601, message: "no" } };
    return new Response(JSON.stringify({ jsonrpc: "2.0", id, ...says }), { headers: JSON_TYPE });
  });
  await using bridge = await startBridge({ url: `http://127.0.0.1:${server.addr.port}/mcp` });
  await bridge.open();
  assert.equal(await outcomeOf(bridge), "done");
  assert.deepEqual([broken, seen], [true, ["7"]]);
  await server.shutdown();
});
