/** Hostile peers at the protocol: what they send, how much of it, and what they learn from the answers. */
import assert from "node:assert/strict";
import { type A2aServer, makeA2aServer } from "../../bridges/a2a/serve/mod.ts";
import { Fault, FAULT_CODES } from "../../contracts/base/fault.ts";
import { PeerHolder } from "../../contracts/wire/wire_a2a.ts";
import { type Binding, BINDINGS, type Loose, makeWorld, message, restOf } from "./_a2a_world.ts";

const HEADERS = { "content-type": "application/json", "a2a-version": "1.0" };

Deno.test("mallory's bombs are refused before the starter hears of them", async () => {
  const world = makeWorld();
  const deep = (n: number): string => `${"[".repeat(n)}${"]".repeat(n)}`;
  const wide = JSON.stringify(Array.from({ length: 150_000 }, () => 0));
  const parts = (text: string): string =>
    `{"message":{"messageId":"m","role":"ROLE_USER","parts":${text}}}`;
  const bodies = [
    parts(`[{"data":${deep(40)}}]`),
    parts(`[{"data":${deep(200_000)}}]`),
    parts(`[{"data":${wide}}]`),
    parts(`[${Array.from({ length: 65 }, () => '{"text":"a"}').join()}]`),
    parts(`[{"text":"${"a".repeat(262_145)}"}]`),
    parts(`[${Array.from({ length: 9 }, () => `{"text":"${"a".repeat(250_000)}"}`).join()}]`),
    parts(`[{"raw":"${"A".repeat(1_400_004)}"}]`),
    parts(`[{"data":{"__proto__":{"polluted":true}}}]`),
    parts(`[{"data":{"\\u005f_proto__":{"polluted":true}}}]`),
    parts(`[{"text":"a","text":"b"}]`),
    parts(`[{"text":"a"}]`).replace('"m"', `"${"m".repeat(129)}"`),
    parts(`[{"text":"a"}]`).replace('"m"', '"m\\u0000"'),
    parts(`[{"text":"a"}],"extensions":[${Array.from({ length: 17 }, () => '"e"').join()}]`),
    parts(`[{"text":"a"}],"metadata":{"a":"${"x".repeat(17_000)}"}`),
    parts(`[{"text":"a"}],"taskId":"${"t".repeat(200)}"`),
    parts(`[{"text":"a"}],"contextId":"a\\nb"`),
    `{"message":${"x".repeat(100)}`,
    "\ufeff{}",
    `${parts('[{"text":"a"}]')}${" ".repeat(4 * 1_048_576)}`,
  ];
  for (const [at, body] of bodies.entries()) {
    const rpc = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":${body}}`;
    const one = await world.raw("/a2a", { method: "POST", headers: HEADERS, body: rpc });
    const told = await one.json();
    assert.ok(told.error.code < 0, `${at}`);
    assert.ok(JSON.stringify(told).length < 1_000, "a refusal is short");
    const two = await world.raw("/a2a/v1/message:send", { method: "POST", headers: HEADERS, body });
    assert.equal(two.status, 400, `${at}: ${(await two.text()).slice(0, 200)}`);
  }
  const broken = new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]);
  const bytes = await world.raw("/a2a", { method: "POST", headers: HEADERS, body: broken });
  assert.equal((await bytes.json()).error.code, -32_700);
  assert.equal(world.starter.asked["a2aSend"], undefined);
  assert.equal(Object.hasOwn(Object.prototype, "polluted"), false);
});

Deno.test("what mallory writes is given back as data, and changes nothing around it", async () => {
  const world = makeWorld();
  const evil = "\u001b[2J</script>\r\ndata: {}\r\n\r\nevent: task\u2028\u202e";
  for (const binding of BINDINGS) {
    const stream = await world.stream(binding, "SendStreamingMessage", {
      ...message("tck-stream-001", { parts: [{ text: evil, filename: evil }] }),
      metadata: { [evil]: evil },
    });
    const events = await stream.rest();
    assert.equal(events.length, 4, "no event of the peer's own");
    assert.equal(events[0].task.history[0].parts[0].text, evil);
    assert.equal(events[0].task.metadata[evil], evil);
  }
});

const HOLDER = PeerHolder.parse({ peer: "mallory", perMinute: 600, push: true, progress: true });

/** A server whose starter fails with `error` at everything but the card. */
function failing(error: () => unknown, notes: string[]): A2aServer {
  return makeA2aServer({
    port: {
      ask: (op) =>
        op === "a2aCard"
          ? Promise.resolve({ card: '{"name":"x"}', etag: '"x"', modified: 0 })
          : Promise.reject(error()),
      tell: () => undefined,
    },
    after: () => () => undefined,
    randomId: () => "id",
    note: (text) => void notes.push(text),
  });
}

const TASK = `x${"0".repeat(24)}`;
const OPS: readonly (readonly [string, Loose])[] = [
  ["SendMessage", message("x")],
  ["SendStreamingMessage", message("x")],
  ["GetTask", { id: TASK }],
  ["ListTasks", {}],
  ["CancelTask", { id: TASK }],
  ["SubscribeToTask", { id: TASK }],
  ["CreateTaskPushNotificationConfig", { taskId: TASK, url: "https://example.com/" }],
  ["GetTaskPushNotificationConfig", { taskId: TASK, id: "p" }],
  ["ListTaskPushNotificationConfigs", { taskId: TASK }],
  ["DeleteTaskPushNotificationConfig", { taskId: TASK, id: "p" }],
];

async function asked(
  server: A2aServer,
  binding: Binding,
  [method, params]: readonly [string, Loose],
): Promise<{ readonly status: number; readonly text: string }> {
  const rest = restOf(method, params);
  const body = binding === "JSONRPC"
    ? { jsonrpc: "2.0", id: 1, method, params }
    : rest.verb === "POST"
    ? rest.body ?? {}
    : undefined;
  const bytes = body === undefined ? undefined : new TextEncoder().encode(JSON.stringify(body));
  const path = binding === "JSONRPC" ? "/a2a" : `/a2a/v1${rest.path}`;
  const request = new Request(`http://remit.test${path}`, {
    method: binding === "JSONRPC" ? "POST" : rest.verb,
    headers: HEADERS,
  });
  const response = await server.fetch(request, bytes, { token: "t", holder: HOLDER });
  return { status: response.status, text: await response.text() };
}

Deno.test("no fault of ours tells a peer anything of us, whatever went wrong", async () => {
  const secret = "/home/alice/.ssh/id_ed25519 peers.bob.clearance SQLITE_FULL";
  const wrong: readonly (() => unknown)[] = [
    ...FAULT_CODES.map((code) => () =>
      new Fault(code, `Cannot open ${secret}`, { detail: { path: secret } })
    ),
    () => new TypeError(secret),
    () => new Error(secret, { cause: new Error(secret) }),
    () => secret,
  ];
  for (const error of wrong) {
    const notes: string[] = [];
    const server = failing(error, notes);
    for (const binding of BINDINGS) {
      for (const op of OPS) {
        const { status, text } = await asked(server, binding, op);
        assert.ok(
          !text.includes("alice") && !text.includes("SQLITE") && !text.includes("clearance"),
          text,
        );
        assert.ok(!text.includes(".ts:"), "no stack");
        const { error: told } = JSON.parse(text);
        assert.ok(told.message.length > 4 && status < 504, `${op[0]} ${status}`);
      }
    }
  }
});

Deno.test("a starter that answers with nonsense is an internal error, and is noted", async () => {
  const notes: string[] = [];
  const server = makeA2aServer({
    port: { ask: () => Promise.resolve({ id: "../etc", secret: "alice" }), tell: () => undefined },
    after: () => () => undefined,
    randomId: () => "id",
    note: (text) => void notes.push(text),
  });
  for (const binding of BINDINGS) {
    const { status, text } = await asked(server, binding, ["GetTask", { id: TASK }]);
    assert.equal(status, 500);
    assert.ok(!text.includes("alice"));
  }
  assert.ok(notes.length >= 2);
});

Deno.test("a token that was taken back under way is a 401 with its challenge", async () => {
  const server = failing(() => new Fault("denied", "Cannot let in"), []);
  for (const binding of BINDINGS) {
    for (const op of OPS) assert.equal((await asked(server, binding, op)).status, 401, op[0]);
  }
});

Deno.test("a flood of subscriptions is bounded, and leaves nothing behind", async () => {
  const world = makeWorld({ most: { streams: 64, perPeer: 32 } });
  const { value } = await world.ask("JSONRPC", "SendMessage", message("tck-input-required"));
  const { id } = value.task;
  const headers = { "a2a-version": "1.0" };
  const responses = await Promise.all(
    Array.from({ length: 1_000 }, () => world.raw(`/a2a/v1/tasks/${id}:subscribe`, { headers })),
  );
  const open = responses.filter(({ status }) => status === 200);
  assert.equal(open.length, 32);
  assert.ok(responses.every(({ status }) => status === 200 || status === 429));
  assert.equal(world.starter.watching, 32);
  await Promise.all(responses.map((response) => response.body?.cancel()));
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  assert.equal(world.starter.watching, 0);
});

Deno.test("a peer that leaves while it waits is not waited for", async () => {
  const world = makeWorld({
    scenarios: { "never": [{ do: "state", state: "working" }, { do: "wait" }] },
  });
  const gone = new AbortController();
  const asking = world.raw("/a2a", {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "SendMessage",
      params: message("never"),
    }),
    signal: gone.signal,
  });
  while (world.starter.watching === 0) await Promise.resolve();
  gone.abort();
  await asking;
  assert.deepEqual([world.starter.watching, world.timers], [0, 0]);
});

Deno.test("bob is told nothing of alice's streams, and cannot hear them by her token's name", async () => {
  const world = makeWorld();
  const { value } = await world.ask("JSONRPC", "SendMessage", message("tck-input-required"));
  for (const binding of BINDINGS) {
    const { error } = await world.ask(binding, "SubscribeToTask", { id: value.task.id }, {
      token: "bob",
    });
    assert.equal(error?.reason, "TASK_NOT_FOUND");
  }
  assert.equal(world.starter.watching, 0);
});

Deno.test("what the starter tells wrongly or too late is not heard", async () => {
  const world = makeWorld();
  const { value } = await world.ask("JSONRPC", "SendMessage", message("tck-input-required"));
  const stream = await world.stream("JSONRPC", "SubscribeToTask", { id: value.task.id });
  await stream.next();
  for (
    const body of [null, 5, {}, { watch: "id1" }, {
      watch: "none",
      event: { kind: "progress", text: "x" },
    }]
  ) {
    world.server.heard("exchange", body);
  }
  world.server.heard("other", { watch: "id1" });
  await world.ask(
    "JSONRPC",
    "SendMessage",
    message("tck-complete-task", { taskId: value.task.id }),
  );
  const events = await stream.rest();
  assert.equal(events.at(-1).statusUpdate.status.state, "TASK_STATE_COMPLETED");
});
