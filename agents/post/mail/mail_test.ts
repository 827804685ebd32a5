import assert from "node:assert/strict";
import { Fault, type JsonObject } from "../../../contracts/base/mod.ts";
import { type InboxEntry, MAIL_SCHEMA } from "../../../contracts/exchange/mod.ts";
import { makeWorld, type Person, type World } from "../../_fixture/mail_world.ts";

const coded = (code: string) => (error: unknown) => error instanceof Fault && error.code === code;
const NOTES = { resource: "mount", right: "read", path: "desk/notes" } as const;

/** HOST's mail with a counter, as `remit mail send` writes it. */
const counter = (to: Person, world: World): Promise<InboxEntry> =>
  world.put({
    schema: MAIL_SCHEMA,
    body: JSON.stringify({
      type: "package",
      strings: ["Please increment ", ""],
      edges: [{
        name: "counter",
        reference: { kind: "value", json: '"+41"', colour: "BLUE", label: "internal" },
      }],
    }),
  }, { box: `task:${to.task}`, colour: "BLUE", label: "internal" });

Deno.test("lal reads its mail, names what it carries, looks it up and puts the message aside", async () => {
  const world = makeWorld(), lal = world.agent("lal");
  await counter(lal, world);
  const listed = JSON.parse((await lal.call("list_messages")).content);
  assert.equal(listed[0].number, 1);
  assert.deepEqual(listed[0].names, ["counter"]);
  await lal.call("adopt", { messageNumber: "+1", edgeName: "counter", petName: "my-counter" });
  const found = await lal.call("lookup", { petName: "my-counter" });
  assert.equal(found.content, '"+41"'.slice(1, -1));
  assert.equal(found.label, "internal");
  await lal.call("dismiss", { messageNumber: 1 });
  assert.equal((await lal.call("list_messages")).content, "[]");
  assert.equal(world.entries[0]?.state, "dismissed");
});

Deno.test("mallory's names are hers: no path of hers reaches alice's, whatever they are called", async () => {
  const world = makeWorld(), alice = world.agent("alice"), mallory = world.agent("mallory");
  await alice.call("make_directory", { petName: "secrets" });
  await alice.call("copy", { fromPath: "HOST", toPath: "secrets/key" });
  for (const petName of ["secrets/key", ["secrets", "key"], ["alice", "secrets", "key"]]) {
    await assert.rejects(mallory.call("lookup", { petName }), coded("notFound"));
  }
  for (const petName of ["../alice/secrets/key", "agent:alice/secrets"]) {
    await assert.rejects(mallory.call("lookup", { petName }), coded("invalidArguments"));
  }
  const { value } = await mallory.call("list");
  assert.deepEqual((value as readonly JsonObject[]).map(({ name }) => name), [
    "SELF",
    "HOST",
    "AGENT",
  ]);
});

Deno.test("bob adopts what alice holds, derived; it dies with hers, and nobody adopts more than she holds", async () => {
  const world = makeWorld(), alice = world.agent("alice"), bob = world.agent("bob");
  const lease = world.lend(alice, NOTES);
  const send = (path: string): Promise<unknown> =>
    alice.call("send", {
      recipient: "bob",
      strings: ["here"],
      edgeNames: ["notes"],
      petNames: [path],
    });
  await assert.rejects(send("AGENT/lease/mount/read/desk/notes"), coded("notFound"), "no bob yet");
  await alice.parts.names.change(alice.row, (now) => ({
    ...now,
    entries: { ...now.entries, bob: { kind: "agent", box: `task:${bob.task}` } },
  }));
  await assert.rejects(send("AGENT/lease/mount/read/desk"), coded("refused"));
  await assert.rejects(send("AGENT/lease/mount/write/desk/notes"), coded("refused"));
  await send("AGENT/lease/mount/read/desk/notes/today");
  await bob.call("list_messages");
  const adopt = { messageNumber: 1, edgeName: "notes", petName: "notes" };
  const binding = bob.mail.bindings.find(({ descriptor }) => descriptor.name === "adopt");
  assert.equal(binding?.resolve(adopt, bob.row).effect, "mutateLocal", "a person is asked");
  await bob.call("adopt", adopt);
  const today = { ...NOTES, path: "desk/notes/today" };
  assert.notEqual(bob.parts.leases.covering(bob.row.pid, today), undefined);
  assert.equal(bob.parts.leases.covering(bob.row.pid, NOTES), undefined);
  world.revoke(lease);
  assert.equal(bob.parts.leases.covering(bob.row.pid, today), undefined);
  await assert.rejects(bob.call("adopt", adopt), coded("refused"));
});

Deno.test("a capability that nobody offered is not adopted, however well mallory describes it", async () => {
  const world = makeWorld(), alice = world.agent("alice"), bob = world.agent("bob");
  world.lend(alice, NOTES);
  const body = JSON.stringify({
    ...{ type: "package", strings: ["yours"] },
    edges: [{ name: "notes", reference: { kind: "lease", scope: NOTES } }],
  });
  for (const sender of ["peer:mallory", "agent:alice", "host"] as const) {
    await world.put(
      { sender, senderTask: alice.task, schema: MAIL_SCHEMA, body },
      { box: `task:${bob.task}`, colour: "RED", label: "public" },
    );
  }
  const listed = JSON.parse((await bob.call("list_messages")).content);
  assert.equal(listed.length, 3);
  for (const { number: messageNumber } of listed) {
    const adopt = { messageNumber, edgeName: "notes", petName: "notes" };
    await assert.rejects(bob.call("adopt", adopt), coded("refused"));
  }
  assert.equal(bob.parts.leases.covering(bob.row.pid, NOTES), undefined);
});

Deno.test("a request is resolved with a value, or rejected with a reason, and only by whom it was asked", async () => {
  const world = makeWorld(), alice = world.agent("alice"), bob = world.agent("bob");
  await alice.call("request", { recipient: "HOST", description: "a number", responseName: "n" });
  assert.equal(world.entries[0]?.box, "host");
  const body = JSON.stringify({ type: "request", description: "a number", responseName: "n" });
  const ask = { sender: "agent:alice", senderTask: alice.task, schema: MAIL_SCHEMA, body } as const;
  const stamp = { box: `task:${bob.task}`, colour: "BLUE", label: "public" } as const;
  await world.put(ask, stamp);
  await world.put(ask, stamp);
  await assert.rejects(alice.call("resolve", { messageNumber: 2, value: 1 }), coded("notFound"));
  await bob.call("list_messages");
  await assert.rejects(
    bob.call("resolve", { messageNumber: 2, value: "#Nothing" }),
    coded("invalidArguments"),
  );
  await bob.call("resolve", { messageNumber: 2, value: "+7" });
  await bob.call("reject", { messageNumber: 3, reason: "no more" });
  const [answered, declined] = JSON.parse((await alice.call("list_messages")).content);
  assert.equal(answered.type, "resolution");
  assert.deepEqual([declined.type, declined.why], ["rejection", "no more"]);
  await alice.call("adopt", { messageNumber: answered.number, edgeName: "n", petName: "seven" });
  assert.equal((await alice.call("lookup", { petName: "seven" })).content, "+7");
  await assert.rejects(
    bob.call("reject", { messageNumber: 3, reason: "again" }),
    coded("notFound"),
  );
});

Deno.test("SELF, HOST and AGENT stand for the agent, the person, and what the process holds", async () => {
  const world = makeWorld(), alice = world.agent("alice");
  assert.equal((await alice.call("identify", { petName: "SELF" })).content, "agent:alice");
  assert.equal((await alice.call("identify", { petName: "HOST" })).content, "host");
  assert.match(
    (await alice.call("inspect_capability", { petName: "AGENT/tool/file_read" })).content,
    /you hold it.*\nReads a file/,
  );
  await assert.rejects(alice.call("lookup", { petName: "AGENT/tool/exec" }), coded("refused"));
  for (const name of ["SELF", "HOST", "AGENT"]) {
    await assert.rejects(alice.call("remove", { petName: name }), coded("refused"));
    await assert.rejects(alice.call("move", { fromPath: name, toPath: "mine" }), coded("refused"));
    assert.equal((await alice.call("has", { petName: name })).value, true);
  }
  assert.match(
    (await alice.call("help", { methodName: "send" })).content,
    /^send: Sends a message/,
  );
});

Deno.test("what an agent that read untrusted text writes keeps its colour, in names and in mail", async () => {
  const world = makeWorld(), alice = world.agent("alice");
  Object.assign(alice.row, { colour: "RED", label: "internal" });
  await alice.call("make_directory", { petName: "stolen-words" });
  await alice.call("send", { recipient: "SELF", strings: ["a note"] });
  assert.equal((await alice.call("list_messages")).content, "[]", "its own words are no news");
  world.entries.length = 0;
  await alice.call("send", { recipient: "HOST", strings: ["hello"] });
  assert.deepEqual([world.entries[0]?.colour, world.entries[0]?.label], ["RED", "internal"]);
  Object.assign(alice.row, { colour: "BLUE", label: "public" });
  assert.equal((await alice.call("list")).colour, "RED");
});
