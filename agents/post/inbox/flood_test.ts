import assert from "node:assert/strict";
import { type InboxEntry, Sender } from "../../../contracts/exchange/mod.ts";
import {
  ALICE,
  BOB,
  EXCHANGE,
  inboxWorld,
  messageOf,
  ofPeer,
  PEER,
  stampOf,
  TO_BOB,
} from "../../_fixture/inbox_world.ts";
import { settled } from "../../_fixture/bench.ts";

Deno.test("mallory's flood stops at her share of a minute, and alice's mail comes in meanwhile", async () => {
  const { inbox, powers } = await inboxWorld({ quotas: { perMinute: 10 } });
  for (let i = 0; i < 100; i++) await inbox.put(ofPeer(), TO_BOB);
  await assert.rejects(inbox.put(ofPeer(), TO_BOB), { code: "rateLimited", message: /minute/ });
  const alice = Sender.parse(`task:${ALICE}`);
  assert.equal(
    (await inbox.put(messageOf({ sender: alice }), stampOf(ALICE))).entry.state,
    "queued",
  );
  powers.turn(60_000);
  await inbox.put(ofPeer(), TO_BOB);
});

Deno.test("a replay counts as a message of the minute: asking again is no way around it", async () => {
  const { inbox } = await inboxWorld({ quotas: { perMinute: 3 } });
  const message = messageOf({ sender: Sender.parse("webhook:ci") });
  for (let i = 0; i < 3; i++) await inbox.put(message, stampOf(BOB));
  await assert.rejects(inbox.put(message, stampOf(BOB)), { code: "rateLimited" });
});

Deno.test("what waits is bounded for a sender, for a box and in bytes, and what is read makes room", async () => {
  const world = await inboxWorld({ quotas: { perSender: 3, perBox: 5, queuedBytes: 5_000 } });
  const { inbox } = world;
  const kept: InboxEntry[] = [];
  for (let i = 0; i < 3; i++) kept.push((await inbox.put(ofPeer(), TO_BOB)).entry);
  await assert.rejects(inbox.put(ofPeer(), TO_BOB), { code: "rateLimited", message: /sender/ });
  for (let i = 0; i < 2; i++) await inbox.put(messageOf(), stampOf(BOB));
  await assert.rejects(inbox.put(messageOf(), stampOf(BOB)), {
    code: "rateLimited",
    message: /inbox/,
  });
  await assert.rejects(inbox.put(messageOf({ body: "x".repeat(6_000) }), stampOf(ALICE)), {
    code: "rateLimited",
    message: /bytes/,
  });
  await world.again();
  await assert.rejects(world.inbox.put(ofPeer(), TO_BOB), { code: "rateLimited" }, "also anew");
  const first = kept[0];
  assert.ok(first);
  await world.inbox.dismiss(first.id, "read");
  assert.equal((await world.inbox.put(ofPeer(), TO_BOB)).entry.state, "queued");
});

Deno.test("a sender of whom too much is put aside is muted until a person looks, and its queue is kept back", async () => {
  const world = await inboxWorld({ quotas: { mutedAfter: 3 } });
  const { inbox, queued } = world;
  const good = await inbox.put(ofPeer(), TO_BOB);
  for (let i = 0; i < 3; i++) await inbox.put(ofPeer(), stampOf(ALICE, { exchange: EXCHANGE }));
  await settled();
  assert.deepEqual(inbox.muted().map(({ sender, why }) => [sender, why]), [
    [PEER, "3 of its messages are quarantined"],
  ]);
  await assert.rejects(inbox.put(ofPeer(), TO_BOB), {
    code: "denied",
    message: /remit inbox unmute peer:mallory/,
  });
  assert.deepEqual(inbox.due(BOB), [], "what it had queued is kept back");
  const next = await world.again();
  await assert.rejects(next.put(ofPeer(), TO_BOB), { code: "denied" }, "the next kernel knows it");
  queued.length = 0;
  await next.unmute(PEER);
  assert.deepEqual(queued.map(({ id }) => id), [good.entry.id]);
  assert.equal(next.due(BOB).length, 1);
  await next.mute(PEER, "noise");
  await assert.rejects(next.put(ofPeer(), TO_BOB), { code: "denied" });
});

Deno.test("the person is never muted", async () => {
  const { inbox } = await inboxWorld({ quotas: { mutedAfter: 1 } });
  for (let i = 0; i < 3; i++) await inbox.put(messageOf({ recipientTask: BOB }), stampOf(ALICE));
  await settled();
  assert.deepEqual(inbox.muted(), []);
});

Deno.test("an inbox that 100,000 messages passed through keeps 1,024 of their names and no word in memory", async () => {
  const world = await inboxWorld();
  const { inbox, log } = world;
  const body = "x".repeat(200);
  // Rows are the store's: here they would only measure the test.
  log.append = (_task, events) => Promise.resolve(events.map((_, n) => ({ n, hash: "" as never })));
  for (let i = 0; i < 100_000; i += 100) {
    const ids = await Promise.all(Array.from({ length: 100 }, async (_, k) => {
      const message = messageOf({ id: `flood-${i + k}`, body });
      return (await inbox.put(message, stampOf(ALICE))).entry.id;
    }));
    const marking = inbox.delivering(ids, ALICE);
    marking.kept();
  }
  assert.equal(inbox.list({}).length, 1_024);
  assert.ok(inbox.list({}).every(({ message }) => message.body === ""));
  assert.equal(inbox.due(ALICE).length, 0);
});
