import { deepEqual, equal, rejects } from "node:assert/strict";
import { Fault, type Json, type JsonObject } from "../../../contracts/base/mod.ts";
import type { Child } from "../../core/child/child.ts";
import { makeMcpProxies } from "./proxies.ts";
import type { AnswerNet, HearNet } from "../net/net_service.ts";

function bench(paths: readonly string[], fails = false) {
  const asked: [string, JsonObject][] = [], hearing = new Map<string, HearNet>();
  const answering = new Map<string, AnswerNet>();
  const child = {
    port: {
      ask(op: string, body: JsonObject): Promise<Json> {
        asked.push([op, body]);
        return fails && op === "proxyOpen"
          ? Promise.reject(new Fault("refused", "Cannot listen"))
          : Promise.resolve(null);
      },
    },
  } as unknown as Child;
  let ids = 0;
  const proxies = makeMcpProxies(paths, {
    freshId: () => `p${++ids}`,
    provide: () => Promise.resolve(child),
    listen(id, hear, answer) {
      hearing.set(id, hear);
      if (answer !== undefined) answering.set(id, answer);
      return () => void hearing.delete(id);
    },
  });
  return { proxies, asked, hearing, answering };
}

const allow = [{ host: "example.org:443", named: false }];

Deno.test("each way out has a socket of its own, which the next one gets when it is closed", async () => {
  const { proxies, asked } = bench(["/run/p0"]);
  const first = await proxies.open({ allow, on: () => undefined });
  equal(first.path, "/run/p0");
  const waiting = proxies.open({ allow: [], on: () => undefined });
  first.close();
  first.close();
  equal((await waiting).path, "/run/p0");
  deepEqual(asked.map(([op, { id }]) => [op, id]), [
    ["proxyOpen", "p1"],
    ["proxyClose", "p1"],
    ["proxyOpen", "p2"],
  ]);
  deepEqual(asked[0]?.[1]["allow"], allow);
});

Deno.test("a way out that does not open gives its socket back, and without sockets there is none", async () => {
  const { proxies, hearing } = bench(["/run/p0"], true);
  for (let i = 0; i < 3; i++) {
    await rejects(proxies.open({ allow, on: () => undefined }), /Cannot listen/);
  }
  equal(hearing.size, 0);
  const none = bench([]).proxies.open({ allow, on: () => undefined });
  await rejects(none, (error: unknown) => error instanceof Fault && error.code === "unavailable");
});

Deno.test("connections are told to whoever opened the way, and nonsense to nobody", async () => {
  const { proxies, hearing } = bench(["/run/p0"]);
  const told: unknown[] = [];
  const proxy = await proxies.open({ allow, on: (event) => void told.push(event) });
  const hear = hearing.get("p1");
  hear?.("proxied", { id: "p1", host: "evil.example:443", ok: false, why: "not granted" });
  hear?.("proxied", { id: "p1", host: 4 });
  hear?.("else", { id: "p1", host: "a", ok: true });
  deepEqual(told, [{ id: "p1", host: "evil.example:443", ok: false, why: "not granted" }]);
  proxy.close();
  equal(hearing.size, 0);
});

Deno.test("what a metered way sends is counted by whoever opened it; of another way, and what does not parse, nothing is", async () => {
  const { proxies, asked, answering } = bench(["/run/p0", "/run/p1"]);
  const counted: unknown[] = [];
  await proxies.open({
    ...{ allow, on: () => undefined },
    spend(wanted) {
      counted.push(wanted);
      return Promise.resolve(wanted.most);
    },
  });
  await proxies.open({ allow, on: () => undefined });
  deepEqual(asked.map(([, { metered }]) => metered), [true, undefined]);
  const first = answering.get("p1"), second = answering.get("p2");
  deepEqual(await first?.("proxySpend", { id: "p1", need: 5, most: 4_096 }), { bytes: 4_096 });
  const refused: readonly (readonly [AnswerNet | undefined, string, JsonObject])[] = [
    [first, "proxySpend", { id: "p1", need: -5, most: 4_096 }],
    [first, "proxySpend", { id: "p1", need: 1, most: 1e9 }],
    [first, "proxySpend", { id: "p1", need: 1.5, most: 2 }],
    [first, "else", { id: "p1", need: 1, most: 1 }],
    [second, "proxySpend", { id: "p2", need: 1, most: 1 }],
  ];
  for (const [answer, op, body] of refused) {
    await rejects(answer?.(op, body) ?? Promise.resolve(), /does not parse/);
  }
  deepEqual(counted, [{ need: 5, most: 4_096 }]);
});
