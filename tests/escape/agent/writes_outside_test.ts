/** An agent of others writes past its copy, and what runs later: mallory's hook would run as alice. */
import assert from "node:assert/strict";
import { addForeign, handOver, startProvider } from "../../fake/foreign_agent.ts";
import { onMachine } from "../../fake/remit.ts";
import { alicesPlans } from "../../fake/scenes.ts";

Deno.test("an agent of others reads no key of alice's, writes nothing outside its copy, and no hook or pipeline unseen", async () => {
  await using provider = startProvider();
  await onMachine(async (machine) => {
    await alicesPlans(machine);
    await addForeign(machine, provider);
    const home = machine.env["HOME"] ?? "";
    await Deno.mkdir(`${home}/.ssh`);
    await Deno.writeTextFile(`${home}/.ssh/id_rsa`, "alice's own key\n");
    const run = await handOver(machine, [
      `read ${home}/.ssh/id_rsa`,
      `read ${machine.state}/person/secrets.json`,
      `write ${home}/.bashrc mallory`,
      "write /etc/profile.d/mallory.sh mallory",
      "write .git/hooks/post-checkout mallory",
      "write .github/workflows/ci.yml mallory",
      'write package.json {"scripts":{"postinstall":"mallory"}}',
    ]);
    assert.ok(!run.output.includes("alice's own key"), run.output);
    await assert.rejects(Deno.stat(`${home}/.bashrc`), Deno.errors.NotFound);
    // Nothing is in her folder before she allows it; what would run later is named.
    for (const path of [".git", ".github", "package.json"]) {
      await assert.rejects(Deno.stat(`${machine.dir}/plans/${path}`), Deno.errors.NotFound);
    }
    const [question] = await machine.json(["questions"]) as readonly {
      kind: string;
      executes: readonly string[];
    }[];
    assert.equal(question?.kind, "stepUp");
    assert.deepEqual(question?.executes, ["plans/.github/workflows/ci.yml", "plans/package.json"]);
  });
});
