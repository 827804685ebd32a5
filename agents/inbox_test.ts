import assert from "node:assert/strict";
import { InboxId, Sender } from "../contracts/mod.ts";
import {
  ALICE,
  ALICE_TOO,
  BOB,
  DONE,
  EXCHANGE,
  inboxWorld,
  messageOf,
  stampOf,
} from "./_inbox_test.ts";
import { settled } from "./_bench_test.ts";

const PEER = Sender.parse("peer:mallory");
const ofPeer = (more: Parameters<typeof messageOf>[0] = {}) =>
  messageOf({ sender: PEER, senderTask: EXCHANGE, ...more });
const toBob = stampOf(BOB, { exchange: EXCHANGE });

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
  const first = await world.inbox.put(message, toBob);
  const again = await world.inbox.put(message, toBob);
  assert.deepEqual(again, { entry: first.entry, duplicate: true });
  const marking = world.inbox.delivering([first.entry.id], BOB);
  await world.log.append(BOB, marking.events, marking.documents);
  marking.kept();
  const next = await world.again();
  const late = await next.put(message, toBob);
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
  const both = await Promise.all([inbox.put(message, toBob), inbox.put(message, toBob)]);
  assert.deepEqual(both.map(({ duplicate }) => duplicate), [false, true]);
  assert.equal(inbox.due(BOB).length, 1);
});

Deno.test("the same id with other words is put aside, however often it is tried", async () => {
  const { inbox } = await inboxWorld();
  await inbox.put(ofPeer({ id: "one", body: "Pay alice." }), toBob);
  const { entry } = await inbox.put(ofPeer({ id: "one", body: "Pay mallory." }), toBob);
  assert.deepEqual([entry.state, entry.why], [
    "quarantined",
    "its id was used before, for another message",
  ]);
  assert.equal(inbox.due(BOB).length, 1);
});

Deno.test("the same id of another sender, or of another exchange, is another message", async () => {
  const { inbox } = await inboxWorld({ exchangeTask: () => BOB });
  const other = "x0000000000000000000000bb";
  await inbox.put(ofPeer({ id: "one" }), toBob);
  const second = await inbox.put(
    ofPeer({ id: "one", senderTask: other }),
    stampOf(BOB, { exchange: other }),
  );
  const third = await inbox.put(messageOf({ id: "one", senderTask: EXCHANGE }), stampOf(BOB));
  assert.deepEqual([second, third].map(({ duplicate, entry }) => [duplicate, entry.state]), [
    [false, "queued"],
    [false, "queued"],
  ]);
});

Deno.test("an id is free again once its window has passed", async () => {
  const { inbox, powers } = await inboxWorld();
  const message = ofPeer();
  await inbox.put(message, toBob);
  powers.turn(86_400_000);
  assert.equal((await inbox.put(message, toBob)).duplicate, true, "remembered for a day at least");
  powers.turn(86_400_000);
  assert.equal((await inbox.put(message, toBob)).duplicate, false);
});

Deno.test("strangers are put aside: what has nothing to do with the task, or is no task, or is over", async () => {
  const { inbox } = await inboxWorld();
  const of = (task: string) => Sender.parse(`task:${task}`);
  const ways = [
    [messageOf({ sender: of(BOB) }), stampOf(ALICE), "its sender has nothing to do with this task"],
    [messageOf({ sender: of("tnobody000000") }), stampOf(ALICE), "its sender is not known"],
    [
      messageOf({ sender: of(ALICE), senderTask: BOB }),
      stampOf(ALICE_TOO),
      "its sender names a task that is not its own",
    ],
    [
      messageOf({ sender: Sender.parse("agent:lal"), senderTask: BOB }),
      stampOf(ALICE),
      "its sender has nothing to do with this task",
    ],
    [
      messageOf({ sender: Sender.parse("agent:lal") }),
      stampOf(ALICE),
      "its sender has nothing to do with this task",
    ],
    [messageOf({ sender: PEER }), stampOf(BOB), "its sender is a peer, and no exchange is named"],
    [
      ofPeer(),
      stampOf(ALICE, { exchange: EXCHANGE }),
      "the task is not the one of its sender's exchange",
    ],
    [messageOf({ recipientTask: BOB }), stampOf(ALICE), "it names another recipient than its box"],
    [messageOf(), stampOf("tnobody000000"), "its task is not known"],
    [messageOf(), stampOf(DONE), "its task is over"],
  ] as const;
  for (const [message, stamp, why] of ways) {
    const { entry } = await inbox.put(message, stamp);
    assert.deepEqual([entry.state, entry.why], ["quarantined", why]);
  }
  assert.deepEqual([ALICE, ALICE_TOO, BOB, DONE].flatMap((task) => inbox.due(task)), []);
});

Deno.test("a task of the same session is heard, and one that answers a question of the recipient", async () => {
  const { inbox } = await inboxWorld();
  const [alice, bob] = [Sender.parse(`task:${ALICE}`), Sender.parse(`task:${BOB}`)];
  const kin = await inbox.put(messageOf({ sender: alice }), stampOf(ALICE_TOO));
  assert.equal(kin.entry.state, "queued");
  // Alice's task asks bob's, as a host program that knows both lets it.
  const asked = await inbox.put(
    messageOf({ id: "q1", sender: alice, kind: "question" }),
    stampOf(BOB),
  );
  assert.equal(asked.entry.state, "quarantined", "nothing joins the two");
  await inbox.release(asked.entry.id);
  const answer = await inbox.put(messageOf({ sender: bob, causalParent: "q1" }), stampOf(ALICE));
  assert.equal(answer.entry.state, "queued");
  const other = await inbox.put(messageOf({ sender: bob, causalParent: "q2" }), stampOf(ALICE));
  assert.equal(other.entry.state, "quarantined");
});

Deno.test("a body that names a schema is JSON within bounds, or is put aside", async () => {
  const { inbox } = await inboxWorld();
  const put = async (body: string) =>
    (await inbox.put(messageOf({ schema: "urn:plan", body }), stampOf(ALICE))).entry;
  assert.equal((await put('{"steps":[1,2]}')).state, "queued");
  assert.equal((await put("not json")).why, "its body names a schema and is no JSON");
  assert.equal((await put('{"a":1,"a":2}')).why, "its body names a schema and is no JSON");
  const deep = "its body is JSON that is too deep or too large";
  assert.equal((await put("[".repeat(500) + "]".repeat(500))).why, deep);
  assert.equal((await put(`[${"0,".repeat(20_000)}0]`)).why, deep);
});

Deno.test("what does not parse is refused, and so is what is too large", async () => {
  const { inbox, log } = await inboxWorld();
  const bad = [
    { ...messageOf(), sender: "root" },
    { ...messageOf(), sender: "peer:Mallory" },
    { ...messageOf(), extra: 1 },
    { ...messageOf(), id: "two words" },
    { ...messageOf(), kind: "command" },
  ];
  // TRUST: what a test sends may be anything.
  for (const each of bad) {
    await assert.rejects(inbox.put(each as never, stampOf(ALICE)), { code: "invalidInput" });
  }
  await assert.rejects(inbox.put(messageOf(), { ...stampOf(ALICE), box: "task:root" }), {
    code: "invalidInput",
  });
  await assert.rejects(inbox.put(messageOf({ body: "x".repeat(262_145) }), stampOf(ALICE)), {
    code: "tooLarge",
  });
  const actions = Array.from({ length: 16 }, () => ({
    ...{ tool: "t", arguments: "y".repeat(65_536), why: "" },
  }));
  await assert.rejects(inbox.put(messageOf({ requestedActions: actions }), stampOf(ALICE)), {
    code: "tooLarge",
  });
  assert.equal(log.rows.size, 0);
});

Deno.test("what follows from something older than what was delivered, or from nothing known, is put aside", async () => {
  const world = await inboxWorld();
  const { inbox, log } = world;
  const deliver = async (): Promise<void> => {
    const marking = inbox.delivering(inbox.due(BOB).map(({ id }) => id), BOB);
    await log.append(BOB, marking.events, marking.documents);
    marking.kept();
    await settled();
  };
  await inbox.put(ofPeer({ id: "a" }), toBob);
  await inbox.put(ofPeer({ id: "b" }), toBob);
  await inbox.put(ofPeer({ id: "c", causalParent: "b" }), toBob);
  await deliver();
  const put = async (id: string, causalParent: string) =>
    (await world.inbox.put(ofPeer({ id, causalParent }), toBob)).entry;
  const old = "it follows from something older than what was delivered";
  assert.equal((await put("d", "a")).why, old);
  assert.equal((await put("e", "nowhere")).why, "it follows from something that is not known here");
  assert.equal((await put("f", `${ALICE}#3`)).state, "quarantined", "another's event");
  assert.equal((await put("g", "c")).state, "queued");
  await world.again();
  assert.equal((await put("h", "a")).why, old, "the next kernel knows it too");
});

Deno.test("a second interrupt, and the same request for authority, wait for no model", async () => {
  const { inbox } = await inboxWorld();
  const interrupt = () => ofPeer({ kind: "interrupt" });
  assert.equal((await inbox.put(interrupt(), toBob)).entry.state, "queued");
  assert.equal((await inbox.put(interrupt(), toBob)).entry.why, "an interrupt of its sender waits");
  const asks = (path: string) =>
    ofPeer({
      kind: "approvalRequest",
      requestedAuthority: [{ resource: "mount", right: "read", path, why: "to look" }],
    });
  const held = await inbox.put(asks("notes"), toBob);
  assert.deepEqual([held.entry.state, held.entry.why], [
    "held",
    "it asks for what only a person can give",
  ]);
  const twice = await inbox.put(asks("notes"), toBob);
  assert.equal(twice.entry.why, "the same request of its sender waits");
  assert.equal((await inbox.put(asks("other"), toBob)).entry.state, "held");
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
  const { entry } = await inbox.put(asks, toBob);
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
  const mine = await inbox.put(ofPeer({ body: "MORE-WORDS" }), toBob);
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
