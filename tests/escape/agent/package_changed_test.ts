/** An agent's package is changed after alice added it: mallory's code would run with her key at its relay. */
import assert from "node:assert/strict";
import { EXIT } from "../../../contracts/base/mod.ts";
import { addForeign, startProvider } from "../../fake/foreign_agent.ts";
import { onMachine } from "../../fake/remit.ts";
import { alicesPlans } from "../../fake/scenes.ts";

Deno.test("a package that is not the one that was added is not run: not with the same size and time, nor with a file more", async () => {
  await using provider = startProvider();
  await onMachine(async (machine) => {
    const mount = await alicesPlans(machine);
    await addForeign(machine, provider);
    const run = () => machine.remit(["run", "--agent", "fake", "-p", "cwd", ...mount]);
    const first = await run();
    assert.equal(first.code, 0, first.stderr);
    const file = `${machine.dir}/../agent/agent.js`;
    const before = await Deno.readTextFile(file), { mtime } = await Deno.stat(file);
    await Deno.writeTextFile(file, before.replace("of-the-agent", "of-mallory!!"));
    await Deno.utime(file, mtime ?? 0, mtime ?? 0);
    const refused = await run();
    assert.equal(refused.code, EXIT.refused, refused.stderr);
    assert.match(
      refused.stderr,
      /what lies in ".*" is not what was added .*"remit agent add" again/,
    );
    assert.equal(provider.asked.length, 0);
    await Deno.writeTextFile(file, before);
    assert.equal((await run()).code, 0, "the same contents are the same package");
    await Deno.writeTextFile(`${machine.dir}/../agent/preload.js`, "mallory");
    assert.equal((await run()).code, EXIT.refused);
    // She has looked, and adds it again.
    await addForeign(machine, provider);
    assert.equal((await run()).code, 0);
    const shown = await machine.remit(["agent", "show", "fake"]);
    assert.match(shown.stdout, /pinned +a folder: 2 files, 1 MB, sha256 [0-9a-f]{16}…/);
  });
});
