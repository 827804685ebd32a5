import assert from "node:assert/strict";
import { ExchangeId } from "../../../contracts/exchange/mod.ts";
import { checkMove, EXCHANGE_MOVES, isOver } from "./head.ts";
import {
  ALICE,
  historyWords,
  now,
  sendOf,
  statusOf,
  world,
} from "../../_fixture/exchange_world.ts";

Deno.test("alice's message becomes a task, and its answer completes the exchange", async () => {
  const w = await world();
  const sent = await w.send("Tidy the plan.");
  assert.equal(sent.state, "working");
  const task = w.service.get(w.task(sent));
  assert.deepEqual(task.ingress, {
    ...{ channel: "a2a", principal: "peer:alice", colour: "RED", label: "public" },
  });
  assert.match(task.request, /^Answer your peer\./);
  assert.match(task.request, /\| Tidy the plan\./);
  await w.say("It is tidy.");
  const done = await now(w, sent);
  assert.equal(done.state, "completed");
  assert.equal(statusOf(done), "It is tidy.");
  assert.deepEqual(historyWords(done), ["peer: Tidy the plan."]);
  assert.equal(w.service.get(w.task(sent)).status, "done");
  assert.ok(w.service.idle());
});

Deno.test("a message that must be let in makes no task before carol releases it", async () => {
  const w = await world();
  const sent = await w.send("Hello.", { accept: "ask" });
  assert.equal(sent.state, "submitted");
  assert.deepEqual(await w.service.list(), []);
  const [held] = w.inbox.list({ state: "held" });
  assert.ok(held);
  const entry = await w.exchanges.onRelease(held);
  assert.equal(entry.state, "delivered");
  assert.equal((await now(w, sent)).state, "working");
  await w.say("Hello, alice.");
  assert.equal((await now(w, sent)).state, "completed");
  await assert.rejects(w.exchanges.onRelease(held), { code: "conflict" });
});

Deno.test("a message that carol dismisses is rejected with her words", async () => {
  const w = await world();
  const sent = await w.send("Buy now.", { accept: "ask" });
  const [held] = w.inbox.list({ state: "held" });
  assert.ok(held);
  await w.inbox.dismiss(held.id, "No, thank you.");
  await w.exchanges.onDismiss(held, "No, thank you.");
  const after = await now(w, sent);
  assert.deepEqual([after.state, statusOf(after)], ["rejected", "No, thank you."]);
});

Deno.test("what the agent asks waits for its peer, whose next message goes on with the task", async () => {
  const w = await world();
  const sent = await w.send("Book a table.");
  await w.exchanges.ofTask(w.task(sent))?.ask("For how many?");
  assert.equal((await now(w, sent)).state, "working");
  await w.say("I asked.");
  const asked = await now(w, sent);
  assert.deepEqual([asked.state, statusOf(asked)], ["inputRequired", "For how many?"]);
  assert.equal(w.service.get(w.task(sent)).status, "open");
  assert.ok(w.service.idle(), "no process waits with it");
  const going = await w.send("For four.", { exchange: sent.id });
  assert.equal(going.state, "working");
  assert.match(w.host.messages.at(-1)?.content ?? "", /\| For four\./);
  await w.say("Booked.");
  const done = await now(w, sent);
  assert.deepEqual([done.state, statusOf(done)], ["completed", "Booked."]);
  assert.deepEqual(historyWords(done), [
    ...["peer: Book a table.", "agent: For how many?", "peer: For four."],
  ]);
});

Deno.test("a message that comes while the agent works is shown to it when its turn is over, and only then it is done", async () => {
  const w = await world();
  const sent = await w.send("Tidy the plan.");
  const also = await w.send("The notes, too.", { exchange: sent.id });
  assert.equal(also.state, "working");
  await w.say("The plan is tidy.");
  assert.equal((await now(w, sent)).state, "working");
  assert.match(w.host.messages.at(-1)?.content ?? "", /\| The notes, too\./);
  await w.say("All is tidy.");
  const done = await now(w, sent);
  assert.deepEqual([done.state, statusOf(done)], ["completed", "All is tidy."]);
});

Deno.test("an answer by itself ends the exchange with that text alone", async () => {
  const w = await world();
  const sent = await w.send("What time is it?");
  await w.exchanges.ofTask(w.task(sent))?.answer("Noon.");
  await w.say("I told it.");
  const done = await now(w, sent);
  assert.deepEqual([done.state, statusOf(done), done.direct], ["completed", "Noon.", true]);
});

Deno.test("a task that waits for a person goes on working, and says so until it goes on", async () => {
  const w = await world();
  const sent = await w.send("Buy it.");
  w.host.finish({ stop: "waiting", question: "q000000000001" as never, text: "" });
  await w.rest();
  const waits = await now(w, sent);
  assert.deepEqual([waits.state, statusOf(waits)], [
    ...["working", "The agent waits for a person here."],
  ]);
  await w.service.resume(w.task(sent));
  await w.rest();
  assert.equal(statusOf(await now(w, sent)), "");
  await w.say("Bought.");
  assert.equal((await now(w, sent)).state, "completed");
});

for (
  const [how, end, state, words] of [
    [
      "fails",
      { stop: "upstream", text: "secret host 10.0.0.9 is down" },
      "failed",
      /could not be reached/,
    ],
    ["is killed", { stop: "terminated", text: "" }, "canceled", /^$/],
    ["uses up its budget", { stop: "budget", text: "" }, "failed", /used up/],
  ] as const
) {
  Deno.test(`a task that ${how} ends its exchange as ${state}, and tells nothing of ours`, async () => {
    const w = await world();
    const sent = await w.send("Tidy the plan.");
    w.host.finish({ ...end } as never);
    await w.rest();
    const after = await now(w, sent);
    assert.equal(after.state, state);
    assert.match(statusOf(after), words);
    assert.ok(!JSON.stringify(after).includes("10.0.0.9"));
  });
}

Deno.test("what a peer is not cleared for is withheld, and said so", async () => {
  const w = await world();
  const sent = await w.send("What are our prices?");
  w.label = "internal";
  await w.say("42 crowns, do not tell.");
  const done = await now(w, sent);
  assert.equal(done.state, "completed");
  assert.equal(
    statusOf(done),
    "withheld: internal; the operator can raise peers.alice.clearance",
  );
  assert.ok(!JSON.stringify(done).includes("crowns"));
});

Deno.test("bob, who is cleared for internal text, is told", async () => {
  const w = await world();
  const sent = await w.send("What are our prices?", { clearance: "internal" });
  w.label = "internal";
  await w.say("42 crowns.");
  assert.equal(statusOf(await now(w, sent)), "42 crowns.");
});

Deno.test("alice sees each change as it happens, from the exchange that she was answered on", async () => {
  const w = await world();
  const sent = await w.send("Tidy the plan.");
  const heard: string[] = [];
  const { exchange } = await w.exchanges.watch({ peer: ALICE, exchange: sent.id }, (event) => {
    heard.push(event.kind === "state" ? event.exchange.state : event.kind);
  });
  assert.equal(exchange.state, "working");
  w.exchanges.text(w.task(sent), "I am at it");
  await w.exchanges.ofTask(w.task(sent))?.show({
    ...{ id: "p1", name: "plan.md", description: "", parts: [{ kind: "text", text: "1. tidy" }] },
  });
  await w.exchanges.ofTask(w.task(sent))?.say("Half of it.", "k1");
  await w.exchanges.ofTask(w.task(sent))?.say("Half of it.", "k1");
  await w.say("Done.");
  assert.deepEqual(heard, ["progress", "artifact", "working", "working", "completed"]);
  const again = await w.exchanges.watch(
    { peer: ALICE, exchange: sent.id },
    () => heard.push("late"),
  );
  assert.equal(again.exchange.artifacts[0]?.name, "plan.md");
  await assert.rejects(w.exchanges.send(sendOf("More.", { exchange: sent.id })), {
    code: "conflict",
  });
  assert.ok(!heard.includes("late"));
});

Deno.test("while it works, text above alice's clearance reaches nobody", async () => {
  const w = await world();
  const sent = await w.send("Tidy the plan.");
  const heard: string[] = [];
  await w.exchanges.watch({ exchange: sent.id }, ({ kind }) => heard.push(kind));
  w.label = "internal";
  w.exchanges.text(w.task(sent), "the secret plan");
  assert.deepEqual(heard, []);
});

Deno.test("carol's own words reach the peer, and stay in the history", async () => {
  const w = await world();
  const sent = await w.send("Tidy the plan.");
  const after = await w.exchanges.reply({ exchange: sent.id, text: "It takes until noon." });
  assert.equal(statusOf(after), "It takes until noon.");
  await w.say("Done.");
  assert.deepEqual(historyWords(await now(w, sent)), [
    ...["peer: Tidy the plan.", "agent: It takes until noon."],
  ]);
});

Deno.test("what was asked in a turn that a message overtook is not asked at the end of the next", async () => {
  const w = await world();
  const sent = await w.send("Book a table.");
  await w.exchanges.ofTask(w.task(sent))?.ask("For how many?");
  await w.send("For four, by the way.", { exchange: sent.id });
  await w.say("I asked.");
  await w.say("Booked for four.");
  const done = await now(w, sent);
  assert.deepEqual([done.state, statusOf(done)], ["completed", "Booked for four."]);
});

Deno.test("an exchange moves as its table says, and nothing moves what is over", () => {
  const states = Object.keys(EXCHANGE_MOVES) as (keyof typeof EXCHANGE_MOVES)[];
  const id = ExchangeId.parse(`x${"1".repeat(24)}`);
  for (const from of states) {
    for (const to of states) {
      const may = EXCHANGE_MOVES[from].includes(to) || (from === to && !isOver(from));
      if (may) checkMove(id, from, to);
      else assert.throws(() => checkMove(id, from, to), { code: "conflict" });
    }
  }
  assert.deepEqual(states.filter(isOver), ["completed", "failed", "canceled", "rejected"]);
});
