import assert from "node:assert/strict";
import { faultOf } from "./_fixture/faults.ts";
import { makeRig } from "./_fixture/wiki_rig.ts";
import { wikiStorePowers } from "./store_powers.ts";
import type { NoteTable } from "./wiki_store.ts";

type NewNote = Parameters<NoteTable["add"]>[0];

const note = (text: string, more: Partial<NewNote> = {}): NewNote => ({
  kind: "taskLog",
  text,
  task: "t1",
  agent: "coder",
  colour: "YELLOW",
  label: "internal",
  state: "kept",
  ...more,
});

Deno.test("user memory is one agent's own; task artifacts are read by a reviewer without it", async () => {
  using rig = makeRig();
  const { store: { notes, close } } = await rig.open();
  notes.add(note("log of coder"));
  notes.add(note("carol likes tea", { kind: "userMemory" }));
  notes.add(note("carol likes coffee", { kind: "userMemory", agent: "planner" }));
  notes.add(note("hidden", { kind: "userMemory", label: "secret" }));
  const texts = (query: Parameters<NoteTable["list"]>[0]) =>
    notes.list(query).map(({ text }) => text).sort();
  assert.deepEqual(texts({ clearance: "internal", agent: "coder" }), [
    "carol likes tea",
    "log of coder",
  ]);
  assert.deepEqual(texts({ clearance: "internal", agent: "reviewer" }), ["log of coder"]);
  assert.deepEqual(texts({ clearance: "internal", agent: "planner", kind: "userMemory" }), [
    "carol likes coffee",
  ]);
  assert.deepEqual(texts({ clearance: "public" }), []);
  assert.equal(texts({ clearance: "secret" }).length, 4);
  assert.deepEqual(texts({ clearance: "secret", task: "t2" }), []);
  close();
});

Deno.test("a note that waits is decided once", async () => {
  using rig = makeRig();
  const { store: { notes, close } } = await rig.open();
  const waiting = notes.add(note("x", { state: "waiting" }));
  assert.deepEqual(notes.list({ clearance: "secret", state: "waiting" }), [waiting]);
  assert.equal(notes.decide(waiting.id, "kept", "carol").state, "kept");
  assert.equal(
    (await faultOf(() => notes.decide(waiting.id, "rejected", "carol"))).code,
    "conflict",
  );
  assert.equal(
    (await faultOf(() => notes.decide("n000000000000", "kept", "carol"))).code,
    "notFound",
  );
  assert.equal((await faultOf(() => notes.add(note("")))).code, "invalidInput");
  assert.equal((await faultOf(() => notes.add(note("x".repeat(8_193))))).code, "invalidInput");
  close();
});

Deno.test("an expired note is not given, and a sweep erases its words from the disk", async () => {
  using rig = makeRig();
  let time = 1_000;
  const { store } = await rig.open({ powers: { ...wikiStorePowers(), now: () => time } });
  store.notes.add(note("fleeting-words-of-carol", { expiresAt: 2_000 }));
  store.notes.add(note("lasting"));
  time = 2_000;
  assert.deepEqual(store.notes.list({ clearance: "secret" }).map(({ text }) => text), ["lasting"]);
  assert.equal(store.notes.sweep(), 1);
  assert.equal(store.notes.sweep(), 0);
  for (const { name } of Deno.readDirSync(rig.stateFolder)) {
    const bytes = Deno.readTextFileSync(`${rig.stateFolder}/${name}`);
    assert.equal(bytes.includes("fleeting-words"), false, name);
  }
  store.close();
});
