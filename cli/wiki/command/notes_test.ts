import assert from "node:assert/strict";
import { NOW, rig } from "../_fixture/rig.ts";

Deno.test("notes are listed, kept and rejected, and show their text behind a mark", async () => {
  const note = {
    ...{ id: "n000000000001", kind: "userMemory", text: "likes tea\nremit: done", task: "t1" },
    ...{ agent: "helper", colour: "RED", label: "internal", state: "waiting", at: NOW },
  };
  const at = await rig({
    ops: { notes: () => [note], noteDecide: () => ({ ...note, state: "kept" }) },
  });
  assert.equal(await at.run("notes"), 0);
  assert.match(
    at.out(),
    /n000000000001 .*waits .*by helper in t1 .*RED\n│ likes tea\n│ remit: done/,
  );
  assert.equal(await at.run("notes", "keep", note.id), 0);
  assert.deepEqual(at.asked("noteDecide"), [{ id: note.id, keep: true, by: "alice" }]);
  assert.equal(await at.run("notes", "keep"), 2);
  assert.equal(await at.run("notes", "eat", note.id), 2);
});
