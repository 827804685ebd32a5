import assert from "node:assert/strict";
import { join } from "node:path";
import { D, NOW, PAGE, PATCH, rig } from "../_fixture/rig.ts";
import { pageNameOf } from "../command.ts";

Deno.test("a page is named by its name, its path, a link or its title, and never by another path", () => {
  for (const text of ["note-42", "pages/note-42.md", "[[note-42|x]]", "Note 42", "[[Note 42]]"]) {
    assert.equal(pageNameOf(text), "note-42", text);
  }
  assert.throws(() => pageNameOf("../etc/passwd"), /as the name of a page/);
});

Deno.test("an edit that meets another's change is told, and what was typed is kept", async () => {
  const at = await rig({
    env: { EDITOR: "ed" },
    edit(file) {
      Deno.writeTextFileSync(file, "mine\n");
      return 0;
    },
    ops: {
      page: () => ({ page: PAGE, history: [], backlinks: [] }),
      read: () => ({
        ...{ file: "pages/lease.md", from: 1, to: 1, of: 1, text: "theirs", digest: D },
        ...{ colour: "RED", label: "secret", version: 3 },
      }),
      edit: () => ({
        ...PATCH,
        state: "conflict",
        conflicts: [{ page: "lease", expected: 3, found: 4, by: "task:t9", why: "version" }],
      }),
    },
  });
  assert.equal(await at.run("edit", "lease"), 1);
  assert.deepEqual(at.asked("edit"), [{ name: "lease", text: "mine\n", base: 3, by: "alice" }]);
  assert.match(at.said(), /conflict lease: task:t9 changed it meanwhile/);
  const kept = /kept in (.*\.md)/.exec(at.said())?.[1] ?? "";
  assert.equal(Deno.readTextFileSync(join(at.powers.environment.cwd, kept)), "mine\n");
});

Deno.test("an edit that was taken says the page and the version that it made", async () => {
  const made = { version: 4, digest: D, author: "alice", at: NOW, patch: PATCH.id };
  const trust = { colour: "RED", label: "secret", deleted: false };
  const at = await rig({
    env: { EDITOR: "ed" },
    edit(file) {
      Deno.writeTextFileSync(file, "mine\n");
      return 0;
    },
    ops: {
      // Somebody else wrote version 5 meanwhile.
      page: () => ({
        page: { ...PAGE, version: 5 },
        history: [{ ...made, ...trust }, {
          ...{ ...made, ...trust },
          version: 5,
          patch: "w000000000009",
        }],
        backlinks: [],
      }),
      read: () => ({
        ...{ file: "pages/lease.md", from: 1, to: 1, of: 1, text: "theirs", digest: D },
        ...{ colour: "RED", label: "secret", version: 3 },
      }),
      edit: () => ({ ...PATCH, state: "applied" }),
    },
  });
  assert.equal(await at.run("edit", "lease"), 0);
  assert.match(at.said(), /lease is version 4 now \(w000000000001\)/);
  assert.equal(await at.run("edit", "lease", "--json"), 0);
  assert.equal(JSON.parse(at.out()).version, 4);
});
