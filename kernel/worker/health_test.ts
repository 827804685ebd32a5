import assert from "node:assert/strict";
import { watchHealth } from "./health.ts";

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
