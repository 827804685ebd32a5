import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import { makeService } from "./_fixture/service.ts";

Deno.test("alive is not ready: a service that is not says why, in plain words", async () => {
  const service = makeService({
    asks: { ready: () => Promise.resolve({ ready: false, why: "the kernel starts" }) },
  });
  assert.equal((await service.ask("/healthz")).status, 200);
  const answer = await service.ask("/readyz");
  assert.equal(answer.status, 503);
  assert.deepEqual(await answer.json(), { ready: false, why: "the kernel starts" });
  assert.equal((await makeService().ask("/readyz")).status, 200);
});

Deno.test("metrics are for this machine, or for a token: a proxy's caller gets nothing", async () => {
  const service = makeService({ hosts: ["remit.example"] });
  const here = await service.ask("/metrics");
  assert.equal(here.status, 200);
  assert.match(here.headers.get("content-type") ?? "", /^application\/openmetrics-text/);
  for (
    const headers of [
      { "x-forwarded-for": "192.0.2.7" },
      { forwarded: "for=192.0.2.7" },
      { host: "remit.example" },
      { "x-forwarded-for": "127.0.0.1", authorization: "Bearer wrong" },
    ]
  ) {
    assert.equal((await service.ask("/metrics", { headers })).status, 404, JSON.stringify(headers));
  }
  const far = makeService({ address: "192.0.2.7" });
  assert.equal((await far.ask("/metrics")).status, 404);
  const bearer = { authorization: "Bearer bob" };
  assert.equal((await far.ask("/metrics", { headers: bearer })).status, 200);
  for (const address of ["::1", "127.8.8.8", "::ffff:127.0.0.1"]) {
    assert.equal((await makeService({ address }).ask("/metrics")).status, 200, address);
  }
});

Deno.test("a webhook's bytes and headers come through as they are, but for what is nobody's business", async () => {
  const service = makeService();
  const body = new Uint8Array([0, 255, 10, 13]);
  const answer = await service.ask("/hooks/ci", {
    method: "POST",
    body,
    headers: {
      "X-Hub-Signature-256": "sha256=00",
      cookie: "remit_page=x",
      "x-long": "a".repeat(9_000),
    },
  });
  assert.equal(answer.status, 202);
  const [call] = service.hooks;
  assert.equal(call?.path, "/hooks/ci");
  assert.deepEqual(Uint8Array.fromBase64(call?.body ?? ""), body);
  assert.equal(call?.headers["x-hub-signature-256"], "sha256=00");
  assert.equal(call?.headers["cookie"], undefined);
  assert.equal(call?.headers["x-long"], undefined);
});

Deno.test("what came of a delivery is told by its status; unknown and forged look alike", async () => {
  const told: string[] = [];
  for (const result of ["taken", "duplicate", "late", "unknown"] as const) {
    const service = makeService({ asks: { hook: () => Promise.resolve({ result }) } });
    const answer = await service.ask("/hooks/ci", { method: "POST", body: "{}" });
    told.push(`${result} ${answer.status}`);
    if (result !== "unknown") continue;
    const nowhere = await service.ask("/nowhere", { method: "POST", body: "{}" });
    assert.equal(nowhere.status, 404);
    assert.equal(await answer.text(), await nowhere.text());
    assert.deepEqual([...answer.headers].sort(), [...nowhere.headers].sort());
  }
  assert.deepEqual(told, ["taken 202", "duplicate 200", "late 400", "unknown 404"]);
  const busy = makeService({
    asks: { hook: () => Promise.reject(new Fault("unavailable", "Cannot take it: draining")) },
  });
  assert.equal((await busy.ask("/hooks/ci", { method: "POST", body: "" })).status, 503);
});

Deno.test("a webhook takes a mebibyte, and from one address so many a minute at one path", async () => {
  const service = makeService();
  const post = (
    path: string,
    body: Uint8Array<ArrayBuffer> = new Uint8Array(1),
  ): Promise<Response> => service.ask(path, { method: "POST", body });
  assert.equal((await post("/hooks/ci", new Uint8Array(1_048_576))).status, 202);
  assert.equal((await post("/hooks/ci", new Uint8Array(1_048_577))).status, 413);
  const statuses: number[] = [];
  for (let n = 0; n < 130; n++) statuses.push((await post("/hooks/ci")).status);
  assert.ok(statuses.includes(429));
  assert.equal((await post("/hooks/other")).status, 202, "another path has a measure of its own");
  service.turn(60_000);
  assert.equal((await post("/hooks/ci")).status, 202);
  for (
    const path of [
      "/hooks/",
      "/hooks/a/b",
      "/hooks/a%2fb",
      "/hooks/../mcp",
      `/hooks/${"a".repeat(65)}`,
    ]
  ) {
    const before = service.hooks.length;
    assert.ok((await post(path)).status >= 400, path);
    assert.equal(service.hooks.length, before, path);
  }
});

Deno.test("a peer is who its credential says; of whom nobody knows no body is read", async () => {
  const service = makeService();
  const post = (token: string | undefined, body = "{}"): Promise<Response> =>
    service.ask("/a2a", {
      method: "POST",
      body,
      ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
    });
  assert.equal((await post("alice", '{"a":1}')).status, 200);
  assert.equal((await post("mallory")).status, 401);
  assert.equal((await post(undefined)).status, 401);
  assert.deepEqual(service.peers, [
    { body: '{"a":1}', token: "alice", peer: "alice" },
    { body: undefined, token: "mallory" },
    { body: undefined, token: null },
  ]);
});

Deno.test("a peer asks no oftener than it may; who tries credentials is slowed down, and nobody else", async () => {
  const service = makeService();
  const get = (token: string): Promise<Response> =>
    service.ask("/a2a/v1/tasks", { headers: { authorization: `Bearer ${token}` } });
  const tries: number[] = [];
  for (let n = 0; n < 30; n++) tries.push((await get(`guess${n}`)).status);
  assert.equal(tries.filter((status) => status === 401).length, 20);
  assert.equal(tries.filter((status) => status === 429).length, 10);
  const own: number[] = [];
  for (let n = 0; n < 5; n++) own.push((await get("alice")).status);
  assert.deepEqual(own, [200, 200, 200, 429, 429]);
  service.turn(20_000);
  assert.equal((await get("alice")).status, 200);
});

Deno.test("no surface answers a page of another site, or under another name", async () => {
  const service = makeService();
  for (
    const path of [
      "/",
      "/a2a",
      "/hooks/ci",
      "/readyz",
      "/metrics",
      "/mcp",
      "/.well-known/agent-card.json",
    ]
  ) {
    for (
      const headers of [{ origin: "http://evil.example" }, { origin: "null" }, {
        host: "evil.example:7433",
      }]
    ) {
      const answer = await service.ask(path, { method: "POST", body: "{}", headers });
      assert.equal(answer.status, 403, path);
      assert.equal(answer.headers.get("access-control-allow-origin"), null);
    }
    const asked = await service.ask(path, {
      method: "OPTIONS",
      headers: { origin: "http://evil.example" },
    });
    assert.equal(asked.status, 403, path);
  }
  assert.deepEqual([service.hooks, service.peers, service.views], [[], [], []]);
});

Deno.test("a peer's stream holds up no end; what is under way does", async () => {
  const endless = new ReadableStream<Uint8Array>({ start: () => undefined });
  const taken = Promise.withResolvers<{ readonly result: "taken" }>();
  const service = makeService({
    asks: { hook: () => taken.promise },
    peers: () => new Response(endless, { headers: { "content-type": "text/event-stream" } }),
  });
  const headers = { authorization: "Bearer alice" };
  await service.ask("/a2a/v1/message:stream", { method: "POST", body: "{}", headers });
  const call = service.ask("/hooks/ci", { method: "POST", body: "{}" });
  let ended = false;
  const end = service.listening.stop().then(() => void (ended = true));
  for (let n = 0; n < 100; n++) await Promise.resolve();
  assert.equal(ended, false, "a delivery is under way");
  taken.resolve({ result: "taken" });
  await (await call).body?.cancel();
  await end;
});

Deno.test("what is not served is not there", async () => {
  const service = makeService();
  for (
    const path of [
      "/a2",
      "/.well-known/openid-configuration",
      "/hooks",
      "/task",
      "/page",
      "/login/x",
    ]
  ) {
    assert.equal((await service.ask(path)).status, 404, path);
  }
});
