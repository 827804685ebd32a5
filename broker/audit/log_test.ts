import assert from "node:assert/strict";
import fc from "fast-check";
import { Fault } from "../../contracts/base/fault.ts";
import type { DocumentWrite } from "../../contracts/task/store.ts";
import { rejectsWith, storeContract } from "../../store/_fixture/contract_suite.ts";
import {
  ALICE,
  callEvent,
  fillSmallLog,
  handPowers,
  MALLORY,
  TASKS,
} from "./_fixture/small_log.ts";
import { makeMemoryStore } from "./_fixture/memory_store.ts";
import { GENESIS, openLog, readPrivate, verifyLog } from "./mod.ts";

const [A, B] = TASKS;
const PUBLIC = { publicKey: ALICE.publicKey };

storeContract("in memory (the fake of these tests)", () => {
  const store = makeMemoryStore();
  return Promise.resolve({
    open: () => Promise.resolve(store),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}, Deno.test);

Deno.test("log: appends that arrive during a commit share the next one, each task in order", async () => {
  const store = makeMemoryStore();
  const log = await openLog({ store, signer: ALICE, ...handPowers() });
  const gates: (() => void)[] = [];
  let entered = Promise.withResolvers<void>();
  store.before = () => {
    entered.resolve();
    return new Promise((resolve) => gates.push(resolve));
  };
  const first = log.append(A, [{ kind: "message", body: { i: 0 } }]);
  await entered.promise;
  entered = Promise.withResolvers();
  const rest = [1, 2, 3, 4].map((i) =>
    log.append(i % 2 ? A : B, [{ kind: "message", body: { i } }])
  );
  assert.equal(log.head(), GENESIS, "nothing is acknowledged before it is durable");
  gates.shift()?.();
  await first;
  await entered.promise;
  gates.shift()?.();
  const places = await Promise.all(rest);
  assert.deepEqual(store.groups, [2, 5]);
  assert.deepEqual(places.map(([place]) => place?.n), [1, 0, 2, 1]);
  const order = store.rows.filter((r) => r.kind !== "seal").map((r) => JSON.parse(r.body).i);
  assert.deepEqual(order, [0, 1, 2, 3, 4]);
  assert.equal((await verifyLog({ store, ...PUBLIC, head: log.head() })).ok, true);
});

Deno.test("log: what goes with the next commit makes none, and stands before what followed it", async () => {
  const store = makeMemoryStore();
  const log = await openLog({ store, signer: ALICE, ...handPowers() });
  const waits = log.appendWithNext?.(A, [{ kind: "leaseGranted", body: { i: 0 } }]);
  await log.append(B, [{ kind: "message", body: { i: 1 } }]);
  const later = log.appendWithNext?.(A, [{ kind: "leaseGranted", body: { i: 2 } }]);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(store.groups, [3], "nobody asked for a second commit");
  const [place] = await log.append(A, [{ kind: "message", body: { i: 3 } }]);
  assert.deepEqual([(await waits)?.[0]?.n, (await later)?.[0]?.n, place?.n], [0, 1, 2]);
  assert.deepEqual(store.groups, [3, 3]);
  assert.equal((await verifyLog({ store, ...PUBLIC, head: log.head() })).ok, true);
});

Deno.test("log: what goes with the next commit is committed alone where none comes for a while", async () => {
  const store = makeMemoryStore();
  const waiting = new Set<() => void>();
  const after = (_ms: number, f: () => void): () => void => {
    waiting.add(f);
    return () => waiting.delete(f);
  };
  const log = await openLog({ store, signer: ALICE, ...handPowers(), after });
  const [first, second] = [0, 1].map((i) =>
    log.appendWithNext?.(A, [{ kind: "leaseGranted", body: { i } }])
  );
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([store.groups, waiting.size], [[], 1], "one wait for both, and no commit");
  for (const due of waiting) due();
  assert.deepEqual([(await first)?.[0]?.n, (await second)?.[0]?.n], [0, 1]);
  waiting.clear();
  const third = log.appendWithNext?.(A, [{ kind: "leaseGranted", body: { i: 2 } }]);
  assert.equal(waiting.size, 1);
  await log.append(A, [{ kind: "message", body: { i: 3 } }]);
  assert.equal((await third)?.[0]?.n, 2);
  assert.deepEqual(
    [store.groups, waiting.size],
    [[3, 3], 0],
    "nobody waits for what was committed",
  );
});

Deno.test("log: a refused commit leaves the chains where they were", async () => {
  const store = makeMemoryStore();
  const log = await fillSmallLog(store);
  const head = log.head();
  store.before = () => {
    throw new Fault("storeFull", "Cannot write to the log: the disk is full");
  };
  const both = [A, B].map((task) => log.append(task, [{ kind: "message", body: {} }]));
  for (const each of both) await rejectsWith("storeFull", each);
  assert.equal(log.head(), head);
  assert.equal(store.rows.length, 12);
  store.before = () => {};
  const [place] = await log.append(A, [{ kind: "message", body: {} }]);
  assert.equal(place?.n, 4);
  assert.equal((await verifyLog({ store, ...PUBLIC, head })).ok, true);
});

Deno.test("log: one caller's version conflict does not fail the others of its group", async () => {
  const store = makeMemoryStore();
  const log = await openLog({ store, signer: ALICE, ...handPowers() });
  const write = (expect: number): DocumentWrite => ({
    kind: "note",
    id: "x",
    task: A,
    expect,
    body: { expect },
  });
  const event = { kind: "message", body: {} } as const;
  const results = await Promise.allSettled([
    log.append(A, [event], [write(0)]),
    log.append(B, [event], [write(0)]),
    log.append(A, [event], [write(1)]),
    log.append(B, [event]),
  ]);
  assert.deepEqual(results.map((r) => r.status), [
    "fulfilled",
    "rejected",
    "fulfilled",
    "fulfilled",
  ]);
  assert.equal((await store.document("note", "x"))?.version, 2);
  assert.equal((await store.events({ task: B })).length, 1);
  assert.equal((await verifyLog({ store, ...PUBLIC, head: log.head() })).ok, true);
});

Deno.test("log: documents without events are committed, and need no seal", async () => {
  const store = makeMemoryStore();
  const log = await openLog({ store, signer: ALICE, ...handPowers() });
  await log.append(A, [], [{ kind: "note", id: "x", task: A, expect: 0, body: {} }]);
  assert.equal(store.rows.length, 0);
  assert.equal((await store.document("note", "x"))?.version, 1);
});

Deno.test("log: it goes on after opening again, and only with its own key", async () => {
  const store = makeMemoryStore();
  const before = await fillSmallLog(store);
  const log = await openLog({ store, signer: ALICE, ...handPowers() });
  assert.equal(log.head(), before.head());
  const [place] = await log.append(A, [{ kind: "message", body: {} }]);
  assert.equal(place?.n, 4);
  await rejectsWith("storeCorrupt", openLog({ store, signer: MALLORY, ...handPowers() }));
});

Deno.test("log: it does not go on from an end that is no intact seal", async () => {
  const opened = async (
    damage: (rows: ReturnType<typeof makeMemoryStore>) => void,
  ): Promise<void> => {
    const store = makeMemoryStore();
    await fillSmallLog(store);
    damage(store);
    await rejectsWith("storeCorrupt", openLog({ store, signer: ALICE, ...handPowers() }));
  };
  await opened((store) => void store.rows.pop());
  await opened((store) => {
    store.rows = store.rows.filter((row) => row.kind !== "seal");
  });
  await opened((store) => {
    const [first] = store.rows;
    if (first !== undefined) store.rows.push({ ...first, seq: 13, task: A, n: 4 });
  });
});

Deno.test("log: the private part is kept apart, salted, and gone when erased", async () => {
  const store = makeMemoryStore();
  const log = await openLog({ store, signer: ALICE, ...handPowers() });
  await log.append(A, [callEvent("intent", "c1"), callEvent("intent", "c1")]);
  const [one, two] = await store.events({ task: A });
  assert.ok(one && two);
  assert.doesNotMatch(one.body, /desk/);
  assert.notEqual(one.body, two.body, "the same content has another digest each time");
  assert.deepEqual(await readPrivate(store, one), callEvent("intent", "c1").private);
  for (const blob of store.blobs.values()) blob.bytes[5] = (blob.bytes[5] ?? 0) ^ 1;
  await rejectsWith("storeCorrupt", readPrivate(store, one));
  await store.eraseBlobs(A);
  assert.equal(await readPrivate(store, one), undefined);
  assert.equal((await verifyLog({ store, ...PUBLIC })).contents.unexplained, 2);
  await log.append(A, [{ kind: "purged", body: {} }]);
  const { ok, contents } = await verifyLog({ store, ...PUBLIC });
  assert.deepEqual([ok, contents], [true, { intact: 0, erased: 2, unexplained: 0 }]);
});

Deno.test("log: bodies past the limit, forged seals and a taken key are refused before anything is written", async () => {
  const store = makeMemoryStore();
  const log = await openLog({ store, signer: ALICE, ...handPowers() });
  const huge = { kind: "message", body: { text: "x".repeat(70_000) } } as const;
  await rejectsWith("tooLarge", log.append(A, [huge]));
  const many = Array.from({ length: 1_001 }, () => ({ kind: "message", body: {} }) as const);
  await rejectsWith("tooLarge", log.append(A, many));
  await assert.rejects(log.append("kernel", [{ kind: "seal", body: {} }]), TypeError);
  await assert.rejects(log.append(A, [{ kind: "message", body: { private: "x" } }]), TypeError);
  await assert.rejects(log.append("a task", [{ kind: "message", body: {} }]), TypeError);
  await rejectsWith("invalidInput", log.append(A, [{ kind: "message", body: { x: "\ud800" } }]));
  assert.equal(store.rows.length, 0);
});

Deno.test("log: hostile content, lone surrogates and all, does not stop a call from being recorded", async () => {
  const store = makeMemoryStore();
  const log = await openLog({ store, signer: ALICE, ...handPowers() });
  const content = { arguments: "\ud800\u0000\u202e", ["__proto__"]: "x" };
  await log.append(A, [{ kind: "intent", body: { call: "c" }, private: content }]);
  const [event] = await store.events({ task: A });
  assert.ok(event);
  assert.deepEqual(await readPrivate(store, event), content);
});

Deno.test("log: what waits is committed in short groups, so that nobody waits for a long one", async () => {
  const store = makeMemoryStore();
  const log = await openLog({ store, signer: ALICE, ...handPowers() });
  const events = Array.from({ length: 400 }, (_, i) => ({ kind: "message", body: { i } }) as const);
  const long = [1, 2].map(() => log.append(A, events));
  const short = Array.from({ length: 300 }, () => log.append(A, events.slice(0, 1)));
  await Promise.all([...long, ...short]);
  // Each with its seal: an entry that is long by itself is not cut.
  assert.deepEqual(store.groups, [401, 401, 129, 129, 45]);
  assert.equal((await verifyLog({ store, ...PUBLIC, head: log.head() })).ok, true);
});

Deno.test("log: whatever is appended by whomever verifies, in each caller's order", async () => {
  const step = fc.record({
    task: fc.constantFrom(...TASKS, "kernel"),
    count: fc.integer({ min: 1, max: 3 }),
    content: fc.option(fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }), { nil: undefined }),
    wait: fc.boolean(),
    fails: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const store = makeMemoryStore();
      const log = await openLog({ store, signer: ALICE, ...handPowers() });
      const done: Promise<void>[] = [];
      const acknowledged: string[] = [];
      for (const [i, { task, count, content, wait, fails }] of steps.entries()) {
        store.before = () => {
          if (fails) throw new Fault("storeFull", "Cannot write to the log: the disk is full");
        };
        const part = content === undefined ? {} : { private: content };
        const events = Array.from({ length: count }, (_, j) => ({
          kind: "message",
          body: { i, j },
          ...part,
        } as const));
        const appended = log.append(task, events).then(
          (places) => void acknowledged.push(...places.map((p) => p.hash)),
          (error) => assert.equal(error.code, "storeFull"),
        );
        done.push(appended);
        if (wait) await appended;
      }
      await Promise.all(done);
      const stored = new Set<string>(store.rows.map((row) => row.hash));
      assert.ok(acknowledged.every((hash) => stored.has(hash)));
      for (const task of TASKS) {
        const order = (await store.events({ task })).map((row) => JSON.parse(row.body));
        const keys = order.map(({ i, j }) => i * 10 + j);
        assert.deepEqual(keys, keys.toSorted((x, y) => x - y));
      }
      assert.equal((await verifyLog({ store, ...PUBLIC, head: log.head() })).ok, true);
    }),
    { numRuns: 60 },
  );
});
