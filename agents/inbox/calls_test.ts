import assert from "node:assert/strict";
import { type CallPlace, Sender } from "../../contracts/mod.ts";
import {
  ALICE,
  ALICE_TOO,
  type InboxWorld,
  inboxWorld,
  messageOf,
  stampOf,
} from "../_fixture/inbox_world.ts";
import { settled } from "../_fixture/bench.ts";

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
