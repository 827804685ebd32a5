/** The claims that every engine of the store must meet. @module */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";
import { Digest } from "../../contracts/authority/ids.ts";
import type { Batch, BlobRow, DocumentWrite, EventRow, Store } from "../../contracts/task/store.ts";

/** One engine's storage under test: opened repeatedly on the same state. */
export interface StoreUnderTest extends AsyncDisposable {
  open(): Promise<Store>;
}

/** Registers a test: `Deno.test`. */
export type RegisterTest = (name: string, body: () => Promise<void>) => void;

function sha(...parts: readonly (string | Uint8Array)[]): Digest {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return Digest.parse(hash.digest("hex"));
}

function event(task: string, n: number, kind = "message"): EventRow {
  return {
    task,
    n,
    kind,
    at: 1_000 + n,
    body: `{"n":${n},"é":"\\u0000🙂"}`,
    hash: sha(task, `${n}`),
  };
}

function blob(task: string, text: string): BlobRow {
  const salt = new Uint8Array(16).fill(text.length);
  const bytes = new TextEncoder().encode(text);
  return { task, digest: sha(salt, bytes), salt, bytes };
}

function note(id: string, expect: number, text: string, task = "alice"): DocumentWrite {
  return { kind: "note", id, task, expect, body: { text } };
}

function batch(part: Partial<Batch>): Batch {
  return { events: [], blobs: [], documents: [], ...part };
}

/** Asserts that `work` rejects with a fault of `code` whose message has the house form. */
export async function rejectsWith(code: FaultCode, work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, /^Cannot /);
    return true;
  });
}

/** Registers the suite for one engine. `make` gives empty storage. */
export function storeContract(
  name: string,
  make: () => Promise<StoreUnderTest>,
  test: RegisterTest,
): void {
  const claim = (
    what: string,
    body: (under: StoreUnderTest, store: Store) => Promise<void>,
  ): void =>
    test(`store ${name}: ${what}`, async () => {
      await using under = await make();
      const store = await under.open();
      await body(under, store);
    });

  claim("what was committed is there after opening again, byte for byte", async (under, store) => {
    const content = blob("alice", '{"a":"\\u0000 é 🙂"}');
    const events = [event("alice", 0), event("bob", 0), event("alice", 1)];
    await store.commit(batch({ events, blobs: [content], documents: [note("x", 0, "é🙂")] }));
    await store.close();
    const again = await under.open();
    assert.deepEqual(await again.events({}), events.map((row, i) => ({ seq: i + 1, ...row })));
    const { salt, bytes } = content;
    const kept = await again.blob(content.task, content.digest);
    assert.deepEqual(kept && [new Uint8Array(kept.salt), new Uint8Array(kept.bytes)], [
      salt,
      bytes,
    ]);
    assert.deepEqual(await again.document("note", "x"), {
      kind: "note",
      id: "x",
      task: "alice",
      version: 1,
      body: { text: "é🙂" },
    });
    await again.close();
  });

  claim("a new store is empty", async (_under, store) => {
    assert.deepEqual(await store.events({}), []);
    assert.deepEqual(await store.heads(), []);
    assert.equal(await store.blob("alice", sha("nothing")), undefined);
    assert.equal(await store.document("note", "x"), undefined);
    assert.deepEqual(await store.documents({ kind: "note" }), []);
    assert.equal(await store.eraseBlobs("alice"), 0);
    await store.close();
  });

  claim(
    "a taken chain position is a conflict, and nothing of its batch stays",
    async (_u, store) => {
      await store.commit(batch({ events: [event("alice", 0)] }));
      const content = blob("bob", "secret");
      await rejectsWith(
        "conflict",
        store.commit({
          events: [event("bob", 0), event("alice", 0)],
          blobs: [content],
          documents: [note("x", 0, "a")],
        }),
      );
      assert.equal((await store.events({})).length, 1);
      assert.equal(await store.blob(content.task, content.digest), undefined);
      assert.equal(await store.document("note", "x"), undefined);
      await store.commit(batch({ events: [event("alice", 1)] }));
      assert.deepEqual((await store.events({})).map((e) => e.seq), [1, 2], "no gap is left");
      await store.close();
    },
  );

  claim("a document is written only over the version it names", async (_u, store) => {
    await store.commit(batch({ documents: [note("x", 0, "a")] }));
    await rejectsWith("conflict", store.commit(batch({ documents: [note("x", 0, "b")] })));
    await rejectsWith("conflict", store.commit(batch({ documents: [note("x", 2, "b")] })));
    await rejectsWith("conflict", store.commit(batch({ documents: [note("y", 1, "b")] })));
    const late = batch({ events: [event("alice", 0)], documents: [note("x", 7, "b")] });
    await rejectsWith("conflict", store.commit(late));
    assert.deepEqual(await store.events({}), [], "events of a refused document do not stay");
    await store.commit(batch({ documents: [note("x", 1, "b"), note("x", 2, "c")] }));
    const row = await store.document("note", "x");
    assert.deepEqual([row?.version, row?.body], [3, { text: "c" }]);
    await store.close();
  });

  claim("events are found by task, place, kind and limit, ascending", async (_u, store) => {
    const events = [0, 1, 2, 3].flatMap((n) => [
      event("alice", n, n % 2 === 0 ? "intent" : "outcome"),
      event("bob", n),
    ]);
    await store.commit(batch({ events }));
    const seqs = async (query: Parameters<Store["events"]>[0]): Promise<readonly number[]> =>
      (await store.events(query)).map((e) => e.seq);
    assert.deepEqual(await seqs({ task: "alice" }), [1, 3, 5, 7]);
    assert.deepEqual(await seqs({ task: "alice", fromN: 2 }), [5, 7]);
    assert.deepEqual(await seqs({ task: "alice", afterSeq: 3 }), [5, 7]);
    assert.deepEqual(await seqs({ afterSeq: 5, limit: 2 }), [6, 7]);
    assert.deepEqual(await seqs({ kinds: ["outcome", "intent"], limit: 3 }), [1, 3, 5]);
    assert.deepEqual(await seqs({ task: "bob", kinds: ["outcome"] }), []);
    assert.deepEqual(await seqs({ task: "carol" }), []);
    await store.close();
  });

  claim("the kernel's chain is found by place like any other", async (_u, store) => {
    for (let n = 0; n < 40; n++) {
      const more = Array.from({ length: n % 5 }, (_, i) => event(`t${n}x${i}`, 0));
      await store.commit(
        batch({ events: [...more, event("kernel", n, n % 3 ? "seal" : "repaired")] }),
      );
    }
    for (let n = 0; n <= 41; n++) {
      const [found] = await store.events({ task: "kernel", fromN: n, limit: 1 });
      assert.equal(found?.n, n < 40 ? n : undefined);
      const seals = await store.events({ task: "kernel", fromN: n, kinds: ["seal"], afterSeq: 50 });
      assert.ok(seals.every((e) => e.n >= n && e.seq > 50 && e.kind === "seal"));
    }
    assert.equal((await store.events({ task: "kernel" })).length, 40);
    await store.close();
  });

  claim("without a limit a query gives 1,000 events", async (_u, store) => {
    const events = Array.from({ length: 1_001 }, (_, n) => event("alice", n));
    await store.commit(batch({ events }));
    assert.equal((await store.events({})).length, 1_000);
    assert.deepEqual((await store.events({ afterSeq: 1_000 })).map((e) => e.seq), [1_001]);
    await store.close();
  });

  claim("heads are the last event of each chain", async (_u, store) => {
    const events = ["bob", "alice", "kernel"].flatMap((t) => [event(t, 0), event(t, 1)]);
    await store.commit(batch({ events: [...events, event("alice", 2)] }));
    const heads = (await store.heads()).map((e) => `${e.task} ${e.n}`).sort();
    assert.deepEqual(heads, ["alice 2", "bob 1", "kernel 1"]);
    await store.close();
  });

  claim("heads come page by page, as they stood at an event", async (_u, store) => {
    const chains = ["kernel", "bob", "alice", "dave"];
    await store.commit(batch({ events: chains.map((chain) => event(chain, 0)) }));
    await store.commit(batch({ events: chains.map((chain) => event(chain, 1)) }));
    await store.commit(batch({ events: [event("erin", 0)] }));
    const paged = async (limit: number, untilSeq?: number): Promise<readonly string[]> => {
      const found: string[] = [];
      let after: string | undefined;
      for (;;) {
        const page = await store.heads({
          limit,
          ...(untilSeq === undefined ? {} : { untilSeq }),
          ...(after === undefined ? {} : { after }),
        });
        found.push(...page.map(({ task, n }) => `${task} ${n}`));
        after = page.at(-1)?.task;
        if (page.length < limit) return found;
      }
    };
    for (const limit of [1, 2, 3, 10]) {
      assert.deepEqual(await paged(limit), ["kernel 1", "bob 1", "alice 1", "dave 1", "erin 0"]);
      assert.deepEqual(await paged(limit, 6), ["kernel 1", "bob 1", "alice 0", "dave 0"]);
      assert.deepEqual(await paged(limit, 2), ["kernel 0", "bob 0"]);
    }
    await store.close();
  });

  claim("erasing takes the content of one task and leaves its events", async (_u, store) => {
    const [a, b, c] = [blob("alice", "one"), blob("alice", "three"), blob("bob", "fifteen")];
    await store.commit(batch({ events: [event("alice", 0)], blobs: [a, b, c] }));
    assert.equal(await store.eraseBlobs("alice"), 2);
    assert.equal(await store.blob(a.task, a.digest), undefined);
    assert.equal(await store.blob(b.task, b.digest), undefined);
    assert.notEqual(await store.blob(c.task, c.digest), undefined);
    assert.equal((await store.events({})).length, 1);
    await store.close();
  });

  claim("documents are listed by kind and task, oldest first", async (_u, store) => {
    const documents = [note("z", 0, "1"), note("a", 0, "2", "bob"), note("m", 0, "3")];
    await store.commit(
      batch({ documents: [...documents, { ...note("q", 0, ""), kind: "other" }] }),
    );
    const ids = async (query: Parameters<Store["documents"]>[0]): Promise<readonly string[]> =>
      (await store.documents(query)).map((d) => d.id);
    assert.deepEqual(await ids({ kind: "note" }), ["z", "a", "m"]);
    assert.deepEqual(await ids({ kind: "note", task: "alice" }), ["z", "m"]);
    assert.deepEqual(await ids({ kind: "note", limit: 1 }), ["z"]);
    await store.close();
  });

  claim(
    "documents are found by how they stand, by the beginning of their ids, page by page",
    async (_u, store) => {
      const task = (id: string, body: DocumentWrite["body"]): DocumentWrite => ({
        ...{ kind: "task", id, task: id, expect: 0, body },
      });
      await store.commit(batch({
        documents: [
          task("tc", { status: "done" }),
          task("ta", { status: "open" }),
          task("tb", { status: "done", archived: true }),
          task("ta2", { status: "failed" }),
          task("td", { odd: 1 }),
          { ...task("q1", { question: { state: "open" } }), kind: "question" },
          { ...task("q2", { question: { state: "allowed" } }), kind: "question" },
          { ...task("q3", { erased: true }), kind: "question" },
        ],
      }));
      const ids = async (query: Parameters<Store["documents"]>[0]): Promise<string> =>
        (await store.documents(query)).map((d) => d.id).join(" ");
      const kind = "task";
      assert.equal(await ids({ kind, states: ["open", "failed", ""] }), "ta ta2 td");
      assert.equal(await ids({ kind, states: ["archived"] }), "tb");
      assert.equal(await ids({ kind, states: [] }), "");
      assert.equal(await ids({ kind: "question", states: ["open", ""] }), "q1 q3");
      assert.equal(await ids({ kind, prefix: "ta" }), "ta ta2");
      assert.equal(await ids({ kind, newest: true, limit: 2 }), "td ta2");
      const states = ["done", "open", "failed"];
      assert.equal(await ids({ kind, states, newest: true, limit: 2 }), "ta2 ta");
      assert.equal(await ids({ kind, states, newest: true, before: "ta" }), "tc");
      assert.equal(await ids({ kind, after: "tb" }), "ta2 td");
      assert.equal(await ids({ kind, after: "nobody" }), "");
      const [row] = await store.documents({ kind, prefix: "tc" });
      await store.commit(batch({ documents: [{ ...task("tc", { status: "open" }), expect: 1 }] }));
      assert.equal(
        await ids({ kind, states: ["open"] }),
        "tc ta",
        "its place is where it was made",
      );
      assert.equal(row?.version, 1);
      assert.equal(store.peek(kind, "tc")?.version, 2);
      assert.equal(store.peek(kind, "nobody"), undefined);
      await store.close();
    },
  );

  claim("events are found from the newest back, and up to one", async (_u, store) => {
    await store.commit(
      batch({ events: [0, 1, 2].flatMap((n) => [event("alice", n), event("kernel", n)]) }),
    );
    const seqs = async (query: Parameters<Store["events"]>[0]): Promise<string> =>
      (await store.events(query)).map((e) => e.seq).join(" ");
    assert.equal(await seqs({ newest: true, limit: 2 }), "6 5");
    assert.equal(await seqs({ newest: true, untilSeq: 4, limit: 2 }), "4 3");
    assert.equal(await seqs({ task: "alice", newest: true }), "5 3 1");
    assert.equal(await seqs({ afterSeq: 1, untilSeq: 3 }), "2 3");
    assert.equal((await store.head("alice"))?.n, 2);
    assert.equal((await store.head("kernel"))?.n, 2);
    assert.equal(await store.head("bob"), undefined);
    await store.close();
  });

  claim("the key __proto__ in a document is data", async (_u, store) => {
    const body = JSON.parse('{"__proto__":{"admin":true}}');
    await store.commit(batch({ documents: [{ ...note("x", 0, ""), body }] }));
    const found = (await store.document("note", "x"))?.body;
    assert.equal(JSON.stringify(found), '{"__proto__":{"admin":true}}');
    await store.close();
  });
}
