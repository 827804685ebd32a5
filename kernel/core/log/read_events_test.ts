import assert from "node:assert/strict";
import { Digest } from "../../../contracts/authority/mod.ts";
import type { Store, StoredEvent } from "../../../contracts/task/mod.ts";
import { inSlices } from "./read_events.ts";

const row = (seq: number): StoredEvent => ({
  ...{ seq, task: "t000000000000", n: seq - 1, at: seq, body: "{}" },
  kind: seq % 3_000 === 0 ? "mcp" : "message",
  hash: Digest.parse("0".repeat(64)),
});

/** A store of many events, in which a read takes time that a test can see. */
function slowStore(count: number): { store: Store; clock: { now: number }; reads: number[] } {
  const rows = Array.from({ length: count }, (_, n) => row(n + 1));
  const clock = { now: 0 };
  const reads: number[] = [];
  const store = {
    events(query: Parameters<Store["events"]>[0]) {
      const { afterSeq = 0, untilSeq = Infinity, kinds, newest, limit = 1_000 } = query;
      const seen = rows.filter(({ seq }) => seq > afterSeq && seq <= untilSeq);
      reads.push(kinds === undefined ? Math.min(seen.length, limit) : seen.length);
      clock.now += 3;
      const found = seen.filter(({ kind }) => kinds?.includes(kind) !== false);
      return Promise.resolve((newest === true ? found.toReversed() : found).slice(0, limit));
    },
    heads() {
      clock.now += 3;
      return Promise.resolve([]);
    },
  } as unknown as Store;
  return { store, clock, reads };
}

Deno.test("whoever reads a long log lets others be heard between its reads, and misses nothing", async () => {
  const { store, clock, reads } = slowStore(20_000);
  const heard: number[] = [];
  const sliced = inSlices(store, {
    now: () => clock.now,
    soon(then): void {
      heard.push(clock.now);
      setImmediate(then);
    },
  });
  const kinds = ["mcp"];
  const all = [3_000, 6_000, 9_000, 12_000, 15_000, 18_000];
  const seqs = async (query: Parameters<Store["events"]>[0]): Promise<number[]> =>
    (await sliced.events(query)).map(({ seq }) => seq);
  assert.deepEqual(await seqs({ kinds }), all);
  assert.ok(Math.max(...reads) <= 2_000, "no read looks through more than a window");
  assert.ok(heard.length >= 4, `heard ${heard.length} times`);
  for (const [n, at] of heard.entries()) assert.ok(at - (heard[n - 1] ?? 0) <= 8);
  assert.deepEqual(await seqs({ kinds, newest: true, limit: 2 }), [18_000, 15_000]);
  assert.deepEqual(
    await seqs({ kinds, newest: true, untilSeq: 14_999 }),
    all.slice(0, 4).reverse(),
  );
  assert.deepEqual(await seqs({ kinds, afterSeq: 6_000, limit: 2 }), [9_000, 12_000]);
  assert.deepEqual(await seqs({ afterSeq: 19_998 }), [19_999, 20_000]);
  const before = heard.length;
  for (let page = 0; page < 8; page++) await sliced.heads({ limit: 250 });
  assert.ok(heard.length - before >= 3, "nor does whoever reads where all chains end");
});
