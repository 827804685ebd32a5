import assert from "node:assert/strict";
import { Fault, type Json, toJson } from "../../contracts/base/mod.ts";
import type { PushCounts } from "../trace/metrics.ts";
import { pauseFor, pushHeaders, startPushes } from "./pushes.ts";

const DAY = 86_400_000;
const due = (more: object = {}, config: object = {}) => ({
  exchange: {
    ...{ id: `x${"1".repeat(24)}`, context: "c1", peer: "alice", agent: "agent", state: "working" },
    ...{ entry: `m${"1".repeat(12)}`, history: [], artifacts: [], pushes: [] },
    ...{ version: 4, createdAt: 0, updatedAt: 0 },
  },
  config: { id: "p1", url: "https://a.example/hook", ...config },
  ...{ version: 4, attempt: 0, event: null, ...more },
});

/** Plays one round: what is due, and how the receiver answers. Gives what the kernel was asked for. */
async function round(
  row: ReturnType<typeof due>,
  status: number | Fault,
  now = 0,
  counted: (keyof PushCounts)[] = [],
): Promise<readonly (readonly [string, Readonly<Record<string, Json>>])[]> {
  const asked: (readonly [string, Readonly<Record<string, Json>>])[] = [];
  const settled = Promise.withResolvers<void>();
  let rows = [row];
  const pushes = startPushes({
    ...{
      origins: (peer: string) => peer === "alice" ? ["https://a.example"] : [],
      now: () => now,
      random: () => 0.5,
    },
    ...{ after: () => () => undefined, note: () => undefined, sign: (text) => `sig(${text})` },
    render: () => Promise.resolve("BODY"),
    counted: (what) => void counted.push(what),
    ask(op, body) {
      if (op === "peerDue") return Promise.resolve(toJson(rows.splice(0)));
      asked.push([op, Object(body)]);
      if (op === "peerDelivered") settled.resolve();
      if (op !== "deliver") return Promise.resolve(null);
      return status instanceof Fault ? Promise.reject(status) : Promise.resolve({ status });
    },
  });
  await settled.promise;
  rows = [];
  await pushes.stop();
  return asked;
}

Deno.test("a delivery is the rendered exchange, signed, with its version and the peer's own credentials", async () => {
  const row = due({}, { token: "tok", authentication: { scheme: "Bearer", credentials: "cred" } });
  const [posted, settled] = await round(row, 204);
  assert.deepEqual(posted, ["deliver", {
    ...{ url: "https://a.example/hook", body: "BODY", origins: ["https://a.example"] },
    headers: {
      ...{ "content-type": "application/a2a+json", "a2a-version": "1.0" },
      ...{ "x-remit-delivery": `${row.exchange.id}#4`, "x-remit-signature": "sig(BODY)" },
      ...{ "x-a2a-notification-token": "tok", authorization: "Bearer cred" },
    },
  }]);
  assert.deepEqual(settled?.[1], { exchange: row.exchange.id, config: "p1", version: 4, ok: true });
});

Deno.test("a failure is tried again later, later each time, and given up after a day", async () => {
  for (const failure of [500, 302, 404, new Fault("refused", "Cannot deliver: private")]) {
    const [, settled] = await round(due({ attempt: 3 }), failure);
    assert.equal(settled?.[1]["ok"], false);
    assert.equal(settled?.[1]["again"], 8_000);
  }
  const [, over] = await round(due(), 500, DAY + 1);
  assert.equal(over?.[1]["ok"], true);
  const [, gone] = await round(due(), 410);
  assert.equal(gone?.[1]["ok"], true);
});

Deno.test("what failed is tried again when its time has come, also what failed before the service began", async () => {
  const clock = { now: 0, timers: new Map<() => void, number>() };
  const tries: number[] = [];
  let turn = Promise.withResolvers<void>();
  let [again, answers] = [30_000, [500, 500, 204]];
  const pushes = startPushes({
    ...{
      origins: (peer: string) => peer === "alice" ? ["https://a.example"] : [],
      now: () => clock.now,
    },
    ...{ random: () => 0.5, note: () => undefined, sign: () => "s" },
    render: () => Promise.resolve("BODY"),
    counted: () => undefined,
    after(ms, run) {
      clock.timers.set(run, clock.now + ms);
      // Something is to be tried again.
      if (ms < 60_000) turn.resolve();
      return () => void clock.timers.delete(run);
    },
    ask(op, body) {
      if (op === "peerDue") {
        const rows = answers.length > 0 && clock.now >= again
          ? [due({ attempt: tries.length })]
          : [];
        if (rows.length === 0) turn.resolve();
        return Promise.resolve(toJson(rows));
      }
      if (op === "deliver") {
        tries.push(clock.now);
        const [status, ...rest] = answers;
        answers = rest;
        return Promise.resolve({ status: status ?? 0 });
      }
      again = Number(Object(body).again ?? Infinity);
      return Promise.resolve(null);
    },
  });
  for (let n = 0; n < 60 && answers.length > 0; n++) {
    await turn.promise;
    turn = Promise.withResolvers<void>();
    const [next] = [...clock.timers].sort(([, a], [, b]) => a - b);
    assert.ok(next !== undefined);
    clock.timers.delete(next[0]);
    clock.now = Math.max(clock.now, next[1]);
    next[0]();
  }
  await pushes.stop();
  assert.deepEqual(tries, [60_000, 61_000, 63_000]);
});

Deno.test("an origin that remit.yaml does not name any more is not written to", async () => {
  const asked = await round(due({}, { url: "https://b.example/" }), 200);
  assert.deepEqual(asked.map(([op]) => op), ["peerDelivered"]);
});

Deno.test("each try is counted, and what came of it in the end", async () => {
  const counted: (keyof PushCounts)[] = [];
  await round(due(), 500, 0, counted);
  await round(due(), 204, 0, counted);
  await round(due(), 410, 0, counted);
  await round(due({}, { url: "https://b.example/" }), 200, 0, counted);
  assert.deepEqual(counted, ["tried", "tried", "delivered", "tried", "givenUp", "givenUp"]);
});

Deno.test("pauses double up to an hour and are spread", () => {
  assert.deepEqual([0, 1, 5].map((n) => pauseFor(n, 0.5)), [1_000, 2_000, 32_000]);
  assert.equal(pauseFor(99, 0.5), 3_600_000);
  assert.ok(pauseFor(4, 0) < pauseFor(4, 1));
});

Deno.test("a peer's token cannot make a second header", () => {
  const headers = pushHeaders(
    { id: "p", url: "https://a.example", token: "a\r\nx-evil: 1" },
    { id: "i", signature: "s" },
  );
  assert.ok(!Object.keys(headers).includes("x-a2a-notification-token"));
});
