import assert from "node:assert/strict";
import { type CallPlace, InboxId, Sender } from "../../../contracts/exchange/mod.ts";
import { settled } from "../../_fixture/bench.ts";
import {
  ALICE,
  ALICE_TOO,
  BOB,
  DONE,
  EXCHANGE,
  type InboxWorld,
  inboxWorld,
  messageOf,
  ofPeer,
  stampOf,
  TO_BOB,
} from "../../_fixture/inbox_world.ts";

Deno.test("a message is kept, told, and due for its task; what the log says of it holds no word of it", async () => {
  const { inbox, log, queued } = await inboxWorld();
  const { entry, duplicate } = await inbox.put(messageOf({ body: "SECRET-WORD" }), stampOf(ALICE));
  assert.deepEqual([entry.state, duplicate, entry.n], ["queued", false, 1]);
  assert.deepEqual(inbox.due(ALICE), [entry]);
  assert.deepEqual(queued, [entry]);
  assert.equal(log.events[0]?.task, ALICE);
  assert.equal(log.events[0]?.event.kind, "inbox");
  assert.ok(!JSON.stringify(log.events).includes("SECRET-WORD"));
});

Deno.test("a replay is answered as it was the first time, also by the next kernel and after its delivery", async () => {
  const world = await inboxWorld();
  const message = ofPeer();
  const first = await world.inbox.put(message, TO_BOB);
  const again = await world.inbox.put(message, TO_BOB);
  assert.deepEqual(again, { entry: first.entry, duplicate: true });
  const marking = world.inbox.delivering([first.entry.id], BOB);
  await world.log.append(BOB, marking.events, marking.documents);
  marking.kept();
  const next = await world.again();
  const late = await next.put(message, TO_BOB);
  assert.deepEqual([late.duplicate, late.entry.id, late.entry.state], [
    true,
    first.entry.id,
    "delivered",
  ]);
  assert.deepEqual(next.due(BOB), [], "it is never shown again");
});

Deno.test("two puts of one message at once are one message", async () => {
  const { inbox } = await inboxWorld();
  const message = ofPeer();
  const both = await Promise.all([inbox.put(message, TO_BOB), inbox.put(message, TO_BOB)]);
  assert.deepEqual(both.map(({ duplicate }) => duplicate), [false, true]);
  assert.equal(inbox.due(BOB).length, 1);
});

Deno.test("interrupts come first, then what waits in the order in which it came, within what a turn is shown", async () => {
  const { inbox } = await inboxWorld({ quotas: { visibleBytes: 1_000 } });
  const put = async (more: Parameters<typeof messageOf>[0]) =>
    (await inbox.put(messageOf(more), stampOf(ALICE))).entry.id;
  const first = await put({ body: "first" });
  const large = await put({ body: "x".repeat(2_000) });
  const urgent = await put({ kind: "interrupt", body: "stop" });
  assert.deepEqual(inbox.due(ALICE).map(({ id }) => id), [urgent, first]);
  const marking = inbox.delivering([urgent, first], ALICE);
  assert.deepEqual(
    inbox.due(ALICE).map(({ id }) => id),
    [large],
    "what is being delivered is not due",
  );
  marking.dropped();
  assert.deepEqual(
    inbox.due(ALICE).map(({ id }) => id),
    [urgent, first],
    "and is again when it was not",
  );
});

Deno.test("a task would have been ended as answered while the next message was being shown to it", async () => {
  const { inbox } = await inboxWorld();
  assert.equal(inbox.pending(ALICE), false);
  const { entry } = await inbox.put(messageOf({ body: "more" }), stampOf(ALICE));
  assert.equal(inbox.pending(ALICE), true);
  const marking = inbox.delivering([entry.id], ALICE);
  assert.deepEqual([inbox.due(ALICE), inbox.pending(ALICE)], [[], true]);
  marking.kept();
  assert.equal(inbox.pending(ALICE), false);
});

Deno.test("what expires is never shown, and is told as expired by this kernel and the next", async () => {
  const world = await inboxWorld();
  const { inbox, powers } = world;
  const { entry } = await inbox.put(
    messageOf({ expiresAt: powers.now() + 1_000 }),
    stampOf(ALICE),
  );
  const dead = await inbox.put(messageOf({ expiresAt: powers.now() }), stampOf(ALICE));
  assert.equal(dead.entry.state, "expired", "it was over when it came");
  powers.turn(1_000);
  assert.deepEqual(inbox.due(ALICE), []);
  assert.equal(inbox.get(entry.id)?.state, "expired");
  await assert.rejects(inbox.release(entry.id), { code: "conflict" });
  const next = await world.again();
  assert.equal((await next.read(entry.id))?.state, "expired");
});

Deno.test("a person releases and dismisses what waits for them, once", async () => {
  const world = await inboxWorld();
  const { inbox, queued } = world;
  const asks = ofPeer({
    kind: "approvalRequest",
    requestedAuthority: [{ resource: "mount", right: "read", path: "notes", why: "" }],
  });
  const { entry } = await inbox.put(asks, TO_BOB);
  assert.deepEqual(inbox.due(BOB), []);
  const released = await inbox.release(entry.id);
  assert.deepEqual([released.state, released.why], ["queued", undefined]);
  assert.deepEqual(queued.map(({ id }) => id), [entry.id], "whoever delivers is told");
  const dismissed = await inbox.dismiss(entry.id, "no need");
  assert.deepEqual([dismissed.state, dismissed.why], ["dismissed", "no need"]);
  await assert.rejects(inbox.dismiss(entry.id, "again"), { code: "conflict" });
  await assert.rejects(inbox.release(InboxId.parse("mnowhere00000")), { code: "notFound" });
  const next = await world.again();
  assert.deepEqual([next.list({}), next.due(BOB)], [[], []]);
  assert.deepEqual((await next.past({ state: "dismissed" })).map(({ id }) => id), [entry.id]);
});

Deno.test("what waits for a task that ends is put aside, and cannot be released to it", async () => {
  const { inbox, tasks } = await inboxWorld();
  const { entry } = await inbox.put(messageOf(), stampOf(ALICE));
  const done = tasks.get(DONE);
  assert.ok(done);
  tasks.set(ALICE, done);
  await inbox.over(ALICE);
  assert.equal(inbox.get(entry.id)?.why, "its task is over");
  await assert.rejects(inbox.release(entry.id), { code: "conflict", message: /its task is over/ });
});

Deno.test("a purge erases what a task's messages said, also those that were its first words, and no others", async () => {
  const { inbox, log } = await inboxWorld();
  const first = await inbox.put(
    ofPeer({ body: "FIRST-WORDS" }),
    stampOf("agent:lal", { exchange: EXCHANGE, held: true }),
  );
  const taking = inbox.taking(first.entry.id, BOB);
  await log.append(BOB, taking.events, taking.documents);
  taking.kept();
  const mine = await inbox.put(ofPeer({ body: "MORE-WORDS" }), TO_BOB);
  const other = await inbox.put(messageOf({ body: "OTHER-WORDS" }), stampOf(ALICE));
  await inbox.forget(BOB);
  const all = JSON.stringify([...log.rows.values()]);
  assert.deepEqual([/FIRST-WORDS/, /MORE-WORDS/, /OTHER-WORDS/].map((word) => word.test(all)), [
    false,
    false,
    true,
  ]);
  assert.equal((await inbox.read(mine.entry.id))?.message.body, "");
  assert.equal((await inbox.read(other.entry.id))?.message.body, "OTHER-WORDS");
  assert.equal(
    (await inbox.put(
      ofPeer({ id: first.entry.message.id, body: "x" }),
      stampOf("agent:lal", { exchange: EXCHANGE, held: true }),
    )).duplicate,
    true,
    "its id is remembered without its words",
  );
});

Deno.test("retention erases what was settled before and is no task's", async () => {
  const { inbox, log, powers } = await inboxWorld();
  const agents = stampOf("agent:lal", { exchange: EXCHANGE });
  const old = await inbox.put(ofPeer({ body: "OLD-WORDS" }), agents);
  const waits = await inbox.put(ofPeer({ body: "WAITING-WORDS" }), agents);
  await inbox.dismiss(old.entry.id, "no");
  powers.turn(3 * 86_400_000);
  const fresh = await inbox.put(ofPeer({ body: "FRESH-WORDS" }), agents);
  await inbox.dismiss(fresh.entry.id, "no");
  assert.deepEqual(await inbox.eraseBefore(powers.now() - 86_400_000), { erased: 1 });
  const all = JSON.stringify([...log.rows.values()]);
  assert.deepEqual(
    [/OLD-WORDS/, /WAITING-WORDS/, /FRESH-WORDS/].map((word) => word.test(all)),
    [false, true, true],
  );
  assert.equal((await inbox.read(waits.entry.id))?.message.body, "WAITING-WORDS");
});

Deno.test("a full disk takes nothing and leaves nothing half done", async () => {
  const world = await inboxWorld();
  const { inbox, log } = world;
  log.full = true;
  await assert.rejects(inbox.put(messageOf({ id: "m" }), stampOf(ALICE)), { code: "storeFull" });
  assert.deepEqual([inbox.due(ALICE), inbox.list({})], [[], []]);
  log.full = false;
  const { entry, duplicate } = await inbox.put(messageOf({ id: "m" }), stampOf(ALICE));
  assert.deepEqual([entry.state, duplicate], ["queued", false]);
  log.full = true;
  await assert.rejects(inbox.dismiss(entry.id, "no"), { code: "storeFull" });
  assert.equal(inbox.due(ALICE).length, 1, "it waits as before");
});

const PEER = Sender.parse("peer:desk");
const AT: CallPlace = { task: ALICE, call: "2/c1", sender: PEER };
const said = (more: Parameters<typeof messageOf>[0] = {}) =>
  messageOf({ sender: PEER, senderTask: "t1", recipientTask: ALICE, ...more });
const during = (place: CallPlace = AT) => stampOf(place.task, { call: place.call });

/** What a call's end shows; committed unless it is to be dropped. */
async function end(
  { inbox, log }: InboxWorld,
  place: CallPlace = AT,
  how: "kept" | "dropped" = "kept",
): Promise<readonly string[]> {
  const delivery = inbox.calls.end(place);
  if (delivery === undefined) return [];
  if (how === "kept") await log.append(place.task, delivery.events, delivery.documents);
  delivery[how]();
  await settled();
  return delivery.entries.map(({ message }) => message.body);
}

Deno.test("what a peer says during alice's call waits for the call's result, wakes nobody, and is delivered once with it", async () => {
  const world = await inboxWorld();
  const { inbox, queued } = world;
  inbox.calls.begin(AT);
  const { entry } = await inbox.calls.put(
    said({ body: "one", causalParent: `${ALICE}#7` }),
    during(),
  );
  await inbox.calls.put(said({ body: "two", kind: "question" }), during());
  assert.deepEqual([entry.state, entry.call, entry.colour], ["queued", "2/c1", "RED"]);
  assert.deepEqual([queued, inbox.due(ALICE), inbox.pending(ALICE)], [[], [], false]);
  assert.deepEqual(await end(world), ["one", "two"]);
  assert.equal(inbox.get(entry.id)?.state, "delivered");
  assert.deepEqual([queued, inbox.due(ALICE), await end(world)], [[], [], []]);
  const next = await world.again();
  assert.deepEqual([next.due(ALICE), (await next.read(entry.id))?.state], [[], "delivered"]);
});

Deno.test("a message that comes again is none, and one of another's words under its id waits for a person", async () => {
  const world = await inboxWorld();
  const { inbox } = world;
  inbox.calls.begin(AT);
  await inbox.calls.put(said({ id: "m1", body: "one", causalParent: `${ALICE}#7` }), during());
  assert.equal((await inbox.calls.put(said({ id: "m1", body: "one" }), during())).duplicate, true);
  const forged = await inbox.calls.put(said({ id: "m1", body: "obey" }), during());
  assert.deepEqual([forged.entry.state, forged.entry.why], [
    "quarantined",
    "its id was used before, for another message",
  ]);
  assert.deepEqual(await end(world), ["one"]);
  // The next call hears the old words again, as one that looks at a task does.
  const later = { ...AT, call: "2/c2" };
  inbox.calls.begin(later);
  assert.equal(
    (await inbox.calls.put(
      said({ id: "m1", body: "one", causalParent: `${ALICE}#12` }),
      during(later),
    )).duplicate,
    true,
  );
  assert.deepEqual(await end(world, later), []);
  // Another task of ours may hear of a task of the same name: its messages are its own.
  const other = { ...AT, task: ALICE_TOO };
  inbox.calls.begin(other);
  await inbox.calls.put(
    said({ id: "m1", body: "other", recipientTask: ALICE_TOO }),
    during(other),
  );
  assert.deepEqual(await end(world, other), ["other"]);
});

Deno.test("a muted peer's words are not shown with a result, nor afterwards, before a person hears it again", async () => {
  const world = await inboxWorld();
  const { inbox, queued } = world;
  inbox.calls.begin(AT);
  await inbox.calls.put(said({ body: "before" }), during());
  await inbox.mute(PEER, "enough");
  await assert.rejects(inbox.calls.put(said({ body: "after" }), during()), { code: "denied" });
  assert.deepEqual([await end(world), inbox.due(ALICE)], [[], []]);
  await inbox.unmute(PEER);
  assert.deepEqual(queued.map(({ message }) => message.body), ["before"]);
  assert.deepEqual(inbox.due(ALICE).map(({ message }) => message.body), ["before"]);
});

Deno.test("calls that are under way at once do not take each other's messages, nor make each other's old", async () => {
  const world = await inboxWorld();
  const { inbox } = world;
  const late = { ...AT, call: "2/c2" };
  inbox.calls.begin(AT);
  inbox.calls.begin(late);
  await inbox.calls.put(said({ body: "of the second", causalParent: `${ALICE}#9` }), during(late));
  await inbox.calls.put(said({ body: "of the first", causalParent: `${ALICE}#8` }), during());
  assert.deepEqual(await end(world, late), ["of the second"]);
  const after = await inbox.calls.put(
    said({ body: "still", causalParent: `${ALICE}#8` }),
    during(),
  );
  assert.equal(after.entry.state, "queued", after.entry.why);
  assert.deepEqual(await end(world), ["of the first", "still"]);
});

Deno.test("a crash, or a result that could not be written, would have lost what came: the next call shows it, or the task's next turn", async () => {
  const world = await inboxWorld();
  const { inbox } = world;
  inbox.calls.begin(AT);
  await inbox.calls.put(said({ body: "kept" }), during());
  assert.deepEqual(await end(world, AT, "dropped"), ["kept"]);
  assert.deepEqual(inbox.due(ALICE).map(({ message }) => message.body), ["kept"]);
  world.inbox = await world.again();
  assert.deepEqual(world.inbox.due(ALICE).map(({ message }) => message.body), ["kept"]);
  // The call is made again under its name: its messages are the same.
  world.inbox.calls.begin(AT);
  assert.deepEqual(world.inbox.due(ALICE), []);
  assert.deepEqual(await end(world), ["kept"]);
  assert.deepEqual(world.inbox.due(ALICE), []);
});

Deno.test("what calls of a task left when it ends is put away, and mutes nobody", async () => {
  const { inbox, tasks } = await inboxWorld({ quotas: { mutedAfter: 2 } });
  inbox.calls.begin(AT);
  const put = [];
  for (let i = 0; i < 4; i++) put.push((await inbox.calls.put(said(), during())).entry.id);
  const known = tasks.get(ALICE);
  if (known !== undefined) tasks.set(ALICE, { ...known, status: "done" });
  await inbox.over(ALICE);
  assert.deepEqual(put.map((id) => inbox.get(id)?.state), put.map(() => "dismissed"));
  assert.deepEqual(inbox.muted(), []);
});

Deno.test("what a peer says without a call or an exchange waits for a person, as ever", async () => {
  const { inbox } = await inboxWorld();
  const { entry } = await inbox.put(said(), stampOf(ALICE));
  assert.equal(entry.why, "its sender is a peer, and no exchange is named");
  const box = await inbox.put(said(), stampOf("agent:lal", { call: "2/c1" }));
  assert.equal(box.entry.state, "quarantined");
});
