import assert from "node:assert/strict";
import type { Json } from "../../contracts/mod.ts";
import { makeInterrupt } from "./interrupt.ts";

/** A worker that hears of a press when the test says so. */
function slowWorker() {
  const asked: string[] = [];
  return {
    asked,
    ask(op: string, body: Json): Promise<Json> {
      asked.push(`${op} ${JSON.stringify(body)}`);
      return new Promise(() => undefined);
    },
  };
}

const SIGINT = 'signal {"signal":"SIGINT"}';
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

Deno.test("what a worker sends before it heard of a press is told apart from what it sends after", () => {
  const worker = slowWorker();
  const interrupt = makeInterrupt();
  interrupt.turnBegins();
  interrupt.turnSent(worker);
  assert.equal(interrupt.unheard(), false);
  interrupt.press();
  assert.deepEqual(worker.asked, [SIGINT]);
  assert.equal(interrupt.unheard(), true);
  interrupt.heard();
  assert.equal(interrupt.unheard(), false, "at once: what it sent next may lie in the same piece");
  interrupt.heard();
  interrupt.press();
  assert.equal(interrupt.unheard(), true, "who says too often that it heard has heard of no more");
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
