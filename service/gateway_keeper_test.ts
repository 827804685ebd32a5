import assert from "node:assert/strict";
import { Fault, type Json } from "../contracts/base/mod.ts";
import { keepGateway } from "./gateway_keeper.ts";

/** A keeper over gateways of the test: each ends when `die` is called; timers run when `pass` is called. */
async function keeper(starts: readonly boolean[]) {
  const log: string[] = [];
  const listens: number[] = [];
  const timers: (() => void)[] = [];
  const pauses: number[] = [];
  let born = 0;
  let die = (): void => undefined;
  let waits: (() => void) | undefined;
  const kept = await keepGateway({
    open: {
      ...{ transport: "http", hosts: [], origins: [], version: "1", drainMs: 5 },
      listen: { hostname: "127.0.0.1", port: 0 },
    },
    now: () => 0,
    note: () => undefined,
    after(ms, run) {
      pauses.push(ms);
      timers.push(run);
      waits?.();
      return () => void timers.splice(timers.indexOf(run), 1);
    },
    start(listen) {
      const which = born++;
      if (starts[which] !== true) return Promise.reject(new Fault("unavailable", "Cannot start"));
      listens.push(listen.port);
      const closed = Promise.withResolvers<Error>();
      die = () => closed.resolve(new Error("killed"));
      return Promise.resolve({
        link: {
          ask(op: string): Promise<Json> {
            log.push(`${op} ${which}`);
            return Promise.resolve(op === "open" ? { address: "127.0.0.1:4711" } : null);
          },
          tell: () => undefined,
          closed: closed.promise,
          kill(): Promise<void> {
            closed.resolve(new Error("killed"));
            return Promise.resolve();
          },
          pid: which,
        },
        over(): Promise<void> {
          log.push(`over ${which}`);
          return Promise.resolve();
        },
      });
    },
  });
  /** Until the keeper pauses, then lets the pause pass. */
  const pass = async (): Promise<void> => {
    if (timers.length === 0) await new Promise<void>((resolve) => waits = resolve);
    waits = undefined;
    timers.shift()?.();
  };
  return { kept, log, listens, pauses, pass, die: () => die() };
}

Deno.test("a gateway that dies is started again at the same port, and lets go of what was its", async () => {
  const { kept, log, listens, pass, die } = await keeper([true, true, true]);
  assert.equal(kept.address, "127.0.0.1:4711");
  die();
  await pass();
  die();
  await pass();
  await kept.stop();
  assert.deepEqual(listens.slice(0, 2), [0, 4711]);
  assert.deepEqual(log.slice(0, 3), ["open 0", "over 0", "open 1"]);
  assert.equal(log.at(-1)?.startsWith("over"), true);
});

Deno.test("one that never comes up again is given up, after pauses that grow", async () => {
  const { kept, pauses, pass, die } = await keeper([true]);
  die();
  for (let n = 0; n < 8; n++) await pass();
  assert.match((await kept.failed).message, /ends again and again/);
  assert.equal(kept.up(), false);
  assert.deepEqual(pauses, [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  await assert.rejects(kept.ask("a2aRender", null), /started again/);
  await kept.stop();
});

Deno.test("a first gateway that does not start is said at once", async () => {
  await assert.rejects(keeper([false]), /Cannot start/);
});

Deno.test("mallory ends the gateway again and again: it comes up each time, after pauses that grow, and is kept", async () => {
  const { kept, pauses, pass, die } = await keeper(new Array(20).fill(true));
  for (let n = 0; n < 12; n++) {
    die();
    await pass();
    for (let turn = 0; !kept.up() && turn < 100; turn++) await Promise.resolve();
    assert.equal(kept.up(), true, `after ${n + 1}`);
  }
  assert.deepEqual([pauses.length, pauses[0], pauses.at(-1)], [12, 250, 10_000]);
  await kept.stop();
});
