import assert from "node:assert/strict";
import type { Json } from "../../../contracts/base/mod.ts";
import { makeInterrupt, watchHealth } from "./interrupt.ts";

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
  assert.equal(interrupt.awaitsAcknowledgement(), false);
  interrupt.press();
  assert.deepEqual(worker.asked, [SIGINT]);
  assert.equal(interrupt.awaitsAcknowledgement(), true);
  interrupt.acknowledged();
  assert.equal(
    interrupt.awaitsAcknowledgement(),
    false,
    "at once: what it sent next may lie in the same piece",
  );
  interrupt.acknowledged();
  interrupt.press();
  assert.equal(
    interrupt.awaitsAcknowledgement(),
    true,
    "who says too often that it heard has heard of no more",
  );
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
  assert.equal(interrupt.awaitsAcknowledgement(), false);
});

const CHECK = { intervalMs: 1_000, timeoutMs: 100, retries: 2 };

/** A worker that answers as the test says, and a clock that the test turns by hand. */
function rig(answers: readonly boolean[]): {
  readonly said: string[];
  killed: () => number;
  asked: () => number;
  pass(ms: number): Promise<void>;
  stop: () => void;
} {
  const timers = new Map<number, { readonly at: number; readonly f: () => void }>();
  const said: string[] = [];
  let now = 0, count = 0, killed = 0, asked = 0;
  const worker = {
    port: {
      ask: () => answers[asked++] === true ? Promise.resolve(null) : new Promise<null>(() => {}),
    },
    kill(): Promise<void> {
      killed += 1;
      return Promise.resolve();
    },
  };
  const powers = {
    after(ms: number, f: () => void): () => void {
      const id = ++count;
      timers.set(id, { at: now + ms, f });
      return () => void timers.delete(id);
    },
  };
  const stop = watchHealth({ powers, check: CHECK, worker }, (why) => said.push(why));
  return {
    said,
    killed: () => killed,
    asked: () => asked,
    async pass(ms): Promise<void> {
      for (const end = now + ms; now < end; now += 50) {
        for (const [id, { at, f }] of timers) if (at <= now && timers.delete(id)) f();
        for (let n = 0; n < 4; n++) await Promise.resolve();
      }
    },
    stop,
  };
}

Deno.test("a worker that answers is asked on and on, one that misses an answer has another try", async () => {
  const worker = rig([true, false, true, false, true, true]);
  await worker.pass(7_000);
  assert.equal(worker.killed(), 0);
  assert.ok(worker.asked() >= 5, `asked ${worker.asked()} times`);
  worker.stop();
  const asked = worker.asked();
  await worker.pass(5_000);
  assert.equal(worker.asked(), asked);
});

Deno.test("a worker that misses all its answers is killed once, and it is said why", async () => {
  const worker = rig([true]);
  await worker.pass(20_000);
  assert.equal(worker.killed(), 1);
  assert.deepEqual(worker.said, [
    "the worker did not answer its health check within 100 ms, 2 times in a row",
  ]);
});
