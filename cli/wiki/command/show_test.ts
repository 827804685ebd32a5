import assert from "node:assert/strict";
import { D, rig } from "../_fixture/rig.ts";

Deno.test("show reads a long file in pieces that the process allows, and in any span", async () => {
  const lines = Array.from({ length: 12_345 }, (_, n) => `line ${n + 1}`);
  const at = await rig({
    ops: {
      read(given) {
        const { from, lines: count } = given as { from: number; lines: number };
        assert.ok(count <= 10_000);
        // As the process does: whole lines, at most 64 KiB of them.
        const some = lines.slice(from - 1, from - 1 + Math.min(count, 4_000));
        return {
          ...{ file: "raw/a.md", from, to: from + some.length - 1, of: lines.length },
          ...{ text: some.join("\n"), digest: D, colour: "YELLOW", label: "internal" },
        };
      },
    },
  });
  assert.equal(await at.run("show", "raw/a.md"), 0);
  assert.equal(at.out(), `${lines.join("\n")}\n`);
  assert.equal(await at.run("show", "w/raw/a.md", "--lines", "5000-5001", "--json"), 0);
  assert.equal(JSON.parse(at.powers.screen.outs.at(-1) ?? "").text, "line 5000\nline 5001");
  assert.equal(await at.run("show", "raw/a.md", "--lines", "5-2"), 2);
});
