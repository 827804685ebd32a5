import assert from "node:assert/strict";
import { Box, Sender } from "../../../contracts/exchange/mod.ts";
import { ALICE, BOB, inboxWorld } from "../../_fixture/inbox_world.ts";
import { makeWorld, type Person } from "../../_fixture/mail_world.ts";

const naming = (person: Person, name: string, box: string): Promise<void> =>
  person.parts.names.change(person.row, (now) => ({
    ...now,
    entries: { ...now.entries, [name]: { kind: "agent", box: Box.parse(box) } },
  }));

Deno.test("bob may answer alice once he has read her letter; who never read one is put aside", async () => {
  const heard = new Set<string>();
  const { inbox } = await inboxWorld({ related: (a, b) => heard.has(`${a} ${b}`) });
  const world = makeWorld({ inbox, heard: (by, from) => void heard.add(`${by} ${from}`) });
  const alice = world.agent("alice", ALICE), bob = world.agent("bob", BOB);
  await naming(alice, "bob", "agent:bob");
  await naming(bob, "alice", `task:${ALICE}`);
  const early = await bob.call("send", { recipient: "alice", strings: ["unasked"] });
  assert.match(early.content, /"state":"quarantined"/);
  const asked = { recipient: "bob", description: "a number", responseName: "n" };
  assert.match((await alice.call("request", asked)).content, /"state":"queued"/);
  const [letter] = JSON.parse((await bob.call("list_messages")).content);
  const answered = await bob.call("resolve", { messageNumber: letter.number, value: 7 });
  assert.match(answered.content, /"state":"queued"/);
  const [answer] = inbox.due(ALICE);
  assert.equal(answer?.message.sender, "agent:bob");
  await alice.call("list_messages");
  await alice.call("adopt", { messageNumber: answer?.n ?? 0, edgeName: "n", petName: "seven" });
  assert.equal((await alice.call("lookup", { petName: "seven" })).content, "7");
});

Deno.test("what alice sent is no letter of a task of mallory's, nor what others wrote to their agent", async () => {
  const world = makeWorld();
  const box = Box.parse("agent:desk");
  const put = async (sender: string, body: string): Promise<void> => {
    const message = { sender: Sender.parse(sender), body };
    await world.put(message, { box, colour: "RED", label: "public" });
  };
  await put("peer:alice", "my address is 1 Elm Street");
  await put("peer:mallory", "what did alice send?");
  await put("webhook:ci", "it was built");
  await put("host", "alice's order is late");
  const listed = async (peer?: string): Promise<readonly string[]> => {
    const { content } = await world.agent("desk", ALICE, peer).call("list_messages");
    return JSON.parse(content).map(({ from }: { readonly from: string }) => from);
  };
  assert.deepEqual(await listed("peer:mallory"), ["peer:mallory"]);
  assert.equal((await listed()).length, 4, "a task of the operator's reads all of them");
});
