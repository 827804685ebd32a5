import assert from "node:assert/strict";
import type { Json } from "../contracts/mod.ts";
import { makeInterrupt } from "./interrupt.ts";

/** A worker that hears of a press when the test says so. */
function slowWorker() {
  const waiting: (() => void)[] = [];
  const asked: string[] = [];
  return {
    asked,
    hear: () => waiting.shift()?.(),
    ask(op: string, body: Json): Promise<Json> {
      asked.push(`${op} ${JSON.stringify(body)}`);
      return new Promise((resolve) => waiting.push(() => resolve(null)));
    },
  };
}

const SIGINT = 'signal {"signal":"SIGINT"}';
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

Deno.test("what a worker sends before it heard of a press is told apart from what it sends after", async () => {
  const worker = slowWorker();
  const interrupt = makeInterrupt();
  interrupt.turnBegins();
  interrupt.turnSent(worker);
  assert.equal(interrupt.unheard(), false);
  interrupt.press();
  assert.deepEqual(worker.asked, [SIGINT]);
  assert.equal(interrupt.unheard(), true);
  worker.hear();
  await settled();
  assert.equal(interrupt.unheard(), false);
});

Deno.test("a press while the worker is being started follows its turn, and one of before is forgotten", () => {
  const worker = slowWorker();
  const interrupt = makeInterrupt();
  interrupt.press();
  interrupt.turnBegins();
  interrupt.turnSent(worker);
  assert.deepEqual(worker.asked, []);
  interrupt.turnOver();
  interrupt.turnBegins();
  interrupt.press();
  assert.deepEqual(worker.asked, []);
  interrupt.turnSent(worker);
  assert.deepEqual(worker.asked, [SIGINT]);
});

Deno.test("a worker that ended without hearing leaves nothing behind", async () => {
  const interrupt = makeInterrupt();
  interrupt.turnBegins();
  interrupt.turnSent({ ask: () => Promise.reject(new Error("closed")) });
  interrupt.press();
  await settled();
  assert.equal(interrupt.unheard(), false);
});
