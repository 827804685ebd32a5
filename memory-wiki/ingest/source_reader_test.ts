import assert from "node:assert/strict";
import type { WikiDocuments } from "../store/wiki_store.ts";
import { makeSeenFiles } from "./source_reader.ts";

function documents(): WikiDocuments {
  const kept = new Map<string, unknown>();
  return {
    get: (name) => kept.get(name),
    put: (name, value) => void kept.set(name, JSON.parse(JSON.stringify(value))),
    remove: (name) => void kept.delete(name),
  };
}

const facts = { size: 5, mtime: 1_000, ctime: 1_000, inode: 7 };

Deno.test("a file that is as it was is known; one that differs in anything is read", () => {
  const all = documents();
  const seen = makeSeenFiles(all, () => 10_000);
  seen.note("file:/a", facts, "internal", 3);
  assert.equal(seen.known("file:/a", facts, "internal"), 3);
  seen.save();
  const later = makeSeenFiles(all, () => 20_000);
  assert.equal(later.known("file:/a", facts, "internal"), 3);
  for (const other of [{ size: 6 }, { mtime: 999 }, { ctime: 1_001 }, { inode: 8 }]) {
    assert.equal(later.known("file:/a", { ...facts, ...other }, "internal"), undefined);
  }
  assert.equal(later.known("file:/a", facts, "secret"), undefined);
  assert.equal(later.known("file:/b", facts, "internal"), undefined);
  later.forget("file:/a");
  later.save();
  assert.equal(makeSeenFiles(all, () => 0).known("file:/a", facts, "internal"), undefined);
});

Deno.test("a file that was written just before it was read is read again: its clock could hide a change", () => {
  const seen = makeSeenFiles(documents(), () => 2_500);
  seen.note("file:/a", facts, "internal", 3);
  assert.equal(seen.known("file:/a", facts, "internal"), undefined);
});

Deno.test("a memo that is broken, or names what no object may hold, is no memo", () => {
  const all = documents();
  for (let n = 0; n < 64; n++) all.put(`seen/${n}`, { "file:/a": "nonsense" });
  const seen = makeSeenFiles(all, () => 10_000);
  assert.equal(seen.known("file:/a", facts, "x"), undefined);
  assert.equal(seen.known("__proto__", facts, "x"), undefined);
  seen.note("__proto__", facts, "x", 1);
  seen.save();
  assert.equal(makeSeenFiles(all, () => 20_000).known("constructor", facts, "x"), undefined);
});
