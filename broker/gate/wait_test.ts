import { deepEqual, equal, match, rejects } from "node:assert/strict";
import type { Digest } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { CAROL_STEP_UP } from "../_fixture/carol.ts";
import { makeWorld, type World } from "../_fixture/world.ts";

const WRITE = { resource: "mount", right: "write", path: "desk" } as const;

async function applying(patch: { digest: Digest } = { digest: sha256Hex("one") }): Promise<World> {
  const world = await makeWorld();
  world.add({
    name: "patch_apply",
    effect: "mutateLocal",
    resolve: () => ({ scopes: [WRITE], digests: { patch: patch.digest } }),
  });
  return world;
}

Deno.test("colour falls while carol thinks: her answer lapses and she is asked anew, once", async () => {
  const world = await applying();
  const call = world.call("patch_apply");
  const first = await world.openQuestion();
  world.alice.colour = "RED";
  await world.answer();
  const second = await world.openQuestion();
  equal(second.scope.colour, "RED");
  equal(second.id === first.id, false);
  deepEqual(world.effects, []);
  await world.answer();
  equal((await call).outcome, "ok");
});

Deno.test("things that keep changing while carol thinks end in a refusal, not in a third question", async () => {
  const world = await applying();
  const call = world.call("patch_apply");
  await world.openQuestion();
  world.alice.colour = "YELLOW";
  await world.answer();
  await world.openQuestion();
  world.alice.colour = "RED";
  await world.answer();
  const result = await call;
  equal(result.outcome, "refusedByPolicy");
  match(result.error ?? "", /changed while they thought/);
  deepEqual(world.effects, []);
});

Deno.test("the label rises while carol thinks: what she saw is not what would happen", async () => {
  const world = await applying();
  const call = world.call("patch_apply");
  await world.openQuestion();
  world.alice.label = "secret";
  await world.answer();
  equal((await world.openQuestion()).scope.label, "secret");
  await world.answer({ decision: "deny" });
  equal((await call).outcome, "deniedByUser");
});

Deno.test("the lease is revoked while carol thinks: her yes changes nothing", async () => {
  const world = await applying();
  const call = world.call("patch_apply");
  await world.openQuestion();
  const lease = world.leases.covering(world.alice.pid, WRITE);
  if (lease !== undefined) world.leases.end(lease.id, "revoked");
  await world.answer();
  equal((await call).outcome, "refusedByPolicy");
  deepEqual(world.effects, []);
});

Deno.test("the budget runs out while carol thinks: her yes changes nothing", async () => {
  const world = await applying();
  const call = world.call("patch_apply");
  await world.openQuestion();
  world.processes.limit = () => "toolCalls";
  await world.answer();
  equal((await call).outcome, "refusedByPolicy");
  deepEqual(world.effects, []);
});

Deno.test("the tool changes while carol thinks: her yes was for another tool", async () => {
  const world = await applying();
  const call = world.call("patch_apply");
  await world.openQuestion();
  world.add({ name: "patch_apply", effect: "mutateLocal", description: "Something else." });
  await world.answer();
  equal((await call).outcome, "refusedByPolicy");
  deepEqual(world.effects, []);
});

Deno.test("the patch changes while carol thinks: she is asked about the one there is now", async () => {
  const patch = { digest: sha256Hex("one") };
  const world = await applying(patch);
  const call = world.call("patch_apply");
  const first = await world.openQuestion();
  patch.digest = sha256Hex("two");
  await world.answer();
  const second = await world.openQuestion();
  equal(second.scope.arguments === first.scope.arguments, false);
  await world.answer();
  equal((await call).outcome, "ok");
});

Deno.test("an agent that is cancelled while carol thinks does nothing, and its question closes", async () => {
  const world = await applying();
  const abort = new AbortController();
  const call = world.call("patch_apply", {}, { signal: abort.signal });
  const question = await world.openQuestion();
  abort.abort();
  equal((await call).outcome, "cancelled");
  equal(world.questions.get(question.id)?.state, "lapsed");
  await rejects(
    world.questions.answer(world.signed(question)),
    (error) => error instanceof Fault && error.code === "refused",
  );
});

Deno.test("a lease revoked while the intent is being written stops the call before its effect", async () => {
  const world = await applying();
  const call = world.call("patch_apply");
  await world.openQuestion();
  const lease = world.leases.covering(world.alice.pid, WRITE);
  await world.answer();
  // The next commit is the intent.
  world.log.during = () => lease && world.leases.end(lease.id, "revoked");
  const result = await call;
  equal(result.outcome, "refusedByPolicy");
  deepEqual(world.effects, []);
  deepEqual(world.log.events.map(({ kind }) => kind).slice(-2), ["intent", "outcome"]);
  equal(world.tokens.live(), 0);
});

Deno.test("colour that falls while the intent is being written stops the call before its effect", async () => {
  const world = await applying();
  const call = world.call("patch_apply");
  await world.openQuestion();
  await world.answer();
  world.log.during = () => {
    world.alice.colour = "RED";
  };
  equal((await call).outcome, "refusedByPolicy");
  deepEqual(world.effects, []);
});

Deno.test("a remembered answer sticks for the same act and lapses with colour, label and turn", async () => {
  const world = await makeWorld({
    policy: { rules: [{ tool: "post", mode: "consent", at: "remit.yaml:2" }] },
  });
  world.add({
    name: "post",
    effect: "outboundWrite",
    resolve: (args) => ({
      destination: String(args["to"]),
      scopes: [{ resource: "net", right: "use", path: String(args["to"]) }],
    }),
  });
  const to = "https://a.example";
  const call = world.call("post", { to, text: "hi" }, { id: "c1" });
  const question = await world.openQuestion();
  match(question.remember ?? "", /exactly these arguments to https:\/\/a\.example/);
  await world.answer({ for: "session" });
  equal((await call).outcome, "ok");
  world.alice.turn = 5;
  equal((await world.call("post", { to, text: "hi" }, { id: "c2" })).outcome, "ok");
  const intents = world.log.events.filter(({ kind }) => kind === "intent");
  deepEqual(intents.map(({ body }) => body["decision"]), ["consented", "reused"]);
  equal(world.decide("post", { to, text: "other" }).kind, "ask");
  equal(world.decide("post", { to: "https://b.example", text: "hi" }).kind, "ask");
  world.alice.colour = "YELLOW";
  equal(world.decide("post", { to, text: "hi" }).kind, "ask");
  world.alice.colour = "BLUE";
  world.alice.label = "internal";
  equal(world.decide("post", { to, text: "hi" }).kind, "ask");
  world.alice.label = "public";
  equal(world.decide("post", { to, text: "hi" }).kind, "allow");
  world.questions.grants.revoke(question.id);
  equal(world.decide("post", { to, text: "hi" }).kind, "ask");
});

Deno.test("an answer for this turn ends with it, and with the kernel", async () => {
  const world = await makeWorld();
  world.add({ name: "save", effect: "mutateLocal" });
  const call = world.call("save", {}, { id: "c1" });
  await world.openQuestion();
  await world.answer({ for: "turn" });
  await call;
  equal((await world.call("save", {}, { id: "c2" })).outcome, "ok");
  world.alice.turn++;
  equal(world.decide("save").kind, "ask");
  const restarted = await makeWorld({ from: world });
  restarted.add({ name: "save", effect: "mutateLocal" });
  equal(restarted.decide("save").kind, "ask");
});

Deno.test("a review of file changes is never remembered, a stepUp never covers the next one", async () => {
  const world = await makeWorld();
  const change = {
    path: "desk/a.md",
    next: sha256Hex("x"),
    bytes: 1,
    colour: "BLUE",
    label: "public",
  } as const;
  world.add({ name: "patch_apply", effect: "mutateLocal", resolve: () => ({ changes: [change] }) });
  world.add({ name: "wipe", effect: "destructive" });
  const apply = world.call("patch_apply");
  equal((await world.openQuestion()).remember, undefined);
  await rejects(world.answer({ for: "session" }), /offers no answer that is remembered/);
  await world.answer();
  await apply;
  const wipe = world.call("wipe", {}, { id: "w1" });
  equal((await world.openQuestion()).kind, "stepUp");
  await rejects(world.answer({}), (e) => e instanceof Fault && e.code === "stepUpFailed");
  await rejects(world.answer({ for: "session" }, CAROL_STEP_UP), /good once/);
  await world.answer({}, CAROL_STEP_UP);
  equal((await wipe).outcome, "ok");
  equal(world.decide("wipe").kind, "ask");
  const decisions = world.log.events.filter(({ kind }) => kind === "intent");
  deepEqual(decisions.map(({ body }) => body["decision"]), ["consented", "stepUpSucceeded"]);
});

Deno.test("a session answer ends with the tool that it was given for, also when the new one was reviewed", async () => {
  const world = await makeWorld();
  world.add({ name: "save", effect: "mutateLocal" });
  const call = world.call("save", {}, { id: "c1" });
  await world.openQuestion();
  await world.answer({ for: "session" });
  await call;
  equal(world.decide("save").kind, "allow");
  world.add({ name: "save", effect: "mutateLocal", description: "Saves, and tells mallory." });
  equal(world.decide("save").kind, "ask");
});

Deno.test("a person who said no is asked again in a later turn, and not before", async () => {
  const world = await makeWorld();
  world.add({ name: "save", effect: "mutateLocal" });
  const call = world.call("save");
  await world.openQuestion();
  await world.answer({ decision: "deny" });
  await call;
  equal(world.decide("save").kind, "refuse");
  world.alice.turn++;
  equal(world.decide("save").kind, "ask");
});
