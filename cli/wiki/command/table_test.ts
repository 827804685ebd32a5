import assert from "node:assert/strict";
import { fakePowers, runCommandLine } from "../../_fixture/world.ts";

Deno.test("remit wiki says what there is, and --help of it is help", async () => {
  const bare = fakePowers();
  assert.equal(await runCommandLine(["wiki"], bare), 2);
  assert.match(bare.screen.lines.join("\n"), /say which: init, ingest[\s\S]*wiki query QUESTION/);
  const help = fakePowers();
  assert.equal(await runCommandLine(["wiki", "--help"], help), 0);
  assert.match(
    help.screen.outs.join(""),
    /^remit wiki COMMAND\n[\s\S]*wiki ingest PATH\|URL\|-\.\.\. /,
  );
  for (const asked of [["model", "-h"], ["--help", "wiki"], ["wiki", "--help", "--json"]]) {
    const other = fakePowers();
    assert.equal(await runCommandLine(asked, other), 0, asked.join(" "));
    assert.match(other.screen.outs.join(""), /^remit (?:model|wiki) COMMAND\n/);
    assert.deepEqual(other.screen.lines, []);
  }
  assert.equal(await runCommandLine(["nonsense", "--help"], help), 2);
});
