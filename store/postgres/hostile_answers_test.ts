/** The kernel's end of a store process that is not ours any more: what it answers is refused, and reaches nobody. */
import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import type { Json } from "../../contracts/base/json.ts";
import type { Port } from "../../contracts/base/port.ts";
import { openRemoteStore } from "./mod.ts";

const ROW = {
  ...{ seq: 1, task: "t000000000001", n: 0, kind: "message", at: 1, body: "{}" },
  hash: "ab".repeat(32),
};

/** A port whose other end answers `op` with `answer`, and all else with empty pages. */
function portThat(op: string, answer: Json): Port {
  const closed = Promise.withResolvers<Fault>();
  return {
    ask: (asked) => Promise.resolve(asked === op ? answer : { rows: [], cut: false }),
    tell: () => undefined,
    close: () => undefined,
    closed: closed.promise,
    feed: () => undefined,
  };
}

const OPTIONS = { url: "postgres://x", kernel: "k", leaseMs: 1_000, machine: "m" };

for (
  const [what, row] of [
    ["a place that is no number", { ...ROW, seq: "one" }],
    ["a place past all numbers", { ...ROW, n: 2 ** 60 }],
    ["a hash that is none", { ...ROW, hash: "zz" }],
    ["a kind with a line in it", { ...ROW, kind: "mess\nage" }],
    ["a body that is no text", { ...ROW, body: { a: 1 } }],
    ["no row at all", null],
  ] as const
) {
  Deno.test(`an event from the store process with ${what} is refused as damaged`, async () => {
    const store = await openRemoteStore(portThat("events", { rows: [row], cut: false }), OPTIONS);
    await assert.rejects(
      store.events({}),
      (error: unknown) => error instanceof Fault && error.code === "storeCorrupt",
    );
  });
}

Deno.test("an answer that is no page, and content that is no bytes, are refused", async () => {
  const pages = await openRemoteStore(portThat("heads", [ROW]), OPTIONS);
  await assert.rejects(
    pages.heads(),
    (error: unknown) => error instanceof Fault && error.code === "storeCorrupt",
  );
  const blobs = await openRemoteStore(portThat("blob", { salt: 1, bytes: "" }), OPTIONS);
  const digest = ROW.hash as Parameters<typeof blobs.blob>[1];
  await assert.rejects(
    blobs.blob("t000000000001", digest),
    (error: unknown) => error instanceof Fault && error.code === "storeCorrupt",
  );
});

Deno.test("a document that is no object opens no store", async () => {
  const document = {
    kind: "task",
    id: "t000000000001",
    task: "t000000000001",
    version: 1,
    body: "[]",
  };
  await assert.rejects(
    openRemoteStore(portThat("documents", { rows: [document], cut: false }), OPTIONS),
    (error: unknown) => error instanceof Fault && error.code === "storeCorrupt",
  );
});

Deno.test("pages that are cut and empty do not turn for ever", async () => {
  const store = await openRemoteStore(portThat("events", { rows: [], cut: true }), OPTIONS);
  assert.deepEqual(await store.events({}), []);
});
