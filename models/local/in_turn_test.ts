import assert from "node:assert/strict";
import { Fault } from "../../contracts/fault.ts";
import { makeInTurn } from "./in_turn.ts";

const never = new AbortController().signal;

Deno.test("work runs one at a time, in the order of asking, also after work that failed", async () => {
  const turn = makeInTurn();
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = turn.run(async () => {
    log.push("first");
    await gate.promise;
    log.push("first ends");
    throw new TypeError("broken");
  }, never);
  const second = turn.run(() => Promise.resolve(log.push("second")), never);
  gate.resolve();
  await assert.rejects(first, TypeError);
  await second;
  assert.deepEqual(log, ["first", "first ends", "second"]);
});

Deno.test("who is cancelled is told at once; the next begins only when the work has really ended", async () => {
  const turn = makeInTurn();
  const abort = new AbortController();
  const gate = Promise.withResolvers<void>();
  const log: string[] = [];
  const running = turn.run(() => gate.promise, abort.signal);
  const next = turn.run(() => Promise.resolve(log.push("next")), never);
  abort.abort();
  await assert.rejects(running, (error) => error instanceof Fault && error.code === "cancelled");
  assert.deepEqual(log, []);
  gate.resolve();
  await next;
  assert.deepEqual(log, ["next"]);
});

Deno.test("what is cancelled while it waits never begins", async () => {
  const turn = makeInTurn();
  const abort = new AbortController();
  const gate = Promise.withResolvers<void>();
  let began = false;
  const running = turn.run(() => gate.promise, never);
  const waiting = turn.run(() => {
    began = true;
    return Promise.resolve();
  }, abort.signal);
  abort.abort();
  await assert.rejects(waiting, Fault);
  gate.resolve();
  await running;
  await turn.run(() => Promise.resolve(), never);
  assert.equal(began, false);
});
