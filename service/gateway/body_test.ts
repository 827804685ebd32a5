import assert from "node:assert/strict";
import { makeBodyRoom, readBody } from "./body.ts";

const bounds = { bodyMs: 60_000, after: () => () => undefined, max: 1_000 };

/** A body that is sent as the test says. */
function slowBody(): { readonly request: Request; send(bytes: number): void; end(): void } {
  let to: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => void (to = controller),
    cancel: () => void (to = undefined),
  });
  return {
    request: new Request("http://a/hooks/x", { method: "POST", body }),
    send: (bytes) => to?.enqueue(new Uint8Array(bytes)),
    end: () => to?.close(),
  };
}

Deno.test("mallory's slow bodies fill the room and no more, and give way to alice's", async () => {
  const room = makeBodyRoom(2_000);
  const slow = Array.from({ length: 50 }, () => {
    const body = slowBody();
    const held = room.hold("mallory");
    const read = readBody(body.request, bounds, held);
    body.send(500);
    return { ...body, held, read: read.finally(() => held.over()) };
  });
  const ended = await Promise.all(slow.slice(0, 46).map(({ read }) => read));
  assert.deepEqual([...new Set(ended.map(({ kind }) => kind))], ["crowded"]);
  assert.equal(room.bytes, 2_000);

  const alices = slowBody();
  const held = room.hold("alice");
  const read = readBody(alices.request, bounds, held);
  alices.send(700);
  alices.end();
  const got = await read;
  assert.deepEqual([got.kind, got.kind === "bytes" && got.bytes.length], ["bytes", 700]);
  // What is whole gives way to nobody: of mallory's, two more had to.
  const more = room.hold("mallory");
  assert.equal(more.take(900), true);
  assert.ok(room.bytes <= 2_000);
  more.over();
  held.over();
  for (const each of slow) each.end();
  await Promise.all(slow.map(({ read }) => read));
  assert.equal(room.bytes, 0);
});

Deno.test("whoever holds less than the newcomer gives nothing up, and no sequence leaves a byte behind", () => {
  const room = makeBodyRoom(1_000);
  const [alice, mallory] = [room.hold("alice"), room.hold("mallory")];
  let lost = 0;
  alice.gaveWay(() => lost++);
  assert.equal(alice.take(400), true);
  assert.equal(mallory.take(600), true);
  assert.equal(mallory.take(1), false);
  assert.equal(room.hold("mallory").take(1_001), false);
  assert.deepEqual([lost, room.bytes], [0, 1_000]);
  const second = room.hold("alice");
  // The oldest of whoever holds the most: mallory's only one.
  assert.equal(second.take(200), true);
  assert.deepEqual([lost, room.bytes], [0, 600]);
  assert.equal(mallory.take(1), false, "what gave way takes nothing again");
  for (const each of [alice, second, mallory, mallory]) each.over();
  assert.equal(room.bytes, 0);
});
