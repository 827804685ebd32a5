import assert from "node:assert/strict";
import { callerOf, makeFairPort, makeRates, rememberAdmitted } from "./rates.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type { Json } from "../../contracts/base/json.ts";

Deno.test("mallory with a network of her own is one caller, whatever address of it she comes from", () => {
  const one = callerOf("2001:db8:1:2::1");
  assert.equal(callerOf("2001:db8:1:2:ffff:ffff:ffff:ffff"), one);
  assert.equal(callerOf("2001:0db8:0001:0002:0:0:0:9"), one);
  assert.notEqual(callerOf("2001:db8:1:3::1"), one);
  assert.notEqual(callerOf("::1"), callerOf("fe80::1"));
});

Deno.test("addresses of IPv4 are each one, also as IPv6 writes them", () => {
  assert.equal(callerOf("192.0.2.1"), "192.0.2.1");
  assert.equal(callerOf("::ffff:192.0.2.1"), callerOf("::ffff:c000:201"));
  assert.notEqual(callerOf("::ffff:192.0.2.1"), callerOf("::ffff:192.0.2.2"));
  assert.equal(callerOf("unknown"), "unknown");
});

Deno.test("a bucket empties, fills with time, and is each one's own", () => {
  let now = 0;
  const rates = makeRates(60, () => now);
  for (let n = 0; n < 60; n++) assert.equal(rates.take("mallory"), true);
  assert.equal(rates.take("mallory"), false);
  assert.equal(rates.take("alice"), true);
  now = 999;
  assert.equal(rates.take("mallory"), false, "asking again does not help");
  now = 2_000;
  assert.equal(rates.take("mallory"), true);
});

Deno.test("ten thousand names later the oldest are forgotten, and no more are kept", () => {
  const rates = makeRates(1, () => 0);
  assert.equal(rates.take("first"), true);
  assert.equal(rates.take("first"), false);
  for (let n = 0; n < 10_000; n++) rates.take(`n${n}`);
  assert.equal(rates.take("first"), true);
});

Deno.test("who was let in is asked about again after five seconds, and whoever was not each time", async () => {
  let now = 0;
  const asked: string[] = [];
  const admit = rememberAdmitted((token: string) => {
    asked.push(token);
    return token.startsWith("wrong")
      ? Promise.reject(new Error("denied"))
      : Promise.resolve(`peer of ${token}`);
  }, () => now);
  assert.equal(await admit("alice"), "peer of alice");
  assert.equal(await admit("alice"), "peer of alice");
  await assert.rejects(admit("wrong"));
  await assert.rejects(admit("wrong"));
  assert.deepEqual(asked, ["alice", "wrong", "wrong"]);
  now = 5_000;
  await admit("alice");
  assert.equal(asked.length, 4);
});

Deno.test("a thousand are known and no more", async () => {
  const asked: string[] = [];
  const admit = rememberAdmitted((token: string) => {
    asked.push(token);
    return Promise.resolve(token);
  }, () => 0);
  for (let n = 0; n < 1_001; n++) await admit(`t${n}`);
  await admit("t1000");
  await admit("t0");
  assert.deepEqual(asked.slice(1_000), ["t1000", "t0"]);
});

/** A starter that answers when it is told to. */
function slow(): {
  readonly port: { ask(op: string, body: Json): Promise<Json>; tell(): void };
  readonly waiting: (() => void)[];
} {
  const waiting: (() => void)[] = [];
  const ask = (): Promise<Json> =>
    new Promise((resolve, reject) =>
      waiting.push(() =>
        waiting.length % 2 === 0 ? resolve(null) : reject(new Fault("denied", "Cannot"))
      )
    );
  return { port: { ask, tell: () => undefined }, waiting };
}

const limited = { code: "rateLimited" };

Deno.test("mallory's requests at once stop at her share, and alice, a webhook and the page are asked for", async () => {
  const { port, waiting } = slow();
  const fair = makeFairPort(port);
  const ask = (token: string): Promise<Json> => fair.ask("a2aGet", { token });
  const hers = Array.from({ length: 256 }, () => ask("mallory"));
  await assert.rejects(ask("mallory"), limited);
  const others = [ask("alice"), fair.ask("hook", { path: "/hooks/ci" }), fair.ask("ready", null)];
  assert.equal(waiting.length, 259);
  for (const end of waiting.splice(0)) end();
  await Promise.allSettled([...hers, ...others]);
  const again = ask("mallory");
  for (const end of waiting) end();
  await again.catch(() => undefined);
  assert.equal(waiting.length, 1, "what is over, well or not, is not counted");
});

Deno.test("many credentials that mallory made up leave room for who has none", async () => {
  const { port, waiting } = slow();
  const fair = makeFairPort(port);
  const tried = Array.from({ length: 464 }, (_, at) => fair.ask("a2aAdmit", { token: `t${at}` }));
  const late = await Promise.allSettled(tried.slice(448));
  assert.ok(late.every((each) => each.status === "rejected" && each.reason.code === "rateLimited"));
  const page = fair.ask("pageView", { session: "s" });
  assert.equal(waiting.length, 449);
  for (const end of waiting.splice(0)) end();
  await Promise.allSettled([...tried, page]);
});
