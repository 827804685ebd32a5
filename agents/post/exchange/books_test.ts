import assert from "node:assert/strict";
import { ArtifactId } from "../../../contracts/authority/mod.ts";
import {
  ContextId,
  type Exchange,
  type PeerPage,
  type PeerQuery,
} from "../../../contracts/exchange/mod.ts";
import type { Artifact } from "../../../contracts/tool/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import {
  ALICE,
  MALLORY,
  now,
  pushOf,
  sendOf,
  type World,
  world,
} from "../../_fixture/exchange_world.ts";

/** Several exchanges, a second apart, each answered. */
async function several(w: World, count: number): Promise<readonly Exchange[]> {
  const made: Exchange[] = [];
  for (let n = 0; n < count; n++) {
    w.powers.turn(1_000);
    made.push(await w.send(`Message ${n}.`));
  }
  return made;
}

Deno.test("alice pages through her exchanges, newest change first, and a change meanwhile loses none", async () => {
  const w = await world();
  const made = await several(w, 7);
  await w.send("I am mallory.", { peer: MALLORY });
  const ask = { peer: ALICE, size: 3 };
  const first = await w.exchanges.list(ask);
  assert.deepEqual([first.total, first.exchanges.map(({ id }) => id)], [
    7,
    made.slice(4).reverse().map(({ id }) => id),
  ]);
  w.powers.turn(1_000);
  const changed = made[1];
  assert.ok(changed);
  await w.exchanges.reply({ exchange: changed.id, text: "Soon." });
  const seen = new Set(first.exchanges.map(({ id }) => id));
  let page: PeerPage = first;
  while (page.next !== "") {
    page = await w.exchanges.list({ ...ask, page: page.next });
    for (const { id } of page.exchanges) {
      assert.ok(!seen.has(id), "no exchange is told twice");
      seen.add(id);
    }
  }
  const front = await w.exchanges.list({ ...ask, size: 1 });
  assert.equal(front.exchanges[0]?.id, changed.id);
  assert.deepEqual(new Set([...seen, changed.id]), new Set(made.map(({ id }) => id)));
});

Deno.test("a list is told by state, by context and by time; a page that is none is refused", async () => {
  const w = await world();
  const [one, two] = await several(w, 2);
  assert.ok(one && two);
  await w.exchanges.cancel({ exchange: one.id });
  const ids = async (query: Partial<PeerQuery>): Promise<readonly string[]> =>
    (await w.exchanges.list({ size: 10, ...query })).exchanges.map(({ id }) => id);
  assert.deepEqual(await ids({ state: "canceled" }), [one.id]);
  assert.deepEqual(await ids({ context: two.context }), [two.id]);
  assert.deepEqual(await ids({ since: w.powers.now() + 1 }), []);
  for (const page of ["x", "1", `1.${one.id}.2`]) {
    await assert.rejects(ids({ page }), { code: "invalidInput" });
  }
});

Deno.test("a page that would be too heavy ends early, and the next goes on", async () => {
  const w = await world();
  const made = await several(w, 3);
  const data = "A".repeat(1_300_000);
  for (const each of made) {
    for (const id of ["1", "2", "3"]) {
      await w.exchanges.ofTask(w.task(each))?.show({
        ...{ id, name: "film", description: "", parts: [{ kind: "bytes", data }] },
      });
    }
  }
  const first = await w.exchanges.list({ size: 10 });
  assert.equal(first.exchanges.length, 2);
  const rest = await w.exchanges.list({ size: 10, page: first.next });
  assert.deepEqual([rest.exchanges.length, rest.next], [1, ""]);
});

Deno.test("deliveries: each change is due until it was made, in order, later after a failure, also after a restart", async () => {
  const w = await world();
  const sent = await w.send("Hello.", { push: pushOf("a") });
  assert.deepEqual(await w.exchanges.due(), []);
  await w.exchanges.ofTask(w.task(sent))?.say("At it.", "k");
  assert.equal(w.due, 1);
  const [first] = await w.exchanges.due();
  assert.deepEqual([first?.config, first?.version, first?.attempt], [pushOf("a"), 2, 0]);
  const mine = { exchange: sent.id, config: "a" };
  await w.exchanges.delivered({ ...mine, version: 2, ok: false, again: w.powers.now() + 500 });
  assert.deepEqual(await w.exchanges.due(), []);
  w.powers.turn(500);
  assert.equal((await w.exchanges.due())[0]?.attempt, 1);
  await w.say("Done.");
  const again = await world(w.disk);
  again.powers.turn(5_000);
  const [last] = await again.exchanges.due();
  assert.deepEqual([last?.version, last?.exchange.state], [3, "completed"]);
  await again.exchanges.delivered({ ...mine, version: 2, ok: true });
  assert.equal((await again.exchanges.due()).length, 1, "the newest is still owed");
  await again.exchanges.delivered({ ...mine, version: 3, ok: true });
  assert.deepEqual(await again.exchanges.due(), []);
  await again.exchanges.delivered({ ...mine, config: "unknown", version: 9, ok: true });
});

Deno.test("places to tell: set again in place, read back, taken away; on one that is over kept and not told", async () => {
  const w = await world();
  const sent = await w.send("Hello.");
  const ask = { peer: ALICE, exchange: sent.id };
  const set = async (id: string) =>
    await w.exchanges.push({ ...ask, op: { kind: "set", config: pushOf(id) } });
  assert.deepEqual(await set("a"), [pushOf("a")]);
  await set("b");
  await set("a");
  assert.equal((await w.exchanges.push({ ...ask, op: { kind: "list" } })).length, 2);
  assert.deepEqual(await w.exchanges.push({ ...ask, op: { kind: "delete", id: "a" } }), [
    pushOf("b"),
  ]);
  await w.exchanges.push({ ...ask, op: { kind: "delete", id: "a" } });
  await assert.rejects(w.exchanges.push({ ...ask, op: { kind: "get", id: "a" } }), {
    code: "notFound",
  });
  for (let n = 0; n < 15; n++) await set(`x${n}`);
  await assert.rejects(set("one too many"), { code: "tooLarge" });
  await w.say("Done.");
  await w.exchanges.push({ ...ask, op: { kind: "delete", id: "b" } });
  await set("late");
  const due = await w.exchanges.due();
  assert.ok(due.length > 0 && due.every(({ config }) => config.id !== "late"));
});

function artifactOf(w: World, exchange: Exchange, more: Partial<Artifact> = {}): Artifact {
  const bytes = new TextEncoder().encode("1. tidy");
  const made: Artifact = {
    ...{ id: ArtifactId.parse("a000000000001"), task: w.task(exchange), name: "plan.md" },
    ...{ digest: sha256Hex(bytes), bytes: bytes.length, colour: "RED", label: "public" },
    ...{ state: "released", createdAt: 1, expiresAt: 1e12, ...more },
  };
  w.artifacts.splice(0, Infinity, made);
  w.bytes.set(made.digest, bytes);
  return made;
}

Deno.test("carol exports an artifact that she released, also once the work is done, and no other", async () => {
  const w = await world();
  const sent = await w.send("Make a plan.");
  const { id: artifact } = artifactOf(w, sent, { state: "quarantined" });
  const ask = { exchange: sent.id, artifact };
  await assert.rejects(w.exchanges.export(ask), { code: "conflict" });
  artifactOf(w, sent, { label: "secret" });
  await assert.rejects(w.exchanges.export(ask), { code: "clearance" });
  await assert.rejects(w.exchanges.export({ ...ask, artifact: "a000000000009" }), {
    code: "notFound",
  });
  await w.say("Done.");
  artifactOf(w, sent);
  await w.exchanges.export(ask);
  const after = await w.exchanges.export(ask);
  assert.deepEqual(after.artifacts.map(({ name, parts }) => [name, parts]), [
    ["plan.md", [
      { kind: "bytes", data: "MS4gdGlkeQ==", mediaType: "text/plain", name: "plan.md" },
    ]],
  ]);
  assert.equal(after.state, "completed");
  const gone = await w.send("Hello.");
  await w.exchanges.cancel({ exchange: gone.id });
  await assert.rejects(w.exchanges.export({ exchange: gone.id, artifact }), { code: "conflict" });
});

Deno.test("what is erased is gone from the store with all its words, what is under way cannot be", async () => {
  const w = await world();
  const old = await w.send("My secret diary.");
  await assert.rejects(w.exchanges.erase({ exchange: old.id }), { code: "conflict" });
  await w.say("I read the diary.");
  w.powers.turn(10_000);
  const fresh = await w.send("Something else.");
  assert.deepEqual(await w.exchanges.erase({ before: w.powers.now() }), { erased: 1 });
  await assert.rejects(w.exchanges.get({ exchange: old.id }), { code: "notFound" });
  const kept = [...w.disk.log.rows.values()].filter(({ kind }) => kind.startsWith("exchange"));
  assert.ok(!JSON.stringify(kept).includes("diary"));
  const again = await world(w.disk);
  assert.deepEqual((await again.exchanges.list({ size: 10 })).exchanges.map(({ id }) => id), [
    fresh.id,
  ]);
});

Deno.test("what was over days ago is not read at a start, and found by whoever asks for it", async () => {
  const w = await world();
  const diary = sendOf("My secret diary.", { context: ContextId.parse("c".padEnd(25, "1")) });
  const old = await w.exchanges.send(diary);
  await w.say("I read the diary.");
  const open = await w.send("Wait for me.");
  const read: string[] = [];
  const { rows, store } = w.disk.log;
  const { body, ...row } = rows.get(`exchange ${old.id}`) ?? assert.fail();
  for (let n = 0; n < 300; n++) {
    const id = `x${String(n).padStart(24, "0")}`;
    const { task: _task, first: _first, ...rest } = body;
    rows.set(`exchange ${id}`, { ...row, id, task: id, body: { ...rest, id } });
  }
  const { documents } = store;
  store.documents = async (query) => {
    const rows = await documents(query);
    if (query.kind === "exchange") read.push(...rows.map(({ id }) => id));
    return rows;
  };
  const later = async (): Promise<World> => {
    read.splice(0);
    const again = await world(w.disk, 3 * 24 * 60 * 60 * 1_000);
    assert.ok(read.includes(open.id));
    // One page, in which the start sees that all before it is older than a day.
    assert.ok(read.length <= 101, `${read.length} are read`);
    return again;
  };
  assert.equal((await now(await later(), old)).state, "completed");
  assert.equal((await (await later()).exchanges.send(diary)).id, old.id, "the same words again");
  assert.equal((await (await later()).exchanges.list({ size: 10 })).total, 302);
  const purging = await later();
  await purging.service.purge(w.task(old));
  await purging.rest();
  await assert.rejects(now(purging, old), { code: "notFound" });
  assert.equal((await (await later()).exchanges.list({ size: 10 })).total, 301);
});

Deno.test("a task that is purged takes the words of its exchange with it", async () => {
  const w = await world();
  const sent = await w.send("My secret diary.");
  await w.say("I read the diary.");
  await w.service.purge(w.task(sent));
  await w.rest();
  await assert.rejects(now(w, sent), { code: "notFound" });
  const kept = [...w.disk.log.rows.values()].filter(({ kind }) => kind.startsWith("exchange"));
  assert.ok(!JSON.stringify(kept).includes("diary"));
});
