import assert from "node:assert/strict";
import { SessionId, type TaskId } from "../contracts/authority/mod.ts";
import { Fault } from "../contracts/base/mod.ts";
import {
  ConversationName,
  type ConversationStore,
  type DocumentWrite,
} from "../contracts/task/mod.ts";
import { type Bench, bench, settled } from "./_fixture/bench.ts";
import { memoryLog, requestOf, storeOf } from "./_fixture/fakes.ts";
import { openConversations } from "./conversations.ts";

const talk = ConversationName.parse("talk");
const other = ConversationName.parse("other-talk");

interface Opened extends Bench {
  readonly names: ConversationStore;
}

/** Names over the documents of a memory log, refused where a store would refuse them. */
async function opened(log = memoryLog()): Promise<Opened> {
  const made = bench(log);
  const store = {
    ...storeOf(log),
    commit: ({ documents }: { readonly documents: readonly DocumentWrite[] }) => {
      for (const write of documents) {
        const held = log.documents.get(`${write.kind} ${write.id}`);
        if ((held === undefined ? 0 : held.expect + 1) !== write.expect) {
          return Promise.reject(new Fault("conflict", "Cannot commit: the version was taken"));
        }
        log.documents.set(`${write.kind} ${write.id}`, write);
      }
      return Promise.resolve();
    },
  };
  const names = await openConversations({ store, service: made.service, now: made.powers.now });
  return { ...made, names };
}

Deno.test("a name finds its task, moves to another, is taken away, and outlives the kernel", async () => {
  const log = memoryLog();
  const { names, service } = await opened(log);
  const first = await service.create(requestOf());
  const second = await service.create(requestOf());
  await names.name(talk, first.id);
  assert.equal(names.find("talk"), first.id);
  assert.equal(names.find(second.id), second.id);
  await names.name(talk, second.id);
  await names.name(other, first.id);
  const later = await opened(log);
  assert.equal(later.names.find("talk"), second.id);
  await later.names.remove(talk);
  assert.throws(() => later.names.find("talk"), /was given to none/);
  assert.deepEqual((await opened(log)).names.list().map(({ name }) => name), [other]);
});

Deno.test("what is no name is refused, and a name that looks like a task's id is none", async () => {
  const { names } = await opened();
  assert.throws(() => names.find("../etc"), /as a name/);
  assert.throws(() => names.find("t00000000000x"), /Cannot find task/);
  assert.equal(ConversationName.safeParse("t00000000000x").success, false);
  assert.equal(ConversationName.safeParse("Talk").success, false);
  await assert.rejects(names.remove(talk), /was given to none/);
});

Deno.test("an expired conversation is erased, a running one and one that has time are not", async () => {
  const { names, service, host, powers } = await opened();
  const { id } = await service.create(requestOf({ interactive: true }));
  await settled();
  await names.name(talk, id);
  await names.expire(talk, powers.now() + 100);
  assert.deepEqual(await names.sweep(), []);
  powers.turn(100);
  assert.deepEqual(await names.sweep(), [], "a turn is under way");
  host.finish({ stop: "answered", text: "Tidied." });
  await settled();
  service.unattended(id);
  await settled();
  assert.deepEqual(await names.sweep(), [talk]);
  assert.equal(service.get(id).status, "cancelled");
  assert.ok(service.get(id).purged);
  assert.deepEqual(names.list(), []);
  await assert.rejects(names.name(other, id), /is erased/);
});

Deno.test("a conversation that has another name stays until that one expires, too", async () => {
  const { names, service, host, powers } = await opened();
  const { id } = await service.create(requestOf());
  await settled();
  host.finish({ stop: "answered", text: "Tidied." });
  await settled();
  await names.name(talk, id);
  await names.name(other, id);
  await names.expire(talk, powers.now());
  assert.deepEqual(await names.sweep(), [talk]);
  assert.equal(service.get(id).purged, false);
  assert.equal(names.find(other), id);
  await names.expire(other, powers.now());
  assert.deepEqual(await names.sweep(), [other]);
  assert.ok(service.get(id).purged);
});

Deno.test("an expiry can be taken back", async () => {
  const { names, service, host, powers } = await opened();
  const { id } = await service.create(requestOf());
  await settled();
  host.finish({ stop: "answered", text: "Tidied." });
  await settled();
  await names.name(talk, id);
  await names.expire(talk, powers.now());
  await names.expire(talk, undefined);
  assert.deepEqual(await names.sweep(), []);
});

const here = {
  session: SessionId.parse("s000000000009"),
  ingress: { channel: "terminal", principal: "carol", colour: "BLUE", label: "internal" },
} as const;

async function idleTalk(made: Bench): Promise<TaskId> {
  const { id } = await made.service.create(requestOf({ interactive: true }));
  await settled();
  made.host.finish({ stop: "answered", text: "Tidied." });
  await settled();
  return id;
}
const kinds = ({ log }: Bench, task: TaskId): string =>
  log.events.filter((each) => each.task === task).map(({ event }) => event.kind).join(" ");

Deno.test("a fork with words runs at once, from its own log, in the colour of what it copied", async () => {
  const made = bench();
  const task = await idleTalk(made);
  const fork = await made.service.fork({ task, turn: 1, message: "and now?", ...here });
  await settled();
  assert.equal(fork.colour, "RED");
  assert.equal(fork.label, "secret");
  assert.equal(made.host.started.at(-1)?.resume, true);
  assert.equal(made.host.messages.at(-1)?.content, "and now?");
  const created = made.log.events.find((each) => each.task === fork.id)?.event;
  assert.deepEqual(created?.body["fork"], { task, turn: 1, idle: false });
  made.host.finish({ stop: "answered", text: "Now." });
  await settled();
  assert.equal(made.service.get(fork.id).status, "open");
});

Deno.test("a fork without words waits for them, and a later kernel does not take it for unfinished", async () => {
  const log = memoryLog();
  const made = bench(log);
  const task = await idleTalk(made);
  const fork = await made.service.fork({ task, ...here });
  await settled();
  assert.equal(made.host.started.length, 1, "nothing runs for it");
  assert.equal(fork.answer, "Tidied.");
  assert.equal(kinds(made, fork.id), "taskCreated taskStatus");
  const later = bench(log);
  assert.deepEqual(await later.service.recover(), []);
  // To resume it would be to wait for a turn that nobody asked for.
  await assert.rejects(later.service.resume(fork.id), /waits for your next words/);
  await later.service.say(fork.id, "go on");
  await settled();
  assert.equal(later.host.started.at(-1)?.resume, true);
  assert.equal(later.host.messages.at(-1)?.content, "go on");
});

Deno.test("while a turn is under way only the turns before it are over", async () => {
  const made = bench();
  const { id } = await made.service.create(requestOf({ interactive: true }));
  await settled();
  const fork = await made.service.fork({ task: id, ...here });
  const created = made.log.events.find((each) => each.task === fork.id)?.event;
  assert.deepEqual(created?.body["fork"], { task: id, turn: 1, idle: true });
});

Deno.test("what gave way is put back between turns alone, and the process starts anew from the log", async () => {
  const made = bench();
  const { id } = await made.service.create(requestOf({ interactive: true }));
  await settled();
  await assert.rejects(made.service.restore(id, 1), /a turn is under way/);
  made.host.finish({ stop: "answered", text: "Tidied." });
  await settled();
  await assert.rejects(made.service.restore(id, 2), /Cannot find change 2/);
  assert.deepEqual(made.host.ended, []);
  await made.service.restore(id, 1);
  assert.deepEqual(made.host.ended, [0], "its process has the conversation as it was");
  assert.match(kinds(made, id), /contextRestored$/);
  await made.service.say(id, "and now?");
  await settled();
  assert.equal(made.host.started.at(-1)?.resume, true);
});

Deno.test("a conversation whose content is erased is neither forked nor restored", async () => {
  const made = bench();
  const task = await idleTalk(made);
  await made.service.cancel(task, "enough");
  await made.service.purge(task);
  await assert.rejects(made.service.fork({ task, ...here }), /is erased/);
  await assert.rejects(made.service.restore(task, 1), /is erased/);
});
