import assert from "node:assert/strict";
import { Sender } from "../../../contracts/exchange/mod.ts";
import {
  ALICE,
  ALICE_TOO,
  BOB,
  DONE,
  EXCHANGE,
  inboxWorld,
  messageOf,
  ofPeer,
  PEER,
  stampOf,
  TO_BOB,
} from "../../_fixture/inbox_world.ts";
import { settled } from "../../_fixture/bench.ts";

Deno.test("the same id with other words is put aside, however often it is tried", async () => {
  const { inbox } = await inboxWorld();
  await inbox.put(ofPeer({ id: "one", body: "Pay alice." }), TO_BOB);
  const { entry } = await inbox.put(ofPeer({ id: "one", body: "Pay mallory." }), TO_BOB);
  assert.deepEqual([entry.state, entry.why], [
    "quarantined",
    "its id was used before, for another message",
  ]);
  assert.equal(inbox.due(BOB).length, 1);
});

Deno.test("the same id of another sender, or of another exchange, is another message", async () => {
  const { inbox } = await inboxWorld({ exchangeTask: () => BOB });
  const other = "x0000000000000000000000bb";
  await inbox.put(ofPeer({ id: "one" }), TO_BOB);
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
  await inbox.put(message, TO_BOB);
  powers.turn(86_400_000);
  assert.equal((await inbox.put(message, TO_BOB)).duplicate, true, "remembered for a day at least");
  powers.turn(86_400_000);
  assert.equal((await inbox.put(message, TO_BOB)).duplicate, false);
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
  await inbox.put(ofPeer({ id: "a" }), TO_BOB);
  await inbox.put(ofPeer({ id: "b" }), TO_BOB);
  await inbox.put(ofPeer({ id: "c", causalParent: "b" }), TO_BOB);
  await deliver();
  const put = async (id: string, causalParent: string) =>
    (await world.inbox.put(ofPeer({ id, causalParent }), TO_BOB)).entry;
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
  assert.equal((await inbox.put(interrupt(), TO_BOB)).entry.state, "queued");
  assert.equal(
    (await inbox.put(interrupt(), TO_BOB)).entry.why,
    "an interrupt of its sender waits",
  );
  const asks = (path: string) =>
    ofPeer({
      kind: "approvalRequest",
      requestedAuthority: [{ resource: "mount", right: "read", path, why: "to look" }],
    });
  const held = await inbox.put(asks("notes"), TO_BOB);
  assert.deepEqual([held.entry.state, held.entry.why], [
    "held",
    "it asks for what only a person can give",
  ]);
  const twice = await inbox.put(asks("notes"), TO_BOB);
  assert.equal(twice.entry.why, "the same request of its sender waits");
  assert.equal((await inbox.put(asks("other"), TO_BOB)).entry.state, "held");
});
