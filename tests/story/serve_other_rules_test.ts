/** alice's machine goes down during a task, she changes her rules, and starts her service: it says what waits for her. */
import assert from "node:assert/strict";
import { type Machine, onMachine } from "../fake/remit.ts";
import { kill9 } from "../fake/processes.ts";
import { alicesPlans, playing } from "../fake/scenes.ts";
import { configure, startService } from "../fake/service.ts";
import { openTerminal } from "../fake/terminal.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { needs } from "../needs.ts";

/** A model that says nothing more as long as the test goes on. */
const STANDS_STILL = `
scenario: stands still
turns:
  - calls: [{ tool: file_read, args: { path: plans/trip.txt } }]
  - say: Much later.
    stream: { firstMs: 110000 }
`;

async function kernelOf(machine: Machine): Promise<number | undefined> {
  for (const pid of await machine.processes()) {
    const line = await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => "");
    if (line.includes("kernel.js")) return pid;
  }
  return undefined;
}

Deno.test("a service says at its start which tasks wait because the rules have changed, and what to do", async () => {
  if (!needs("script")) return;
  await onMachine(async (alice) => {
    const words = [...await alicesPlans(alice), ...await playing(alice, STANDS_STILL)];
    const place = { env: alice.env, cwd: alice.dir };
    const run = openTerminal(alice.command(["run", "-p", "When do I leave", ...words]), place);
    await run.shows("✓ file_read");
    kill9(await waitUntil("a kernel", () => kernelOf(alice)));
    await run.ended();
    const task = /Cannot follow task "?(t[0-9a-z]{12})/.exec(run.screen())?.[1] ?? "";
    await run.close();

    await configure(
      alice,
      `model: scripted:${alice.dir}/model.yaml\nrules:\n  - { tool: outbox_publish, mode: forbidden }\n`,
    );
    const service = await startService(alice);
    assert.deepEqual(service.told["left"], [task]);
    await waitUntil("its words", () => service.said().includes(`resume ${task}`) || undefined);
    assert.match(service.said(), /waits {2}1 unfinished task: the rules have changed since/);
    const shown = await alice.remit(["task", "show", task]);
    assert.match(shown.stdout, /^reason +it began under other rules: "remit resume t\w+" goes on/m);
    service.kill("SIGTERM");
    assert.equal(await service.ended, 0, service.said());

    assert.equal((await alice.remit(["stop"])).code, 0);
    assert.equal((await alice.remit(["task", "cancel", task])).code, 0);
    const next = await startService(alice);
    assert.deepEqual(next.told["left"], [], "nothing waits any more");
    assert.doesNotMatch(next.said(), /unfinished/);
    next.kill("SIGTERM");
    assert.equal(await next.ended, 0, next.said());
  });
});
