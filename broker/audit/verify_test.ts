/** Attacks on the rows of a log: every one is found, and the first bad event is named. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { Fault } from "../../contracts/base/fault.ts";
import { Digest } from "../../contracts/authority/ids.ts";
import type { StoredEvent } from "../../contracts/task/store.ts";
import { makeMemoryStore, type MemoryStore } from "./_fixture/memory_store.ts";
import { ALICE, fillSmallLog, MALLORY, TASKS } from "./_fixture/small_log.ts";
import {
  GENESIS,
  hashEvent,
  verifyChain,
  verifyFrom,
  verifyLog,
  type VerifyReport,
} from "./mod.ts";

const PUBLIC = { publicKey: ALICE.publicKey };

async function smallLog(): Promise<MemoryStore> {
  const store = makeMemoryStore();
  await fillSmallLog(store);
  return store;
}

async function check(store: MemoryStore, head?: Digest): Promise<VerifyReport> {
  return await verifyLog({ store, ...PUBLIC, ...(head === undefined ? {} : { head }) });
}

/** Mallory numbers the rows anew, so that no gap shows. */
function renumbered(rows: readonly StoredEvent[]): StoredEvent[] {
  return rows.map((row, i) => ({ ...row, seq: i + 1 }));
}

Deno.test("verify: an intact log is intact, and says what it holds", async () => {
  const store = await smallLog();
  const head = store.rows.at(-1)?.hash;
  assert.ok(head);
  assert.deepEqual(await check(store, head), {
    ok: true,
    events: 12,
    seals: 4,
    tasks: 3,
    contents: { intact: 5, erased: 0, unexplained: 0 },
    head,
    lastSeal: 12,
    tail: "intact",
  });
  const empty = makeMemoryStore();
  const report = await check(empty);
  assert.deepEqual([report.ok, report.head, report.tail], [true, GENESIS, "unchecked"]);
});

Deno.test("verify: a check that goes on from any checked seal finds all damage after it, and reads nothing before", async () => {
  const store = await smallLog();
  const seals = store.rows.filter(({ kind }) => kind === "seal");
  const end = seals.at(-1);
  assert.ok(end);
  for (const { seq, hash } of seals) {
    const read: number[] = [];
    const watched = {
      ...store,
      async events(query: Parameters<typeof store.events>[0]) {
        const found = await store.events(query);
        read.push(...found.map((each) => each.seq));
        return found;
      },
    };
    const { reached, bad } = await verifyFrom({ store: watched, ...PUBLIC, from: { seq, hash } });
    assert.deepEqual([reached, bad], [{ seq: end.seq, hash: end.hash }, undefined]);
    // Beside what follows: the seal itself, and where each chain ended.
    assert.ok(read.filter((each) => each < seq).length <= 3);
  }
  const [first] = seals;
  assert.ok(first);
  for (const [at, row] of store.rows.entries()) {
    for (const change of [{ body: `${row.body} ` }, { at: row.at + 1 }]) {
      const damaged = await smallLog();
      damaged.rows[at] = { ...row, ...change };
      const from = { seq: first.seq, hash: first.hash };
      const { bad } = await verifyFrom({ store: damaged, ...PUBLIC, from });
      assert.equal(bad?.seq, row.seq <= first.seq ? undefined : row.seq);
      assert.equal((await check(damaged)).bad?.seq, row.seq, "the whole check always finds it");
    }
  }
  const some = await verifyFrom({ store, ...PUBLIC, most: 1 });
  assert.deepEqual(some, { reached: { seq: first.seq, hash: first.hash } });
  // A seal that is not in the log is no place to go on from.
  const nowhere = { seq: end.seq, hash: first.hash };
  assert.equal((await verifyFrom({ store, ...PUBLIC, from: nowhere })).bad, undefined);
  store.rows[0] = { ...store.rows[0], body: "{}" } as StoredEvent;
  assert.equal((await verifyFrom({ store, ...PUBLIC, from: nowhere })).bad?.seq, 1);
});

Deno.test("verify: another key's log is not this kernel's", async () => {
  const store = await smallLog();
  const { ok, bad } = await verifyLog({ store, publicKey: MALLORY.publicKey });
  assert.deepEqual([ok, bad?.flaw, bad?.seq], [false, "badSeal", 2]);
});

Deno.test("verify: a tail cut after a seal shows only against a kept head", async () => {
  const store = await smallLog();
  const head = store.rows.at(-1)?.hash;
  const kept = store.rows[8]?.hash;
  assert.ok(head && kept);
  store.rows = store.rows.slice(0, 9);
  const without = await check(store);
  assert.deepEqual([without.ok, without.tail], [true, "unchecked"]);
  const against = await check(store, head);
  assert.deepEqual([against.ok, against.tail], [false, "cut"]);
  assert.deepEqual([against.bad?.flaw, against.bad?.seq], ["cutTail", 10]);
  const older = await check(store, kept);
  assert.deepEqual([older.ok, older.tail], [true, "intact"]);
});

Deno.test("verify: a tail cut anywhere else is found without a head", async () => {
  const whole = await smallLog();
  for (let length = 0; length < 12; length++) {
    const store = await smallLog();
    store.rows = whole.rows.slice(0, length);
    const { ok, bad, lastSeal } = await check(store);
    const atSeal = length === 0 || whole.rows[length - 1]?.kind === "seal";
    assert.equal(ok, atSeal, `cut after ${length}`);
    if (!atSeal) assert.deepEqual([bad?.flaw, bad?.seq], ["unsealed", lastSeal + 1]);
  }
});

Deno.test("verify: rows dropped, doubled, swapped or moved are found at the first that is wrong", async () => {
  const whole = (await smallLog()).rows;
  const same = (a: StoredEvent | undefined, b: StoredEvent | undefined): boolean =>
    a?.hash === b?.hash;
  const attacks: (readonly [string, StoredEvent[]])[] = [];
  for (let i = 0; i < whole.length; i++) {
    attacks.push([`drop ${i}`, whole.toSpliced(i, 1)]);
    const row = whole[i];
    assert.ok(row);
    for (let j = 0; j <= whole.length; j++) {
      attacks.push([`double ${i} at ${j}`, whole.toSpliced(j, 0, row)]);
    }
    for (let j = i + 1; j < whole.length; j++) {
      const other = whole[j];
      assert.ok(other);
      attacks.push([`swap ${i} ${j}`, whole.with(i, other).with(j, row)]);
      attacks.push([`move ${i} to ${j}`, whole.toSpliced(i, 1).toSpliced(j, 0, row)]);
    }
  }
  for (const [name, rows] of attacks) {
    const first = rows.findIndex((row, i) => !same(row, whole[i]));
    const cut = first === -1;
    const store = await smallLog();
    store.rows = renumbered(rows);
    const head = whole.at(-1)?.hash;
    const { ok, bad } = await check(store, head);
    assert.equal(ok, false, name);
    const lost = whole[cut ? rows.length : first];
    const named = bad?.seq === first + 1 ||
      // A seal that is gone is named by its place in the kernel's chain.
      (lost?.kind === "seal" && bad?.task === "kernel" && bad.n === lost.n) ||
      (cut && bad?.flaw === "unsealed");
    assert.ok(named, `${name}: ${JSON.stringify(bad)}, not ${first + 1}`);
  }
});

Deno.test("verify: a dropped row that nobody renumbered leaves its gap", async () => {
  for (let i = 0; i < 11; i++) {
    const store = await smallLog();
    store.rows.splice(i, 1);
    const { bad } = await check(store);
    assert.deepEqual([bad?.seq, bad?.flaw], [i + 1, "missing"]);
  }
});

Deno.test("verify: a rewritten event with a true hash still is not what was sealed", async () => {
  const store = await smallLog();
  const [started] = store.rows;
  assert.ok(started);
  const body = '{"version":"2"}';
  const hash = hashEvent({ ...started, body, prev: GENESIS });
  store.rows[0] = { ...started, body, hash };
  const { bad } = await check(store);
  assert.deepEqual([bad?.seq, bad?.flaw], [1, "replaced"]);
});

Deno.test("verify: a whole log that mallory made anew does not carry the kernel's signature", async () => {
  const store = makeMemoryStore();
  await fillSmallLog(store, { publicKey: ALICE.publicKey, sign: MALLORY.sign });
  const { bad } = await check(store);
  assert.deepEqual([bad?.seq, bad?.flaw, bad?.kind], [2, "badSeal", "seal"]);
});

Deno.test("verify: content that is false, not only lost, is found; lost content is counted", async () => {
  const store = await smallLog();
  const [digest, blob] = [...store.blobs][2] ?? [];
  assert.ok(digest && blob);
  store.blobs.set(digest, { ...blob, bytes: blob.bytes.slice(1) });
  const at = store.rows.find((row) => row.body.includes(digest))?.seq;
  const { bad, contents } = await check(store);
  assert.deepEqual([bad?.seq, bad?.flaw], [at, "content"]);
  assert.equal(contents.intact, 2);
  store.blobs.delete(digest);
  const lost = await check(store);
  assert.deepEqual([lost.ok, lost.contents], [true, { intact: 4, erased: 0, unexplained: 1 }]);
});

Deno.test("verify: an index that hides a chain is found", async () => {
  const store = await smallLog();
  const heads = await store.heads();
  store.heads = () => Promise.resolve(heads.slice(1));
  const { bad } = await check(store);
  assert.equal(bad?.flaw, "badIndex");
});

Deno.test("verify: what is appended while the ends of chains are read is no damage", async () => {
  const store = await smallLog();
  const { heads } = store;
  const { rows: more } = await smallLog();
  let asked = 0;
  store.heads = (query) => {
    // A task that begins, and one that goes on, between two pages.
    const [first, last] = [more[0], store.rows.at(-1)];
    assert.ok(first && last);
    const seq = last.seq + 1;
    store.rows.push({ ...first, seq, task: `t99999999999${asked++}`, n: 0 });
    store.rows.push({ ...last, seq: seq + 1, n: last.n + 1, hash: first.hash });
    return heads(query);
  };
  assert.equal((await check(store)).bad, undefined);
  assert.ok(asked > 0);
});

Deno.test("verify: U+FFFD in a body does not stand for a lone surrogate", async () => {
  const store = await smallLog();
  const [started] = store.rows;
  assert.ok(started);
  const hash = hashEvent({ ...started, body: "\ufffd", prev: GENESIS });
  assert.equal(
    hashEvent({ ...started, body: "\ud800", prev: GENESIS }),
    hash,
    "why it must be looked for",
  );
  store.rows[0] = { ...started, body: "\ud800", hash };
  const { bad } = await check(store);
  assert.deepEqual([bad?.seq, bad?.flaw], [1, "changed"]);
});

Deno.test("verify: random attacks on random places are found", async () => {
  const field = fc.constantFrom("task" as const, "n", "kind", "at", "hash", "body");
  await fc.assert(
    fc.asyncProperty(fc.nat(11), field, fc.nat(), fc.integer({ min: 1, max: 200 }), async (
      at,
      key,
      where,
      change,
    ) => {
      const store = await smallLog();
      const row = store.rows[at];
      assert.ok(row);
      const value = row[key];
      const changed = typeof value === "number"
        ? value + change
        : key === "hash"
        ? Digest.parse(hexFlip(value, where))
        : textFlip(value, where, change);
      store.rows[at] = { ...row, [key]: changed };
      const { ok, bad } = await check(store);
      assert.deepEqual([ok, bad?.seq], [false, at + 1]);
    }),
    { numRuns: 300 },
  );
});

function hexFlip(hex: string, where: number): string {
  const at = where % hex.length;
  return hex.slice(0, at) + ((parseInt(hex.charAt(at), 16) + 1) % 16).toString(16) +
    hex.slice(at + 1);
}

function textFlip(text: string, where: number, change: number): string {
  const at = where % text.length;
  return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ change) + text.slice(at + 1);
}

async function smallLogVerifyChain(): Promise<MemoryStore> {
  const store = makeMemoryStore();
  await fillSmallLog(store);
  return store;
}

Deno.test("verifyChain: an intact chain passes, and each change of it is named", async () => {
  const [task] = TASKS;
  const whole = await smallLogVerifyChain();
  await verifyChain(whole, task);
  const chain = whole.rows.filter((row) => row.task === task);
  assert.ok(chain.length > 2);
  for (const [n, row] of chain.entries()) {
    const at = whole.rows.indexOf(row);
    for (const change of [{ body: `${row.body} ` }, { at: row.at + 1 }, { kind: "undone" }]) {
      const store = await smallLogVerifyChain();
      store.rows[at] = { ...row, ...change };
      await assert.rejects(verifyChain(store, task), (error: unknown) => {
        assert.ok(error instanceof Fault && error.code === "storeCorrupt");
        assert.match(error.message, new RegExp(`event ${n} `));
        return true;
      });
    }
  }
});
